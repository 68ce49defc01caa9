//! The grid of a step's intervals.

use model::Nanos;

/// The grid of a step's intervals: those of the warm-up, then those of the measured span.
///
/// Clients and coordinator compute the same grid from it, so interval ends need no messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// When the step began.
    pub(crate) start: Nanos,
    /// When the measured span began: `start` when there is no warm-up.
    pub(crate) measured_from: Nanos,
    /// Length of an interval; the last one of the warm-up may be shorter.
    pub(crate) interval: Nanos,
    /// When the measured span is over; `None` when it ends by count.
    pub(crate) deadline: Option<Nanos>,
}

impl Timeline {
    /// Returns the number of intervals in the warm-up.
    pub(crate) const fn warmup_intervals(&self) -> u64 {
        self.measured_from.since(self.start).0.div_ceil(self.interval.0)
    }

    /// Returns whether interval `index` belongs to the warm-up.
    pub(crate) const fn is_warmup(&self, index: u64) -> bool {
        index < self.warmup_intervals()
    }

    /// Returns when interval `index` begins.
    pub(crate) const fn start_of(&self, index: u64) -> Nanos {
        let warmup = self.warmup_intervals();
        if index < warmup {
            self.start.after(Nanos(index * self.interval.0))
        } else {
            self.measured_from.after(Nanos((index - warmup) * self.interval.0))
        }
    }

    /// Returns when arrivals are no longer due in interval `index`: where the next begins, or at
    /// the deadline.
    pub(crate) fn end_of(&self, index: u64) -> Nanos {
        let end = self.start_of(index + 1);
        self.deadline.map_or(end, |deadline| deadline.min(end))
    }

    /// Returns the same grid for a step that begins at `start`, and not at 0.
    pub(crate) fn starting_at(&self, start: Nanos) -> Self {
        Self {
            start,
            measured_from: start.after(self.measured_from),
            interval: self.interval,
            deadline: self.deadline.map(|deadline| start.after(deadline)),
        }
    }

    /// Returns when interval `index` closes: where the next begins, or a little later.
    ///
    /// An operation that was running at the deadline still counts and ends just after it. It
    /// belongs to the last interval, not to one of its own a few microseconds long: so there is
    /// no close in the half interval that follows the deadline.
    pub(crate) fn closes_at(&self, index: u64) -> Nanos {
        let end = self.start_of(index + 1);
        let Some(deadline) = self.deadline else { return end };
        let grace_end = deadline.after(Nanos(self.interval.0 / 2));
        if end >= deadline && end < grace_end { grace_end } else { end }
    }

    /// Returns the interval that a moment belongs to, searching from interval `from` on.
    pub(crate) fn index_at(&self, at: Nanos, from: u64) -> u64 {
        let mut index = from;
        // Bounded: one step per interval of a stall, and a step lasts hours at most.
        while at >= self.closes_at(index) {
            index += 1;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn timeline(warmup_ms: u64, deadline_ms: Option<u64>) -> Timeline {
        let start = Nanos(7 * SECOND);
        let measured_from = start.after(Nanos::from_millis(warmup_ms));
        let deadline = deadline_ms.map(|ms| measured_from.after(Nanos::from_millis(ms)));
        Timeline { start, measured_from, interval: Nanos::SECOND, deadline }
    }

    #[test]
    fn the_measured_span_begins_with_a_fresh_interval() {
        let timeline = timeline(2500, None);
        assert_eq!(timeline.warmup_intervals(), 3);
        assert!(timeline.is_warmup(2) && !timeline.is_warmup(3));
        assert_eq!(timeline.closes_at(1), Nanos(9 * SECOND));
        assert_eq!(timeline.closes_at(2), timeline.measured_from);
        assert_eq!(timeline.start_of(3), timeline.measured_from);
        assert_eq!(timeline.start_of(4), timeline.measured_from.after(Nanos::SECOND));
        assert_eq!(timeline.index_at(timeline.measured_from, 0), 3);
    }

    #[test]
    fn the_operation_running_at_the_deadline_gets_no_interval_of_its_own() {
        let timeline = timeline(0, Some(3000));
        let deadline = timeline.deadline.unwrap();
        assert_eq!(timeline.index_at(deadline.after(Nanos(10_000)), 0), 2);
        assert_eq!(timeline.index_at(deadline.after(Nanos::from_millis(499)), 0), 2);
        // A long stall across the deadline does: it must be visible.
        assert_eq!(timeline.index_at(deadline.after(Nanos::from_millis(500)), 0), 3);
        assert_eq!(timeline.index_at(deadline.after(Nanos::from_millis(2500)), 0), 5);
    }

    #[test]
    fn a_deadline_within_an_interval_leaves_the_grid_alone() {
        let timeline = timeline(0, Some(2400));
        let end = timeline.deadline.unwrap();
        assert_eq!(timeline.index_at(end, 0), 2);
        assert_eq!(timeline.closes_at(2), timeline.start_of(3));
        let late = self::timeline(0, Some(2990));
        assert_eq!(late.closes_at(2), late.deadline.unwrap().after(Nanos::from_millis(500)));
    }
}
