//! Memory cap of a worker, and detection of out-of-memory kills.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use model::Bytes;
use rustix::process::Signal;
use sampler::{CgroupDir, MemoryCap, oom_evidence};

use crate::error::RunnerError;

/// The memory cap of a worker, and the kernel's count of kills.
pub(crate) struct MemoryWatch {
    /// Held until the worker has ended; then the group is removed.
    cap: Option<MemoryCap>,
    kills: KillCount,
}

impl MemoryWatch {
    /// Puts a worker that has not begun yet under the cap, if there is one.
    ///
    /// # Errors
    /// [`RunnerError::MemoryCap`] when the cap cannot be set.
    pub(crate) fn begin(limit: Option<Bytes>, pid: u32) -> Result<Self, RunnerError> {
        let cap = limit.map(MemoryCap::create).transpose()?;
        if let Some(cap) = &cap {
            cap.add_pid(pid)?;
        }
        let kills = match &cap {
            Some(cap) => KillCount::begin(Some(cap.dir())),
            None => KillCount::begin(CgroupDir::of_process(pid)),
        };
        Ok(Self { cap, kills })
    }

    /// Returns the run's own control group, if it has one.
    pub(crate) fn own_group(&self) -> Option<CgroupDir> {
        self.cap.as_ref().map(MemoryCap::dir)
    }

    /// Returns whether a worker that ended with `status` was killed for memory.
    ///
    /// The kernel kills by SIGKILL; in a group shared with other processes their kills count too,
    /// so one of theirs in the same run may be taken for the worker's.
    pub(crate) fn has_killed(&self, status: Option<ExitStatus>) -> bool {
        let signal = status.and_then(|status| status.signal());
        signal == Some(Signal::KILL.as_raw()) && self.kills.has_grown()
    }

    /// Describes the kernel's count of kills, and the limit of the group.
    pub(crate) fn evidence(&self) -> String {
        self.kills.evidence()
    }
}

/// The kernel's count of kills for memory in a group, since a moment.
pub(crate) struct KillCount {
    group: Option<CgroupDir>,
    before: Option<u64>,
}

impl KillCount {
    /// Begins to count in a group; `None` for the whole machine.
    pub(crate) fn begin(group: Option<CgroupDir>) -> Self {
        let before = kills(group.as_ref());
        Self { group, before }
    }

    /// Returns whether the count has grown.
    pub(crate) fn has_grown(&self) -> bool {
        kills(self.group.as_ref()) > self.before
    }

    /// Describes the count and the limit of the group.
    pub(crate) fn evidence(&self) -> String {
        let counted = self.group.as_ref().filter(|group| group.oom_kills().is_some());
        counted.map_or_else(|| "`oom_kill` of /proc/vmstat has grown".to_owned(), oom_evidence)
    }
}

/// Returns the kills for memory in a group, or on the machine when the group counts none.
fn kills(group: Option<&CgroupDir>) -> Option<u64> {
    let in_group = group.and_then(CgroupDir::oom_kills);
    in_group.or_else(|| kills_in(&fs::read_to_string("/proc/vmstat").ok()?))
}

/// Returns how many processes the kernel has killed for memory since boot.
///
/// Source: proc(5), `/proc/vmstat`, `oom_kill` (since Linux 4.13).
fn kills_in(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_count_is_parsed() {
        assert_eq!(kills_in("oom_kill_x 9\npgscan 4\noom_kill 3\nunevictable 0\n"), Some(3));
        assert_eq!(kills_in("pgscan 4\n"), None);
    }

    #[test]
    fn only_a_sigkill_while_the_count_grew_is_for_memory() {
        let vmstat = fs::read_to_string("/proc/vmstat").unwrap();
        if !vmstat.lines().any(|line| line.starts_with("oom_kill ")) {
            println!("skipped: this kernel does not count kills for memory");
            return;
        }
        let now = kills(None).unwrap();
        let ended = |signal, kills_before| {
            let kills = KillCount { group: None, before: kills_before };
            let watch = MemoryWatch { cap: None, kills };
            watch.has_killed(Some(ExitStatus::from_raw(signal)))
        };
        assert!(ended(9, None), "from no count to {now}");
        assert!(!ended(11, None) && !ended(0, None));
        assert!(!ended(9, Some(u64::MAX)));
    }
}
