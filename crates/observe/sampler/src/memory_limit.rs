//! Memory that this process may use: the machine's, and the limits of its control groups.

use std::path::{Path, PathBuf};

use model::Bytes;

use crate::control_group::{CgroupDir, own_groups};
use crate::kernel_file::{bytes_of, read, read_of_process, value_of};

/// Limits from this on are none: version 1 reports nearly 2^63 bytes where no limit is set.
const UNLIMITED_BYTES: u64 = 1 << 60;
/// Steps of a limit in which memory that others hold counts. Our choice: sizes must not follow
/// every page, and less than a step is what any container holds.
const STEPS: u64 = 16;
/// Memory of a group that the kernel takes back before it kills: files and its own caches.
///
/// Version 1 has the sum of a group and those below it with the prefix `total_`. Source: Linux,
/// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst (`memory.stat`).
const RECLAIMABLE: [&str; 3] = ["inactive_file", "active_file", "slab_reclaimable"];

/// Returns the memory that this process may use of a machine's `total`.
///
/// The tightest limit of its control group, and of the groups that enclose it, binds.
pub(crate) fn usable_memory(total: Bytes) -> Bytes {
    let group = CgroupDir::of_process(std::process::id());
    let limit = group.and_then(|group| tightest_limit(&group.dir));
    limit.map_or(total, |limit| total.min(limit.bytes))
}

/// Returns what a run may take of so much memory: other processes hold a part of the group's.
pub fn free_memory(total: Bytes) -> Bytes {
    least_memory().map_or(total, |limit| total.min(limit.free()))
}

/// Returns the limit of this process's control groups that leaves the least memory to a run.
pub(crate) fn least_memory() -> Option<GroupLimit> {
    let own = read_of_process(std::process::id(), "status");
    let own = own.and_then(|text| bytes_of(&text, "RssAnon")).unwrap_or(0);
    least_of(&own_groups("memory").ok()?, own)
}

/// Returns the limit that leaves the least; this process holds `own` bytes in each group.
fn least_of(groups: &[PathBuf], own: u64) -> Option<GroupLimit> {
    let limits = groups.iter().filter_map(|dir| {
        let limit = of_group(dir)?;
        let held = held_memory(|file| read(dir.join(file))).unwrap_or(0);
        Some(GroupLimit { held: Bytes(held.saturating_sub(own)), ..limit })
    });
    limits.reduce(|inner, outer| if outer.free() <= inner.free() { outer } else { inner })
}

/// Returns the memory of a group that the kernel cannot take back; `read` as of [`memory_limit`].
fn held_memory(read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = read("memory.stat")?;
    let of = |key| value_of(&stat, &format!("total_{key}")).or_else(|| value_of(&stat, key));
    let reclaimable: u64 = RECLAIMABLE.into_iter().filter_map(of).sum();
    // Version 1 counts its caches with all memory of the kernel.
    let kernel = number("memory.kmem.usage_in_bytes").unwrap_or(0);
    Some(used.saturating_sub(reclaimable + kernel))
}

/// A memory limit, the control group that has it, and what other processes hold of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupLimit {
    pub(crate) bytes: Bytes,
    /// Memory in the group that other processes hold, and the kernel cannot take back.
    pub(crate) held: Bytes,
    pub(crate) dir: PathBuf,
}

impl GroupLimit {
    /// Returns what the group leaves to a run, in steps of a sixteenth of the limit.
    pub(crate) fn free(&self) -> Bytes {
        let step = (self.bytes.0 / STEPS).max(1);
        let held = if self.held.0 < step { 0 } else { self.held.0.next_multiple_of(step) };
        Bytes(self.bytes.0.saturating_sub(held))
    }
}

impl std::fmt::Display for GroupLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, held, dir } = self;
        write!(f, "the control group {} allows {bytes}", dir.display())?;
        match self.free() {
            free if free < *bytes => write!(f, ", of which other processes hold {held}"),
            _ => Ok(()),
        }
    }
}

/// Returns the tightest limit of a control group and of the groups that enclose it.
///
/// Version 1 states the limit of an enclosing group in those below it: the outermost one has it.
pub(crate) fn tightest_limit(group: &Path) -> Option<GroupLimit> {
    let limits = group.ancestors().filter_map(of_group);
    limits.reduce(|inner, outer| if outer.bytes <= inner.bytes { outer } else { inner })
}

fn of_group(dir: &Path) -> Option<GroupLimit> {
    let bytes = memory_limit(|file| read(dir.join(file)))?;
    Some(GroupLimit { bytes, held: Bytes(0), dir: dir.to_owned() })
}

/// Describes the limits of control groups by which `plan` chose sizes, or which are unknown.
pub fn limit_notes() -> Vec<String> {
    let held = least_memory().filter(|limit| limit.free() < limit.bytes);
    let held = held.map(|limit| format!("{limit}: Assay chooses sizes for the free memory"));
    let unknown = |controller| own_groups(controller).err();
    held.into_iter().chain(["memory", "cpu", "pids"].into_iter().find_map(unknown)).collect()
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
        let found = GroupLimit { bytes: Bytes(4096), held: Bytes(0), dir: outer };
        assert_eq!(tightest_limit(&inner), Some(found));
        limit(&inner, "memory.limit_in_bytes", "2048\n");
        assert_eq!(tightest_limit(&inner).unwrap().dir, inner);
    }

    /// Goal: sizes follow what is free in the fullest group, in both versions.
    /// Method: groups made of files: other processes hold 400 MiB of the outer one's 512 MiB.
    #[test]
    fn memory_that_others_hold_is_not_free() {
        let mib = |count: u64| (count << 20).to_string();
        let versions = [
            (["memory.max", "memory.current"], ["inactive_file", "active_file"]),
            (
                ["memory.limit_in_bytes", "memory.usage_in_bytes"],
                ["total_inactive_file", "total_active_file"],
            ),
        ];
        for ([limit, usage], [inactive, active]) in versions {
            let root = tempfile::tempdir().unwrap();
            let (outer, inner) = (root.path().join("a"), root.path().join("a/b"));
            std::fs::create_dir_all(&inner).unwrap();
            let write = |dir: &Path, file: &str, text: &str| {
                std::fs::write(dir.join(file), text).unwrap();
            };
            let files = |dir: &Path, sizes: [u64; 3]| {
                let [allowed, used, cached] = sizes;
                write(dir, limit, &mib(allowed));
                write(dir, usage, &mib(used));
                let stat = format!(
                    "{inactive} {}\n{active} {}\nslab_reclaimable 0\n",
                    mib(cached),
                    mib(7)
                );
                write(dir, "memory.stat", &stat);
            };
            files(&inner, [256, 30, 20]);
            files(&outer, [512, 510, 100]);
            let found = least_of(&[inner.clone(), outer.clone()], 3 << 20).unwrap();
            assert_eq!((&found.dir, found.held), (&outer, Bytes(400 << 20)));
            assert_eq!(found.free(), Bytes(96 << 20), "in steps of 32 MiB");
            assert!(
                found
                    .to_string()
                    .ends_with("allows 512 MiB, of which other processes hold 400 MiB")
            );
            let alone = least_of(std::slice::from_ref(&inner), 0).unwrap();
            assert_eq!((alone.held, alone.free()), (Bytes(3 << 20), Bytes(256 << 20)));
            assert!(alone.to_string().ends_with("allows 256 MiB"), "{alone}");
        }
        assert_eq!(held_memory(|_| None), None);
    }
}
