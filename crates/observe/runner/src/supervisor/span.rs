//! A measured span: its accounts, its intervals and its valid part.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use load::GroupTally;
use model::record::SpanningOp;
use model::validity::{InvalidCause, InvalidIntervals, InvalidReason};
use model::{EngineState, IntervalRecord, Kind, Nanos, OpUnit, Readings, float};

use super::conservation::MeasuredOps;
use super::time_profile::Seconds;
use crate::account::{Account, of_kind};
use crate::tally;
use crate::validity::classify::Classification;

/// Largest share of an operation's time that may lie in invalid intervals. Our choice: the share of
/// a step's intervals that may be invalid.
const INVALID_SHARE_MAX: f64 = 0.2;

/// A measured span, of a step or of a probe.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) account: Account,
    /// The engine's state when it began.
    pub(crate) before: EngineState,
    /// When it began, UTC, RFC 3339.
    pub(crate) since: String,
    pub(crate) part: Part,
    pub(crate) time_profile: Seconds,
    pub(super) operations: MeasuredOps,
}

impl Span {
    /// Begins a span with the readings of its first moment.
    pub(crate) fn begin(now: Readings, before: EngineState, since: String) -> Self {
        Self { account: Account::begin(now), before, since, ..Self::default() }
    }

    /// Adds the next interval.
    pub(crate) fn add(&mut self, classified: &Classified<'_>) {
        let record = classified.record;
        // A known number of rows is done as a whole: its seconds have no throughput.
        let has_seconds = !matches!(classified.unit, OpUnit::Rows(_));
        let is_whole = has_seconds && record.length_ns.0 >= Nanos::SECOND.0 * 9 / 10;
        if is_whole {
            let done = classified.unit.done(&record.clients) as f64;
            self.account.second(done / record.length_ns.as_secs_f64(), record.invalid.is_some());
        }
        self.time_profile.add(record, classified.unit, is_whole);
        self.part.add(classified);
    }
}

/// The intervals of a span, and the sums over the valid ones.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Whether each interval is invalid, in order.
    pub(crate) is_invalid: Vec<bool>,
    causes: BTreeMap<InvalidCause, u32>,
    /// Beginnings and ends of the invalid intervals, in order.
    invalid_spans: Vec<(Nanos, Nanos)>,
    /// The limit of the step's response times.
    pub(crate) limit: Option<Nanos>,
    /// Length of the valid intervals.
    pub(crate) valid_ns: Nanos,
    /// Operations of the valid intervals, and those of the others that count.
    valid: GroupTally,
    /// Growth of counters over the valid intervals.
    pub(crate) readings: Readings,
    /// Valid intervals in which clients began late: the engine had the CPUs.
    pub(crate) engine_had_the_cpus: u32,
    /// Operations within the limit: in all intervals, and in the valid ones.
    within: Option<(u64, u64)>,
    /// Backlog at the end of each interval, invalid ones included.
    pub(crate) backlogs: Vec<Nanos>,
}

/// One interval with its classification.
pub(crate) struct Classified<'a> {
    pub(crate) record: &'a IntervalRecord,
    pub(crate) clients: &'a GroupTally,
    pub(crate) backlog: Nanos,
    pub(crate) classification: &'a Classification,
    /// Unit of the throughput.
    pub(crate) unit: OpUnit,
}

impl Part {
    fn add(&mut self, classified: &Classified<'_>) {
        let record = classified.record;
        let invalid = record.invalid.as_ref();
        self.is_invalid.push(invalid.is_some());
        self.backlogs.push(classified.backlog);
        if let Some(within) = record.within_limit {
            let (all, valid) = self.within.unwrap_or_default();
            let counted = if invalid.is_some() { 0 } else { within };
            self.within = Some((all + within, valid + counted));
        }
        if let Some(invalid) = invalid {
            *self.causes.entry(invalid.cause).or_default() += 1;
            let end = record.start_ns.after(record.length_ns);
            self.invalid_spans.push((record.start_ns, end));
            record.spanning.iter().for_each(|op| self.count(op));
            return;
        }
        self.valid_ns = self.valid_ns.after(record.length_ns);
        self.engine_had_the_cpus +=
            u32::from(*classified.classification == Classification::EngineHadTheCpus);
        tally::add(&mut self.valid, classified.clients);
        for (name, grown) in of_kind(&record.readings, Kind::Counter) {
            *self.readings.entry(name.clone()).or_insert(0.0) += grown;
        }
    }

