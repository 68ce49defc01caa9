//! The two roles of the loop that vary: where time comes from, and when operations are due.

use model::Nanos;

/// A monotonic clock.
pub trait Clock: Sync {
    /// Returns the present, nanoseconds, monotonic per thread.
    ///
    /// On the hot path, twice per operation: no lock, no system call where it can be avoided.
    fn now(&self) -> Nanos;

    /// Sleeps until `at`, and returns the present, which is `at` or later.
    ///
    /// Late by what the kernel takes to wake a thread; uses no CPU meanwhile.
    fn rest_until(&self, at: Nanos) -> Nanos;

    /// Waits until `at`, and returns the present, which is `at` or later.
    ///
    /// Spins at the end of the wait: exact, at the price of CPU.
    fn wait_until(&self, at: Nanos) -> Nanos;
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
    /// Returns when the next operation is due; `None` when there is none left.
    ///
    /// An open loop ignores `now`. Never skips and never re-times an operation that is overdue.
    fn next_start(&mut self, now: Nanos) -> Option<Nanos>;
}
