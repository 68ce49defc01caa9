//! The two roles in the loop that vary: where time comes from, and when operations are due.

use model::Nanos;

/// A reading in a clock's own unit; means something to that clock only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

/// A monotonic clock.
///
/// Whoever reads it once in a while asks for [`Clock::now`]. The hot loop reads ticks, and
/// translates no more of them than it needs; a clock whose ticks are nanoseconds has nothing to
/// add for that.
pub trait Clock: Sync {
    /// Returns the present, nanoseconds, monotonic per thread.
    fn now(&self) -> Nanos;

    /// Sleeps until `at`, and returns the present, which is `at` or later.
    ///
    /// Late by what the kernel takes to wake a thread; uses no CPU meanwhile.
    fn rest_until(&self, at: Nanos) -> Nanos;

    /// Waits until `at`, and returns the present, which is `at` or later.
    ///
    /// Spins at the end of the wait: exact, at the price of CPU.
    fn wait_until(&self, at: Nanos) -> Nanos;

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

/// When one client's operations are due.
///
/// To add one: a file under `schedule/`, a variant of [`model::Load`], and its arm in
/// `client::run_scheduled`.
///
/// ```
/// use load::Schedule;
/// use load::schedule::Constant;
/// use model::Nanos;
///
/// // Two clients share 1000 operations per second: each has one every 2 ms, interleaved.
/// let mut second = Constant::new(Nanos(0), 1000.0, 1, 2);
/// assert_eq!(second.next_start(Nanos(0)), Some(Nanos(1_000_000)));
/// // However late the client is, the intended time does not move.
/// assert_eq!(second.next_start(Nanos(9_000_000_000)), Some(Nanos(3_000_000)));
/// ```
pub trait Schedule {
    /// Whether every operation is due as soon as the last one has ended, so that nobody need ask.
    const IS_CLOSED: bool = false;

    /// Returns when the next operation is due; `None` when there is none left.
    ///
    /// An open loop ignores `now`. Never skips and never re-times an operation that is overdue.
    fn next_start(&mut self, now: Nanos) -> Option<Nanos>;
}
