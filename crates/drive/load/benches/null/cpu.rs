//! Pins a benchmark's threads to one core.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Returns the last core this process may use.
pub(crate) fn last_core() -> usize {
    let allowed = sched_getaffinity(None).expect("a process may read its own affinity");
    let last = (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core));
    last.expect("a running process has a core")
}

/// Keeps the calling thread, and the threads it will start, on one core.
pub(crate) fn pin(core: usize) {
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).expect("a core of those allowed");
}
