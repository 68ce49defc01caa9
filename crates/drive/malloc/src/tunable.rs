//! Environment variables that tune an allocator.

use model::Allocator;

/// Variables of the environment, by name.
pub type Tunables = Vec<(String, String)>;

/// Prefixes of the variables that each allocator reads.
///
/// Source: mallopt(3) and the GNU C Library's manual, "Memory Allocation Tunables"; jemalloc(3),
/// "TUNING"; gperftools, `docs/tcmalloc.html`, "Modifying Runtime Behavior"; mimalloc, readme,
/// "Environment Options".
const READ_BY: &[(&str, Allocator)] = &[
    ("GLIBC_TUNABLES", Allocator::System),
    ("MALLOC_ARENA_", Allocator::System),
    ("MALLOC_MMAP_", Allocator::System),
    ("MALLOC_TOP_PAD_", Allocator::System),
    ("MALLOC_TRIM_", Allocator::System),
    ("MALLOC_CHECK_", Allocator::System),
    ("MALLOC_PERTURB_", Allocator::System),
    ("MALLOC_CONF", Allocator::Jemalloc),
    ("TCMALLOC_", Allocator::Tcmalloc),
    ("MIMALLOC_", Allocator::Mimalloc),
];

/// Returns whether a variable of the environment tunes an allocator.
pub fn is_tunable(variable: &str) -> bool {
    READ_BY.iter().any(|(start, _)| variable.starts_with(start))
}

/// Returns those of the variables that tune this allocator.
pub(crate) fn own(tunables: &Tunables, allocator: Allocator) -> Tunables {
    let is_own = |name: &str| {
        READ_BY.iter().any(|(start, reader)| *reader == allocator && name.starts_with(start))
    };
    tunables.iter().filter(|(name, _)| is_own(name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_allocator_has_its_own_variables() {
        let names = ["MALLOC_CONF", "MALLOC_ARENA_MAX", "MIMALLOC_VERBOSE", "HOME"];
        let all: Tunables = names.map(|name| (name.to_owned(), "1".to_owned())).into();
        let names = |allocator| own(&all, allocator).into_iter().map(|(name, _)| name);
        assert!(names(Allocator::Jemalloc).eq(["MALLOC_CONF"]));
        assert!(names(Allocator::System).eq(["MALLOC_ARENA_MAX"]));
        assert!(names(Allocator::Tcmalloc).next().is_none());
        assert!(is_tunable("MIMALLOC_VERBOSE") && !is_tunable("HOME"));
    }
}
