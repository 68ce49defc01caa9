//! Readings of a clock in its own unit.

use model::Nanos;

/// A reading in a clock's own unit, valid for that clock only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

/// The readings of a monotonic clock, in its own unit.
///
/// The hot loop reads ticks, and converts no more of them than it needs; a clock whose ticks are
/// nanoseconds uses the provided methods.
pub trait Ticker {
    /// Reads the present in ticks.
    ///
    /// On the hot path, twice per operation: no lock, no system call where it can be avoided.
    fn ticks(&self) -> Ticks;

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
