//! Process identities: process id and start time, safe against id reuse.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// Length of one wait for a process, in milliseconds; limits are counted in waits.
pub(crate) const WAIT_MS: u64 = 10;

/// Waits for the end of a killed process: it may be writing a large buffer.
const KILLED_WAITS: u64 = 1_000;

/// A process, by id and start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: u32,
    /// Start time, clock ticks since boot.
    pub(crate) started: u64,
}

impl ProcessIdentity {
    /// Returns the process that has this id now; `None` when it has ended.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = Stat::of(pid)?;
        (!stat.has_ended).then_some(Self { pid, started: stat.started })
    }

    pub(crate) fn own() -> Self {
        Self::of(std::process::id()).unwrap_or(Self { pid: std::process::id(), started: 0 })
    }

    /// Returns whether it still runs.
    pub(crate) fn is_alive(&self) -> bool {
        Self::of(self.pid).is_some_and(|now| now == *self)
    }

    /// Returns a pidfd of this process, never of a later one with its id.
    fn handle(&self) -> Option<OwnedFd> {
        let pid = Pid::from_raw(i32::try_from(self.pid).ok()?)?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Checked after the handle was made: then the handle is of the process checked.
        self.is_alive().then_some(handle)
    }

    /// Sends a signal; a process that has ended gets none.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(handle) = self.handle() {
            // It fails when the process has ended, which is as well.
            pidfd_send_signal(handle, signal).ok();
        }
    }

    /// Waits for its end, at most `waits` times or until `is_cancelled`; returns whether it ended.
    pub(crate) fn wait(&self, waits: u64, mut is_cancelled: impl FnMut() -> bool) -> bool {
        for _ in 0..waits {
            let Some(handle) = self.handle() else { return true };
            pause(&handle);
            if is_cancelled() {
                break;
            }
        }
        !self.is_alive()
    }
}

/// Waits a moment, less when the process of `handle` ends.
fn pause(handle: &OwnedFd) {
    #[expect(clippy::cast_possible_wrap, reason = "a constant of a few milliseconds")]
    let wait = Timespec { tv_sec: 0, tv_nsec: (WAIT_MS * 1_000_000) as i64 };
    // A signal may shorten the wait.
    poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&wait)).ok();
}

/// Kills processes and waits for their ends.
pub(crate) fn kill_all(processes: &[ProcessIdentity]) {
    for process in processes {
        process.signal(Signal::KILL);
    }
    for process in processes {
        process.wait(KILLED_WAITS, || false);
    }
}

/// Returns the descendants of a process, itself excluded.
pub(crate) fn descendants(ancestor: u32) -> Vec<ProcessIdentity> {
    let mut children: BTreeMap<u32, Vec<ProcessIdentity>> = BTreeMap::new();
    for (pid, stat) in all_processes() {
        let process = ProcessIdentity { pid, started: stat.started };
        children.entry(stat.parent).or_default().push(process);
    }
    let mut found = children.remove(&ancestor).unwrap_or_default();
    let mut at = 0;
    while let Some(process) = found.get(at) {
        found.extend(children.remove(&process.pid).unwrap_or_default());
        at += 1;
    }
    found
}

/// Returns the processes of a user whose working directory is `dir` or below it, except this one.
///
/// Of that user alone: an administrator's shell in the directory is none of ours.
pub(crate) fn working_in(dir: &Path, uid: u32) -> Vec<ProcessIdentity> {
    let own = std::process::id();
    let is_there = |pid: u32| {
        let process = PathBuf::from(format!("/proc/{pid}"));
        pid != own
            && fs::metadata(&process).is_ok_and(|facts| facts.uid() == uid)
            && fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
    };
    all_processes()
        .filter(|(pid, _)| is_there(*pid))
        .map(|(pid, stat)| ProcessIdentity { pid, started: stat.started })
        .collect()
}

/// Returns the processes of a control group.
pub(crate) fn in_cgroup(dir: &Path) -> Vec<ProcessIdentity> {
    let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| ProcessIdentity::of(line.trim().parse().ok()?)).collect()
}

/// Returns the boot id; processes of another boot are gone.
pub(crate) fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// Returns every process that has not ended.
fn all_processes() -> impl Iterator<Item = (u32, Stat)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = Stat::of(pid)?;
        (!stat.has_ended).then_some((pid, stat))
    })
}

/// The fields used of `/proc/PID/stat`.
struct Stat {
    has_ended: bool,
    parent: u32,
    started: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        Self::parse(&child::process_file(pid, "stat")?)
    }

    /// Source: proc(5), `/proc/PID/stat`, fields 3, 4 and 22; the second may hold anything.
    fn parse(text: &str) -> Option<Self> {
        let (_, after_name) = text.rsplit_once(')')?;
        let mut fields = after_name.split_ascii_whitespace();
        let has_ended = matches!(fields.next()?, "Z" | "X" | "x");
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { has_ended, parent, started })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn stat_fields_are_parsed_after_any_process_name() {
        let text = "17 (a) b (c) S 5 17 17 0 -1 4194560 900 0 3 0 230 41 0 0 20 0 9 0 100 5 6";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.has_ended, stat.parent, stat.started), (false, 5, 100));
    }

    #[test]
    fn reused_process_id_is_not_the_process() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcessIdentity::of(child.id()).unwrap();
        let earlier = ProcessIdentity { started: process.started - 1, ..process };
        assert!(process.is_alive() && !earlier.is_alive());
        earlier.signal(Signal::KILL);
        assert!(descendants(std::process::id()).contains(&process), "it runs");
        kill_all(&[process]);
        assert!(!process.is_alive());
        child.wait().unwrap();
    }

    #[test]
    fn processes_are_found_by_working_directory() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = Command::new("sleep").arg("60").current_dir(dir.path()).spawn().unwrap();
        let process = ProcessIdentity::of(child.id()).unwrap();
        let uid = rustix::process::getuid().as_raw();
        assert_eq!(working_in(dir.path(), uid), [process]);
        assert_eq!(working_in(dir.path(), uid + 1), [], "of another user");
        kill_all(&[process]);
        child.wait().unwrap();
    }
}
