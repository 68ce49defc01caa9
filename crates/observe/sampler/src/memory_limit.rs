//! Memory that this process may use: the machine's, and the limits of its control groups.

use std::path::{Path, PathBuf};

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
    let limit = group.and_then(|group| tightest_limit(&group.dir));
    limit.map_or(total, |limit| total.min(limit.bytes))
}

/// A memory limit, and the control group that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupLimit {
    pub(crate) bytes: Bytes,
    pub(crate) dir: PathBuf,
}

/// Returns the tightest limit of a control group and of the groups that enclose it.
///
/// Version 1 states the limit of an enclosing group in those below it: the outermost one has it.
pub(crate) fn tightest_limit(group: &Path) -> Option<GroupLimit> {
    let of_group = |dir: &Path| {
        let bytes = memory_limit(|file| read(dir.join(file)))?;
        Some(GroupLimit { bytes, dir: dir.to_owned() })
    };
    let limits = group.ancestors().filter_map(of_group);
    limits.reduce(|inner, outer| if outer.bytes <= inner.bytes { outer } else { inner })
}

/// Describes the out-of-memory kills in a control group, and the limit that binds it.
pub fn oom_evidence(group: &CgroupDir) -> String {
    let kills = group.oom_kills().unwrap_or_default();
    let limit = tightest_limit(&group.dir).map_or_else(String::new, |limit| {
        format!(", and {} allows {}", limit.dir.display(), limit.bytes)
    });
    format!("`oom_kill` of {} is {kills}{limit}", group.kills_file().display())
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

    #[test]
    fn the_limit_is_that_of_the_outermost_group_that_has_it() {
        let root = tempfile::tempdir().unwrap();
        let (outer, inner) = (root.path().join("a"), root.path().join("a/b"));
        std::fs::create_dir_all(&inner).unwrap();
        let limit = |dir: &Path, file, text| std::fs::write(dir.join(file), text).unwrap();
        limit(&inner, "memory.stat", "hierarchical_memory_limit 4096\n");
        limit(&outer, "memory.limit_in_bytes", "4096\n");
        let found = GroupLimit { bytes: Bytes(4096), dir: outer };
        assert_eq!(tightest_limit(&inner), Some(found));
        limit(&inner, "memory.limit_in_bytes", "2048\n");
        assert_eq!(tightest_limit(&inner).unwrap().dir, inner);
    }
}
