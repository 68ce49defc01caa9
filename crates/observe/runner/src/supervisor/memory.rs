//! Memory cap of a worker, and detection of out-of-memory kills.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use model::Bytes;
use rustix::process::Signal;
use sampler::{CgroupDir, MemoryCap};

use super::process::Process;
use crate::error::RunnerError;

/// The memory cap of a worker, and the kernel's count of kills.
pub(crate) struct MemoryWatch {
    /// Held until the worker has ended; then the group is removed.
    cap: Option<MemoryCap>,
    group: Option<CgroupDir>,
    kills_before: Option<u64>,
}

impl MemoryWatch {
    /// Puts a worker that has not begun yet under the cap, if there is one.
    ///
    /// # Errors
    /// [`RunnerError::MemoryCap`] when the cap cannot be set.
    pub(crate) fn begin(limit: Option<Bytes>, process: &Process) -> Result<Self, RunnerError> {
        let cap = limit.map(MemoryCap::create).transpose()?;
        if let Some(cap) = &cap {
            cap.add_pid(process.pid())?;
        }
        let group = match &cap {
            Some(cap) => Some(cap.dir()),
            None => CgroupDir::of_process(process.pid()),
        };
        let kills_before = kills(group.as_ref());
        Ok(Self { cap, group, kills_before })
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
        signal == Some(Signal::KILL.as_raw()) && kills(self.group.as_ref()) > self.kills_before
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
            let watch = MemoryWatch { cap: None, group: None, kills_before };
            watch.has_killed(Some(ExitStatus::from_raw(signal)))
        };
        assert!(ended(9, None), "from no count to {now}");
        assert!(!ended(11, None) && !ended(0, None));
        assert!(!ended(9, Some(u64::MAX)));
    }
}
