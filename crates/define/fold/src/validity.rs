//! Validity of a span's intervals, and the sums over the valid ones.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::record::SpanningOp;
use model::validity::{InvalidCause, InvalidIntervals};
use model::{IntervalRecord, Kind, Nanos, Readings, float, metric, whole};

use crate::latencies::summaries;
use crate::load_status::is_usable;
use crate::tally::{self, GroupTally};

/// Largest share of an operation's time that may lie in invalid intervals. Our choice: the share of
/// a step's intervals that may be invalid.
const INVALID_SHARE_MAX: f64 = 0.2;

/// The intervals of a span, and the sums over the valid ones.
#[derive(Debug, Default)]
pub struct Validity {
    /// Whether each interval is invalid, in order.
    pub is_invalid: Vec<bool>,
    causes: BTreeMap<InvalidCause, u32>,
    invalid_spans: Vec<InvalidSpan>,
    /// The limit of the step's response times.
    limit: Option<Nanos>,
    /// Length of the valid intervals.
    pub valid_ns: Nanos,
    /// Operations of the valid intervals, and those of the others that count.
    valid: GroupTally,
    /// Growth of counters over the valid intervals.
    pub readings: Readings,
    /// Operations within the limit; `None` without one.
    within: Option<Within>,
    /// Age of the oldest arrival not begun at the end of each interval, invalid ones included.
    pub(crate) backlogs: Vec<Nanos>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Within {
    in_all: u64,
    in_valid: u64,
}

#[derive(Debug, Clone, Copy)]
struct InvalidSpan {
    begin: Nanos,
    end: Nanos,
}

impl Validity {
    pub(crate) fn new(limit: Option<Nanos>) -> Self {
        Self { limit, ..Self::default() }
    }

    pub(crate) fn add(&mut self, record: &IntervalRecord, clients: &GroupTally) {
        let invalid = record.invalid.as_ref();
        self.is_invalid.push(invalid.is_some());
        let backlog_us = record.readings.value(metric::BACKLOG_US).unwrap_or_default();
        self.backlogs.push(Nanos(whole(backlog_us * 1e3)));
        if let Some(done) = record.within_limit {
            let within = self.within.get_or_insert_default();
            within.in_all += done;
            within.in_valid += if invalid.is_some() { 0 } else { done };
        }
        if let Some(invalid) = invalid {
            *self.causes.entry(invalid.cause).or_default() += 1;
            let (begin, end) = (record.start_ns, record.start_ns.after(record.length_ns));
            self.invalid_spans.push(InvalidSpan { begin, end });
            record.spanning.iter().for_each(|op| self.count(op));
            return;
        }
        self.valid_ns = self.valid_ns.after(record.length_ns);
        tally::merge(&mut self.valid, clients);
        for (name, grown) in record.readings.of_kind(Kind::Counter) {
            *self.readings.entry(name.clone()).or_insert(0.0) += grown;
        }
    }

    /// Returns the operations that count although the interval from `start` on is invalid.
    ///
    /// These began before it, and at least four fifths of their time lie in valid intervals.
    /// Without them a call of seconds would vanish with the tail of milliseconds it ended in.
    pub fn countable(&self, start: Nanos, spanning: &[SpanningOp]) -> Vec<SpanningOp> {
        let is_countable = |op: &&SpanningOp| {
            let begun = op.ended_ns.since(op.response_ns);
            let own = InvalidSpan { begin: start, end: op.ended_ns };
            let spans = self.invalid_spans.iter().copied().chain([own]);
            let within = spans
                .map(|span| float(op.ended_ns.min(span.end).since(begun.max(span.begin)).0))
                .sum::<f64>();
            within <= INVALID_SHARE_MAX * float(op.response_ns.0)
        };
        spanning.iter().filter(is_countable).copied().collect()
    }

    /// Counts an operation of an invalid interval.
    fn count(&mut self, op: &SpanningOp) {
        let tally = self.valid.entry(op.kind).or_default();
        tally.counts.done += 1;
        tally.counts.rows = tally.counts.rows.saturating_add(op.rows);
        tally.counts.bytes = tally.counts.bytes.saturating_add(op.bytes);
        tally.response.saturating_record(op.response_ns.0);
        tally.service.saturating_record(op.service_ns.0);
        if let (Some(within), Some(limit)) = (&mut self.within, self.limit) {
            within.in_valid += u64::from(op.response_ns <= limit);
        }
    }