    /// Returns the operations that count although the interval from `start` on is invalid.
    ///
    /// These began before it, and at least four fifths of their time lie in valid intervals.
    /// Without them a call of seconds would vanish with the tail of milliseconds it ended in.
    pub(crate) fn countable(&self, start: Nanos, spanning: &[SpanningOp]) -> Vec<SpanningOp> {
        let is_countable = |op: &&SpanningOp| {
            let begun = op.ended_ns.since(op.response_ns);
            let spans = self.invalid_spans.iter().copied().chain([(start, op.ended_ns)]);
            let within =
                spans.map(|(from, to)| float(op.ended_ns.min(to).since(begun.max(from)).0));
            within.sum::<f64>() <= INVALID_SHARE_MAX * float(op.response_ns.0)
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
        if let (Some((_, valid)), Some(limit)) = (&mut self.within, self.limit) {
            *valid += u64::from(op.response_ns <= limit);
        }
    }

    /// Adds the ages, at the span's end, of the arrivals not served.
    ///
    /// They are lower bounds of response times in the last interval, and valid when it is.
    pub(crate) fn add_censored(&mut self, ages: &Histogram<u64>) {
        if self.is_invalid.last().is_none_or(|is_invalid| *is_invalid) {
            return;
        }
        tally::add_censored(&mut self.valid, ages);
    }

    /// Returns the operations within the limit in all intervals, when there is a limit.
    pub(crate) fn within_limit(&self) -> Option<u64> {
        self.within.map(|(all, _)| all)
    }

    /// Returns the invalid intervals and the valid rest; `None` when all are valid.
    pub(crate) fn invalid_intervals(&self) -> Option<InvalidIntervals> {
        let intervals = self.causes.values().sum();
        (intervals > 0).then(|| InvalidIntervals {
            intervals,
            of_intervals: u32::try_from(self.is_invalid.len()).unwrap_or(u32::MAX),
            causes: self.causes.iter().map(|(cause, count)| (*cause, *count)).collect(),
            valid_ns: self.valid_ns,
            valid: tally::summaries(&self.valid),
            within_limit: self.within.map(|(_, valid)| valid),
        })
    }
}

/// Returns why an interval is invalid, if it is.
pub(crate) const fn reason_of(classification: &Classification) -> Option<&InvalidReason> {
    match classification {
        Classification::Invalid(invalid) => Some(invalid),
        Classification::InTime | Classification::EngineHadTheCpus => None,
    }
}

#[cfg(test)]
mod tests {
    use load::{KindTally, empty_histogram};
    use model::record::{OpCounts, OpSummaries, OpSummary};
    use model::{OpKind, metric};

    use super::*;

    /// A second of gets.
    fn interval(summary: OpSummary, invalid: Option<InvalidReason>) -> IntervalRecord {
        IntervalRecord {
            step_index: 0,
            step: "readrandom".to_owned(),
            is_warmup: false,
            start_ns: Nanos(0),
            length_ns: Nanos::SECOND,
            clients: [(OpKind::Get, summary)].into(),
            writers: OpSummaries::new(),
            probe: None,
            invalid,
            start_lag: None,
            within_limit: None,
            spanning: Vec::new(),
            readings: [(metric::PROCESS_CPU_USER_US, 7.0), (metric::RSS_BYTES, 5.0)]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            tables: model::TableReadings::new(),
        }
    }

    /// A second in which `done` gets were done, each in `ns`; invalid when there is a cause.
    fn add(span: &mut Span, done: u64, ns: u64, cause: Option<InvalidCause>) {
        let (mut response, mut service) = (empty_histogram(), empty_histogram());
        response.record_n(ns, done).unwrap();
        service.record_n(ns / 2, done).unwrap();
        let counts = OpCounts { done, ..OpCounts::default() };
        let summary = OpSummary { counts, ..OpSummary::default() };
        let classification = cause.map_or(Classification::InTime, |cause| {
            Classification::Invalid(InvalidReason { cause, evidence: String::new() })
        });
        let record = interval(summary, reason_of(&classification).cloned());
        let within_limit = Some(done / 2);
        let record = IntervalRecord { within_limit, ..record };
        span.add(&Classified {
            record: &record,
            clients: &[(OpKind::Get, KindTally { counts, response, service })].into(),
            backlog: Nanos(done),
            classification: &classification,
            unit: OpUnit::Operation,
        });
    }

