//! The two roles in the loop that vary: clock and schedule.

use model::Nanos;

use crate::clock::Counter;
use crate::ticks::{Ticker, Ticks};

/// A monotonic clock that can be waited for.
pub trait Clock: Ticker + Sync {
    /// Returns the present, nanoseconds, monotonic per thread.
    #[inline(always)]
    fn now(&self) -> Nanos {
        self.time_of(self.ticks())
    }

    /// Returns the counter, where the clock reads nothing else.
    ///
    /// A loop that reads the counter need not test for each stamp which clock it is.
    fn counter(&self) -> Option<&Counter> {
        None
    }

    /// Sleeps until `at`, and returns the present, which is `at` or later.
    ///
    /// Late by the kernel's time to wake a thread; uses no CPU meanwhile.
    fn rest_until(&self, at: Nanos) -> Nanos;

    /// Reads the clock until `at`, and returns the first reading at `at` or later.
    ///
    /// Exact, at the price of a CPU; makes no system call.
    fn spin_until(&self, at: Nanos) -> Ticks;

    /// Sleeps until a margin before `at`, spins the rest, and returns the first reading at `at`
    /// or later.
    ///
    /// As exact as spinning where the kernel wakes threads within the margin.
    fn wait_until(&self, at: Nanos) -> Ticks;

    /// Returns the margin of [`Clock::wait_until`]: a shorter wait is spun from the start.
    fn margin(&self) -> Nanos;
}

/// Where a client's intended times come from.
pub(crate) trait Schedule {
    /// Whether every operation is due as soon as the last one has ended.
    const IS_CLOSED: bool;

    /// Returns when the next operation is due; `None` when there is none left.
    fn take(&self) -> Option<Nanos>;
}

/// The closed loop; blind to operations that a stall delayed.
pub(crate) struct Closed;

impl Schedule for Closed {
    const IS_CLOSED: bool = true;

    fn take(&self) -> Option<Nanos> {
        None
    }
}
