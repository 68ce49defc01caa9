//! Counts a group's arrivals: due, and not yet taken.

use hdrhistogram::Histogram;
use model::Nanos;

use super::shared::{Cursor, SharedArrivals, Survey};
use crate::tally::{empty_histogram, record_capped};
use crate::timeline::Timeline;

/// Counts the arrivals of each interval, whether they were taken or not.
///
/// Where clients keep up it costs nothing per arrival. Where they do not, it visits each arrival
/// that was due and not taken, once.
pub(crate) struct ArrivalCounter<'r> {
    arrivals: &'r SharedArrivals,
    /// The timeline of the arrivals: it begins at 0.
    timeline: Timeline,
    /// Position up to which the arrivals not taken have been counted.
    walked: Option<Box<Cursor>>,
    /// Arrivals due before the end of the interval closed last.
    counted: u64,
    /// Arrivals due before the measured span.
    before_measured: u64,
}

/// The arrivals of an interval that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Arrivals due in it, relative to what was counted before: below 0 only where the last
    /// interval of a step turns out to be shorter than the grid.
    pub(crate) offered: i64,
    /// Age of the oldest arrival that no client had taken at its end.
    pub(crate) backlog: Nanos,
}

/// The arrivals of the measured span that were not served.
#[derive(Debug, Clone)]
pub(crate) struct Unserved {
    /// Arrivals due in the span.
    pub(crate) offered: u64,
    /// Ages, at the end of the span, of those not served.
    pub(crate) ages: Histogram<u64>,
}

impl<'r> ArrivalCounter<'r> {
    /// Returns a counter of `arrivals`, which have the same timeline.
    pub(crate) const fn new(arrivals: &'r SharedArrivals, timeline: Timeline) -> Self {
        Self { arrivals, timeline, walked: None, counted: 0, before_measured: 0 }
    }

    /// Counts the arrivals of interval `index`; intervals come in order.
    pub(crate) fn close(&mut self, index: u64) -> Due {
        let end = self.timeline.end_of(index);
        let (counted, oldest) = match self.arrivals.survey(end) {
            Survey::Taken(number) => (number, None),
            Survey::Behind(cursor) => {
                let oldest = cursor.due();
                (self.walk(cursor, end), oldest)
            }
        };
        if end == self.timeline.measured_from {
            self.before_measured = counted;
        }
        Due { offered: self.count_to(counted), backlog: age(oldest, end) }
    }

    /// Counts the rest when no client runs any more, at `end`.
    ///
    /// `unserved_taken` are the arrivals that clients had taken and not served.
    pub(crate) fn finish(&mut self, end: Nanos, unserved_taken: &[Nanos]) -> (Due, Unserved) {
        let measured_from = self.timeline.measured_from;
        let end = self.timeline.deadline.map_or(end, |deadline| deadline.min(end));
        let mut ages = empty_histogram();
        let mut is_behind = |due: Nanos| {
            if due >= measured_from && due < end {
                record_capped(&mut ages, end.since(due).0, 1);
            }
            due < end
        };
        let mut cursor = self.arrivals.place();
        let mut oldest = cursor.due();
        // Those taken and not served may be due after the end; all others taken are not.
        let mut counted = cursor.number;
        for due in unserved_taken {
            counted -= u64::from(!is_behind(*due));
            oldest = Some(oldest.map_or(*due, |oldest| oldest.min(*due)));
        }
        while cursor.due().is_some_and(&mut is_behind) {
            counted += 1;
            cursor.advance();
        }
        let offered = if end > measured_from { counted - self.before_measured } else { 0 };
        let due = Due { offered: self.count_to(counted), backlog: age(oldest, end) };
        (due, Unserved { offered, ages })
    }

    /// Returns the number of arrivals due before `end`, of which those from `cursor` on are not
    /// taken.
    fn walk(&mut self, cursor: Box<Cursor>, end: Nanos) -> u64 {
        let walked = self.walked.take().filter(|walked| walked.number > cursor.number);
        let mut cursor = walked.unwrap_or(cursor);
        while cursor.due().is_some_and(|due| due < end) {
            cursor.advance();
        }
        self.walked.insert(cursor).number
    }

    fn count_to(&mut self, counted: u64) -> i64 {
        let offered = counted.cast_signed() - self.counted.cast_signed();
        self.counted = counted;
        offered
    }
}

