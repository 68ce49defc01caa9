//! Shared memory that outlives killed processes.
//!
//! Postgres has some in named files and System V segments, which only a clean stop removes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use child::Role;

use crate::process::ProcessIdentity;

/// Where named shared memory lies. Source: shm_overview(7).
const DIR: &str = "/dev/shm";

/// Returns the named shared memory that processes have mapped, or opened to map it.
pub(crate) fn mapped_by(processes: &[ProcessIdentity]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for process in processes {
        let files = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten();
        let opened = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
        found.extend(opened.filter(|path| path.parent() == Some(Path::new(DIR)) && path.exists()));
        let maps = child::process_file(process.pid, "maps").unwrap_or_default();
        found.extend(named_in(&maps));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Parses the named shared memory in `/proc/PID/maps`, without deleted files.
fn named_in(maps: &str) -> impl Iterator<Item = PathBuf> {
    maps.lines().filter_map(|line| {
        let start = line.find(DIR)?;
        let path = Path::new(&line[start..]);
        (path.parent() == Some(Path::new(DIR)) && !line.ends_with(" (deleted)"))
            .then(|| path.to_owned())
    })
}

/// Returns all named shared memory of the user `uid`.
pub(crate) fn owned_by(uid: u32) -> Vec<PathBuf> {
    let paths = fs::read_dir(DIR).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == uid)).collect()
}

/// Removes named shared memory that belongs to the user `uid`.
pub(crate) fn remove_named(paths: &[PathBuf], uid: u32) {
    for path in paths {
        let is_its = path.parent() == Some(Path::new(DIR))
            && fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == uid && meta.is_file());
        if is_its {
            fs::remove_file(path).ok();
        }
    }
}

/// Removes the unused System V segments of processes that have ended, or all of the user `uid`.
pub(crate) fn remove_segments(creators: Option<&[ProcessIdentity]>, uid: u32) {
    // A running process with the id may be another one.
    let has_ended = |pid: u32| ProcessIdentity::of(pid).is_none();
    let is_its = |pid: u32| {
        creators.is_none_or(|all| all.iter().any(|one| one.pid == pid) && has_ended(pid))
    };
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    for id in segments(&table, uid, is_its) {
        let mut command = child::command(Role::Program, "ipcrm");
        command.args(["-m", &id.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        // A segment of a few bytes may stay on failure.
        drop(command.status());
    }
}

/// Returns the unused segments of an owner, by their creators, in the text of `/proc/sysvipc/shm`.
///
/// Source: proc(5), `/proc/sysvipc`; Linux, `sysvipc_shm_proc_show` in ipc/shm.c.
fn segments(table: &str, uid: u32, is_creator: impl Fn(u32) -> bool) -> Vec<u64> {
    let segment = |line: &str| {
        let fields: Vec<u64> =
            line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
        let [_, id, _, _, made_by, _, used_by, owner, ..] = fields[..] else { return None };
        let is_unused = used_by == 0 && owner == u64::from(uid);
        (is_unused && is_creator(u32::try_from(made_by).ok()?)).then_some(id)
    };
    // The key is printed signed.
    table.lines().filter_map(|line| segment(line.trim_start().trim_start_matches('-'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_memory_is_found_among_mapped_files() {
        let maps = "7f0-7f1 rw-s 00000000 00:1a 17 /dev/shm/PostgreSQL.17\n\
                    7f1-7f2 rw-s 00000000 00:1a 18 /dev/shm/PostgreSQL.18 (deleted)\n\
                    7f2-7f3 rw-s 00000000 00:01 19 /dev/zero (deleted)\n";
        let found: Vec<_> = named_in(maps).collect();
        assert_eq!(found, [Path::new("/dev/shm/PostgreSQL.17")]);
    }

    #[test]
    fn segments_are_matched_by_creator_owner_and_use() {
        let table = "key shmid perms size cpid lpid nattch uid gid\n\
                     10205097 131073 600 56 31832 31840 0 65534 65534\n\
                     -10205098 131074 600 56 31832 31840 0 65534 65534\n\
                     10205099 131075 600 56 31832 31840 6 65534 65534\n\
                     10205100 131076 600 56 31832 31840 0 1000 1000\n";
        assert_eq!(segments(table, 65_534, |pid| pid == 31_832), [131_073, 131_074]);
        assert_eq!(segments(table, 65_534, |pid| pid == 1), [] as [u64; 0]);
        assert_eq!(segments(table, 1_000, |_| true), [131_076]);
    }
}
