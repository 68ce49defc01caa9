//! Ends processes that a confined worker leaves outside of its process group.

use std::fs;
use std::io;

use load::{Clock, SteadyClock};
use model::Nanos;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// Longest time in which they are killed.
const KILL_MAX: Nanos = Nanos::from_secs(5);
/// Interval at which the end of one is polled.
const POLL: Nanos = Nanos::from_millis(5);

/// The descendants of one confined worker.
///
/// While it lives, one whose parent has ended becomes a child of this process. It differs from the
/// other children by its seccomp filters: it has more than this process, and cannot remove one.
pub(crate) struct Descendants {
    /// Filters of this process.
    filters: u32,
}

impl Descendants {
    /// Begins to adopt processes whose parent ends.
    pub(crate) fn adopt() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { filters: Status::of(getpid()).map_or(0, |status| status.filters) })
    }

    /// Kills those that remain of a worker that has ended, for a few seconds at most.
    ///
    /// The children of one that is killed are adopted in turn. A process that starts another while
    /// they are listed may be missed once.
    fn end(&self) {
        let clock = SteadyClock::kernel();
        let deadline = clock.now().after(KILL_MAX);
        let mut empty_lists = 0;
        while empty_lists < 2 && clock.now() < deadline {
            let adopted = self.adopted();
            empty_lists = if adopted.is_empty() { empty_lists + 1 } else { 0 };
            for pid in adopted {
                // It is a child that nothing else waits for, so its id is still its own.
                kill_process(pid, Signal::KILL).ok();
                if matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) {
                    clock.rest_until(clock.now().after(POLL));
                }
            }
        }
    }

    /// Returns the children of this process that have more filters than it.
    fn adopted(&self) -> Vec<Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_adopted = |status: &Status| {
            status.parent == getpid().as_raw_pid() && status.filters > self.filters
        };
        let adopted = entries.filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            Status::of(pid).filter(is_adopted).map(|_| pid)
        });
        adopted.collect()
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        self.end();
        // It fails on no kernel that has taken the call before.
        set_child_subreaper(None).ok();
    }
}

/// The fields used of `/proc/PID/status`.
///
/// Source: proc(5), `PPid` and `Seccomp_filters` (Linux 5.9).
struct Status {
    parent: i32,
    filters: u32,
}

impl Status {
    fn of(pid: Pid) -> Option<Self> {
        let text = child::process_file(pid.as_raw_pid().cast_unsigned(), "status")?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        Some(Self {
            parent: field("PPid:")?.trim().parse().ok()?,
            filters: field("Seccomp_filters:").and_then(|it| it.trim().parse().ok()).unwrap_or(0),
        })
    }
}
