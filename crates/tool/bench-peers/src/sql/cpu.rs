//! CPU time of processes.

use std::collections::BTreeMap;
use std::fs;

use load::{Clock, SteadyClock};
use model::Nanos;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Longest wait for a server's process to end after its client has disconnected.
const TIMEOUT: Nanos = Nanos::from_secs(5);
/// Poll interval of that wait.
const POLL_INTERVAL: Nanos = Nanos::from_millis(2);

/// Returns the CPU time of all ended children, user and system, us.
///
/// Includes threads and their own children, to the microsecond: ticks of `/proc` are too coarse
/// for a process of one second.
pub(super) fn of_children_us() -> f64 {
    of_us(UsageWho::RUSAGE_CHILDREN)
}

/// Returns the CPU of this process, user and system, us.
pub(super) fn own_us() -> f64 {
    of_us(UsageWho::RUSAGE_SELF)
}

fn of_us(who: UsageWho) -> f64 {
    let usage = getrusage(who).expect("getrusage does not fail");
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    us as f64
}

/// A server's process tree.
///
/// The CPU of ended processes is in their parent's account, so nothing is lost when a
/// connection's process ends.
#[derive(Debug)]
pub(super) struct Tree {
    root: u32,
    /// Processes before the first client.
    idle: Vec<u32>,
    /// Length of a tick, us.
    tick_us: f64,
}

impl Tree {
    /// Returns the process tree of an idle server.
    pub(super) fn of(root: u32) -> Self {
        let tick_us = 1e6 / rustix::param::clock_ticks_per_second() as f64;
        let idle = descendants(&all_processes(), root).into_keys().collect();
        Self { root, idle, tick_us }
    }

    /// Returns the CPU time of all, user and system, us, to a tick per process; waits until those
    /// of clients have ended.
    ///
    /// # Errors
    /// When the server has ended.
    pub(super) fn cpu_us(&self) -> Result<f64, String> {
        let clock = SteadyClock::kernel();
        let deadline = clock.now().after(TIMEOUT);
        loop {
            let found = descendants(&all_processes(), self.root);
            if !found.contains_key(&self.root) {
                return Err("the server died".to_owned());
            }
            // A process that ends during the scan may be counted twice or never; then the set
            // differs from that of an idle server.
            let is_idle = found.keys().all(|pid| self.idle.contains(pid));
            if is_idle || clock.now() > deadline {
                let ticks = found.values().sum::<u64>() as f64;
                return Ok(ticks * self.tick_us);
            }
            clock.rest_until(clock.now().after(POLL_INTERVAL));
        }
    }
}

/// Parent and CPU time of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// Its CPU time and that of its ended children, ticks.
    ticks: u64,
}

/// Parses user and system time, own (fields 14 and 15) and of ended children (16 and 17).
///
/// Source: proc(5), `/proc/PID/stat`; the second field may hold anything.
fn stat(text: &str) -> Option<Stat> {
    let (_, after_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Stat { parent: fields.get(1)?.parse().ok()?, ticks })
}

fn all_processes() -> BTreeMap<u32, Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        Some((pid, stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
    })
    .collect()
}

/// Returns the ticks of a process and of those below it.
fn descendants(all_processes: &BTreeMap<u32, Stat>, root: u32) -> BTreeMap<u32, u64> {
    let is_below = |pid: u32| {
        let parent = |pid: &u32| all_processes.get(pid).map(|stat| stat.parent);
        std::iter::successors(Some(pid), parent).any(|pid| pid == root)
    };
    let found = all_processes.iter().filter(|(pid, _)| is_below(**pid));
    found.map(|(pid, stat)| (*pid, stat.ticks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_is_the_root_and_its_descendants() {
        let stat = |parent, ticks| Stat { parent, ticks };
        let all = [(1, stat(0, 9)), (7, stat(1, 5)), (8, stat(7, 3)), (9, stat(8, 2))];
        let found = descendants(&all.into_iter().collect(), 7);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [(7, 5), (8, 3), (9, 2)]);
    }

    #[test]
    fn cpu_times_are_summed_after_any_process_name() {
        let text = "17 (a) b (c) S 5 17 17 0 -1 4194560 900 0 3 0 230 41 7 1 20 0 9 0 100 5 6";
        assert_eq!(stat(text), Some(Stat { parent: 5, ticks: 279 }));
    }

    #[test]
    fn ended_children_are_counted() {
        let before = of_children_us();
        crate::environment::run(&["true".to_owned()]).unwrap();
        assert!(of_children_us() > before);
    }
}