    /// Adds the ages, at the span's end, of the arrivals not served.
    ///
    /// They are lower bounds of response times in the last interval, and valid when it is.
    pub(crate) fn add_censored(&mut self, ages: &Histogram<u64>) {
        if self.is_invalid.last() == Some(&false) {
            tally::censor(&mut self.valid, None, ages);
        }
    }

    /// Returns the operations within the limit in all intervals, when there is a limit.
    pub(crate) fn within_limit(&self) -> Option<u64> {
        self.within.map(|within| within.in_all)
    }

    /// Returns the invalid intervals and the valid rest; `None` when all are valid.
    pub(crate) fn invalid_intervals(&self) -> Option<InvalidIntervals> {
        let intervals = self.causes.values().sum();
        (intervals > 0).then(|| InvalidIntervals {
            intervals,
            of_intervals: u32::try_from(self.is_invalid.len()).unwrap_or(u32::MAX),
            causes: self.causes.iter().map(|(cause, count)| (*cause, *count)).collect(),
            valid_ns: self.valid_ns,
            valid: summaries(&self.valid),
            within_limit: self.within.map(|within| within.in_valid),
        })
    }

    /// Returns the invalid intervals of a closed loop that are too many to be left out.
    ///
    /// Its step counts as a whole: a closed loop has no schedule that its client can miss.
    pub fn counted_anyway(&self) -> Option<InvalidIntervals> {
        self.invalid_intervals().filter(|invalid| !is_usable(invalid))
    }
}

#[cfg(test)]
mod tests {
    use model::OpKind;
    use model::validity::InvalidReason;

    use super::*;
    use crate::testing::{gets, interval};

    fn validity(seconds: &[(u64, u64, Option<InvalidCause>)]) -> Validity {
        let mut validity = Validity::new(None);
        for (done, ns, cause) in seconds {
            let mut record = interval(*done);
            record.within_limit = Some(done / 2);
            record.invalid = cause.map(|cause| InvalidReason { cause, evidence: String::new() });
            validity.add(&record, &gets(*done, *ns));
        }
        validity
    }

    #[test]
    fn a_span_of_valid_intervals_has_no_invalid_part() {
        let validity = validity(&[(10, 1000, None)]);
        assert_eq!((validity.invalid_intervals(), validity.within_limit()), (None, Some(5)));
        assert_eq!((validity.is_invalid.len(), validity.valid_ns), (1, Nanos::SECOND));
    }

    #[test]
    fn the_valid_part_is_the_sum_of_the_valid_intervals() {
        let validity = validity(&[
            (90, 1_000, None),
            (50, 9_000_000, Some(InvalidCause::Steal)),
            (10, 2_000, None),
            (20, 9_000_000, Some(InvalidCause::Aftermath)),
        ]);
        let found = validity.invalid_intervals().unwrap();
        assert_eq!((found.intervals, found.of_intervals), (2, 4));
        assert_eq!(found.causes, [(InvalidCause::Steal, 1), (InvalidCause::Aftermath, 1)]);
        assert_eq!(found.valid_ns, Nanos::from_secs(2));
        let valid = &found.valid[&OpKind::Get];
        assert_eq!((valid.counts.done, valid.response.count, valid.service.count), (100, 100, 100));
        assert!(valid.response.max_ns < 2_100 && valid.response.p50_ns < 1_100, "{valid:?}");
        assert_eq!((validity.within_limit(), found.within_limit), (Some(85), Some(50)));
        let cpu = metric::PROCESS_CPU_USER_US.name.to_owned();
        assert_eq!(validity.readings, [(cpu, 14.0)].into(), "a gauge has no growth");
        assert_eq!(validity.is_invalid, [false, true, false, true]);
    }

    /// Goal: unserved arrivals are charged to the engine only if the last interval is valid.
    #[test]
    fn censored_arrivals_are_valid_when_the_last_interval_is() {
        let mut ages = tally::empty_histogram();
        ages.record_n(500_000_000, 5).unwrap();
        let client = Some(InvalidCause::Client);
        for (last, counted) in [(None, 105), (client, 100)] {
            let mut seconds = vec![(1, 1_000, client), (100, 1_000, None)];
            seconds.extend(last.map(|cause| (1, 1_000, Some(cause))));
            let mut validity = validity(&seconds);
            validity.add_censored(&ages);
            let valid = validity.invalid_intervals().unwrap().valid[&OpKind::Get];
            assert_eq!((valid.response.count, valid.service.count), (counted, 100));
            assert_eq!(valid.counts.done, 100, "they were not served");
        }
    }
}