/// Returns how long an arrival has been due at `end`; zero when it is not yet.
fn age(due: Option<Nanos>, end: Nanos) -> Nanos {
    due.map_or(Nanos(0), |due| end.since(due))
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use model::{Arrivals, OpenLoad, Pace, Pacing, Rate};
    use proptest::prelude::*;

    use super::*;
    use crate::schedule::Share;

    fn load(ops_per_s: f64, arrivals: Arrivals) -> OpenLoad {
        OpenLoad { rate: Rate::constant(ops_per_s), pace: Pace { arrivals, pacing: Pacing::Auto } }
    }

    /// A warm-up of 1.5 s, then intervals of 1 s until 6.5 s after the start.
    fn timeline() -> Timeline {
        Timeline {
            start: Nanos(0),
            measured_from: Nanos::from_millis(1500),
            interval: Nanos::SECOND,
            deadline: Some(Nanos::from_millis(6500)),
        }
    }

    #[test]
    fn untaken_arrivals_are_counted_with_their_ages() {
        let load = load(1000.0, Arrivals::Constant);
        let arrivals = SharedArrivals::counted(&load, 1, timeline(), Share::whole(1), u64::MAX);
        let mut counter = ArrivalCounter::new(&arrivals, timeline());
        for taken in 0..1500 {
            assert_eq!(arrivals.take(), Some(Nanos(1_000_000 * taken + 500_000)));
        }
        assert_eq!(counter.close(0), Due { offered: 1000, backlog: Nanos(0) });
        assert_eq!(counter.close(1), Due { offered: 500, backlog: Nanos(0) });
        for second in 1..=3 {
            let backlog = Nanos(1_000_000_000 * second - 500_000);
            assert_eq!(counter.close(1 + second), Due { offered: 1000, backlog });
        }
        // One client had taken the first of them, and it ends half a second later.
        let unserved_taken = [arrivals.take().unwrap()];
        let (due, unserved) = counter.finish(Nanos::from_secs(5), &unserved_taken);
        assert_eq!(due, Due { offered: 500, backlog: Nanos(3_499_500_000) });
        assert_eq!((unserved.offered, unserved.ages.len()), (3500, 3500));
        let crate_percentiles = crate::percentiles(&unserved.ages);
        assert!(crate_percentiles.max_ns.abs_diff(3_500_000_000) < 4_000_000);
        assert!(crate_percentiles.p50_ns.abs_diff(1_750_000_000) < 3_000_000);
    }

    #[test]
    fn a_span_that_ends_by_count_offers_no_more() {
        let timeline = Timeline { deadline: None, measured_from: Nanos(0), ..timeline() };
        let arrivals = SharedArrivals::counted(
            &load(10.0, Arrivals::Constant),
            1,
            timeline,
            Share::whole(1),
            25,
        );
        let mut counter = ArrivalCounter::new(&arrivals, timeline);
        assert_eq!(counter.close(0).offered, 10);
        assert_eq!((0..40).filter_map(|_| arrivals.take()).count(), 25);
        assert_eq!((counter.close(1).offered, counter.close(2).offered), (10, 5));
        let (due, unserved) = counter.finish(Nanos::from_millis(3500), &[]);
        assert_eq!((due.offered, unserved.offered, unserved.ages.len()), (0, 25, 0));
    }

    proptest! {
        #[test]
        fn every_arrival_is_counted_once_whenever_it_is_taken(
            ops_per_s in 0.3f64..400.0,
            is_constant in any::<bool>(),
            taken in prop::collection::vec(0usize..600, 7),
            end in 1u64..6_500_000_000,
        ) {
            // Goal: the intervals' counts, and the totals, are those of the process by itself.
            // Method: between closes, an arbitrary number of arrivals is taken; at the end one
            // that was taken is not served.
            let arrivals = if is_constant { Arrivals::Constant } else { Arrivals::Poisson };
            let load = load(ops_per_s, arrivals);
            let alone = || super::super::ArrivalProcess::new(&load, 5, timeline().measured_from);
            let due_before =
                |at: Nanos| alone().take_while(|due| *due < at).count().cast_signed() as i64;
            let shared = SharedArrivals::counted(&load, 5, timeline(), Share::whole(1), u64::MAX);
            let mut counter = ArrivalCounter::new(&shared, timeline());
            let (mut counted, mut last) = (0, None);
            let mut take = |count: usize, until: Nanos| for _ in 0..count {
                if last.is_none_or(|due| due < until) {
                    last = shared.take();
                }
            };
            let mut index = 0;
            while timeline().end_of(index) <= Nanos(end) {
                let until = timeline().end_of(index);
                take(taken[usize::try_from(index).unwrap()], until);
                counted += counter.close(index).offered;
                prop_assert_eq!(counted, due_before(until));
                index += 1;
            }
            take(taken[6], Nanos(end));
            let unserved_taken = last.into_iter().collect::<Vec<_>>();
            let number = shared.place().number;
            let (due, unserved) = counter.finish(Nanos(end), &unserved_taken);
            prop_assert_eq!(counted + due.offered, due_before(Nanos(end)));
            let measured = due_before(Nanos(end)) - due_before(timeline().measured_from);
            prop_assert_eq!(unserved.offered.cast_signed(), measured.max(0));
            // All arrivals taken were served, but for the last one.
            let first = timeline().measured_from;
            let served = alone().take(usize::try_from(number).unwrap()).filter(|due| *due >= first);
            let not_served = unserved_taken.iter().filter(|due| **due >= first).count();
            let served = served.count() - not_served;
            if Nanos(end) > first {
                prop_assert_eq!(unserved.offered, served as u64 + unserved.ages.len());
            }
        }
    }
}
