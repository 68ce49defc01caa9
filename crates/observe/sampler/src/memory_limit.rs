//! Memory that this process may use: the machine's, and the limits of its control groups.

use std::path::Path;

use model::Bytes;

use crate::control_group::CgroupDir;
use crate::kernel_file::{read, value_of};

/// Limits from this on are none: version 1 reports nearly 2^63 bytes where no limit is set.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Returns the memory that this process may use of a machine's `total`.
///
/// The tightest limit of its control group, and of the groups that enclose it, binds.
pub(crate) fn usable_memory(total: Bytes) -> Bytes {
    let group = CgroupDir::of_process(std::process::id());
    group.and_then(|group| binding_limit(&group.dir)).map_or(total, |limit| total.min(limit))
}

/// Returns the tightest limit of a control group and of the groups that enclose it.
pub(crate) fn binding_limit(group: &Path) -> Option<Bytes> {
    let of_group = |dir: &Path| memory_limit(|file| read(dir.join(file)));
    group.ancestors().filter_map(of_group).min()
}

/// Returns the memory limit that binds a control group in either version; `None` without one.
///
/// `read` returns the text of a file of the group. Version 1 states the limits of enclosing groups
/// too, which a container does not show. Above `memory.high` version 2 throttles and reclaims.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst (`memory.max`, `memory.high`) and
/// Documentation/admin-guide/cgroup-v1/memory.rst (`hierarchical_memory_limit`).
pub fn memory_limit(read: impl Fn(&str) -> Option<String>) -> Option<Bytes> {
    let number = |file: &str| read(file)?.trim().parse().ok();
    let files = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    let enclosing = read("memory.stat").and_then(|it| value_of(&it, "hierarchical_memory_limit"));
    let limits = files.into_iter().filter_map(number).chain(enclosing);
    limits.filter(|bytes| *bytes < UNLIMITED_BYTES).min().map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_of_either_version_binds() {
        let of = |files: &[(&str, &str)]| {
            let file = |name: &str| files.iter().find(|(known, _)| *known == name);
            memory_limit(|name| file(name).map(|(_, text)| (*text).to_owned()))
        };
        assert_eq!(of(&[("memory.max", "536870912\n")]), Some(Bytes(512 << 20)));
        assert_eq!(of(&[("memory.max", "max\n"), ("memory.high", "4096\n")]), Some(Bytes(4096)));
        assert_eq!(of(&[("memory.max", "max\n"), ("memory.high", "max\n")]), None);
        let version_1 =
            |stat| of(&[("memory.limit_in_bytes", "536870912\n"), ("memory.stat", stat)]);
        assert_eq!(version_1("cache 0\n"), Some(Bytes(512 << 20)));
        let outer = "cache 0\nhierarchical_memory_limit 268435456\n";
        assert_eq!(version_1(outer), Some(Bytes(256 << 20)));
        assert_eq!(of(&[("memory.limit_in_bytes", "9223372036854771712\n")]), None);
        assert_eq!((of(&[]), of(&[("memory.max", "")])), (None, None));
    }
}
