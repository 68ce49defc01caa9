//! The two roles in the loop that vary: clock and schedule.

use model::Nanos;

/// A reading in a clock's own unit, valid for that clock only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

/// A monotonic clock.
///
/// [`Clock::now`] is for occasional readings. The hot loop reads ticks, and converts no more of
/// them than it needs; a clock whose ticks are nanoseconds uses the provided methods.
pub trait Clock: Sync {
    /// Returns the present, nanoseconds, monotonic per thread.
    fn now(&self) -> Nanos;

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

    /// Reads the present in ticks.
    ///
    /// On the hot path, twice per operation: no lock, no system call where it can be avoided.
    #[inline(always)]
    fn ticks(&self) -> Ticks {
        Ticks(self.now().0)
    }

    /// Returns the time of a reading.
    #[inline(always)]
    fn time_of(&self, ticks: Ticks) -> Nanos {
        Nanos(ticks.0)
    }

    /// Returns the first reading at `at` or later.
    fn ticks_at(&self, at: Nanos) -> Ticks {
        Ticks(at.0)
    }

    /// Returns the time between two readings; zero when `to` is not the later one.
    ///
    /// On the hot path, once per operation.
    #[inline(always)]
    fn between(&self, from: Ticks, to: Ticks) -> Nanos {
        Nanos(to.0.saturating_sub(from.0))
    }
}

/// Where a client's intended times come from.
pub(crate) trait Schedule {
    /// Whether every operation is due as soon as the last one has ended.
    const IS_CLOSED: bool;

    /// Returns when the next operation is due; `None` when there is none left.
    fn take(&self) -> Option<Nanos>;
}

/// The closed loop without think time; blind to operations that a stall delayed.
pub(crate) struct Closed;

impl Schedule for Closed {
    const IS_CLOSED: bool = true;

    fn take(&self) -> Option<Nanos> {
        None
    }
}
