//! The allocator of the worker's process, looked at while the clients run.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use load::{Clock, SteadyClock};
use malloc::Heap;
use model::{MallocRecord, Nanos, Readings};

/// Time that passes between two looks, in multiples of what a look takes: glibc walks the free
/// pieces of every arena under its lock, jemalloc every arena, and neither may cost more than a
/// thousandth of the clients' time.
const REST: u64 = 1_000;

/// The allocator, and when it may be looked at again.
pub(crate) struct Allocator<'a> {
    heap: Heap,
    clock: &'a SteadyClock,
    /// Moment from which a look is cheap enough, ns.
    next: AtomicU64,
}

impl<'a> Allocator<'a> {
    pub(crate) const fn new(heap: Heap, clock: &'a SteadyClock) -> Self {
        Self { heap, clock, next: AtomicU64::new(0) }
    }

    /// Returns its gauges while clients run: nothing as long as it rests from the last look.
    pub(crate) fn each_second(&self) -> Readings {
        let began = self.clock.now();
        if began.0 < self.next.load(Ordering::Relaxed) {
            return Readings::new();
        }
        let readings = self.heap.readings();
        let took = self.clock.now().since(began);
        self.next.store(rested(began, took).0, Ordering::Relaxed);
        readings
    }

    /// Returns its gauges at a boundary, where nobody waits.
    pub(crate) fn readings(&self) -> Readings {
        self.heap.readings()
    }

    /// Returns what it tells at the end of a step.
    pub(crate) fn record(&self) -> MallocRecord {
        self.heap.record()
    }

    /// Returns its own report, for people.
    pub(crate) fn text(&self) -> Option<String> {
        self.heap.text()
    }
}

impl fmt::Display for Allocator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.heap.fmt(f)
    }
}

/// Returns the moment from which the next look may be taken.
fn rested(began: Nanos, took: Nanos) -> Nanos {
    began.after(Nanos(took.0.saturating_mul(REST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_of_a_tenth_of_a_millisecond_is_taken_each_second_and_a_longer_one_rests() {
        let at = Nanos::from_secs(7);
        assert_eq!(rested(at, Nanos(100_000)), Nanos(7_100_000_000));
        assert_eq!(rested(at, Nanos::from_millis(3)), Nanos::from_secs(10));
    }
}