    #[test]
    fn a_span_of_valid_intervals_has_no_invalid_part() {
        let mut span = Span::default();
        add(&mut span, 10, 1000, None);
        let part = &span.part;
        assert_eq!((part.invalid_intervals(), part.within_limit()), (None, Some(5)));
        assert_eq!((part.is_invalid.len(), part.valid_ns), (1, Nanos::SECOND));
    }

    #[test]
    fn the_valid_part_is_the_sum_of_the_valid_intervals() {
        let mut span = Span::default();
        add(&mut span, 90, 1_000, None);
        add(&mut span, 50, 9_000_000, Some(InvalidCause::Steal));
        add(&mut span, 10, 2_000, None);
        add(&mut span, 20, 9_000_000, Some(InvalidCause::Aftermath));
        let part = &span.part;
        let invalid_intervals = part.invalid_intervals().unwrap();
        assert_eq!((invalid_intervals.intervals, invalid_intervals.of_intervals), (2, 4));
        assert_eq!(
            invalid_intervals.causes,
            [(InvalidCause::Steal, 1), (InvalidCause::Aftermath, 1)]
        );
        assert_eq!(invalid_intervals.valid_ns, Nanos::from_secs(2));
        let valid = &invalid_intervals.valid[&OpKind::Get];
        assert_eq!((valid.counts.done, valid.response.count, valid.service.count), (100, 100, 100));
        assert!(valid.response.max_ns < 2_100 && valid.response.p50_ns < 1_100, "{valid:?}");
        assert_eq!((part.within_limit(), invalid_intervals.within_limit), (Some(85), Some(50)));
        let cpu = metric::PROCESS_CPU_USER_US.name.to_owned();
        assert_eq!(part.readings, [(cpu, 14.0)].into(), "a gauge has no growth");
        assert_eq!(span.account.seconds(false).seconds, 2);
        assert_eq!(part.is_invalid, [false, true, false, true]);
    }

    /// Goal: the throughput of a load is that of its rows; an index that is built has none.
    #[test]
    fn seconds_count_in_the_step_s_unit() {
        for (unit, seconds, p50) in
            [(OpUnit::Operation, 1, 3.0), (OpUnit::Row, 1, 300.0), (OpUnit::Rows(9), 0, 0.0)]
        {
            let mut span = Span::default();
            let counts = OpCounts { done: 3, rows: 300, ..OpCounts::default() };
            let summary = OpSummary { counts, ..OpSummary::default() };
            let mut record = interval(summary, None);
            record.clients = [(OpKind::Insert, summary)].into();
            let (backlog, classification) = (Nanos(0), &Classification::InTime);
            let clients = &GroupTally::new();
            span.add(&Classified { record: &record, clients, backlog, classification, unit });
            let found = span.account.seconds(false);
            assert_eq!(found.seconds, seconds);
            assert!((found.p50_ops - p50).abs() < 1e-9, "{found:?}");
        }
    }

    /// Goal: unserved arrivals are charged to the engine only if the last interval is valid.
    #[test]
    fn censored_arrivals_are_valid_when_the_last_interval_is() {
        let mut ages = empty_histogram();
        ages.record_n(500_000_000, 5).unwrap();
        for (is_last_invalid, counted) in [(false, 105), (true, 100)] {
            let mut span = Span::default();
            add(&mut span, 1, 1_000, Some(InvalidCause::Client));
            add(&mut span, 100, 1_000, None);
            if is_last_invalid {
                add(&mut span, 1, 1_000, Some(InvalidCause::Client));
            }
            span.part.add_censored(&ages);
            let valid = span.part.invalid_intervals().unwrap().valid[&OpKind::Get];
            assert_eq!((valid.response.count, valid.service.count), (counted, 100));
            assert_eq!(valid.counts.done, 100, "they were not served");
        }
    }
}
