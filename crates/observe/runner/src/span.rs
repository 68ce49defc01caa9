//! A measured span as the parent keeps it: its accounts, and the part of it that counts.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use load::empty_histogram;
use model::record::{OpCounts, OpSummaries, OpSummary};
use model::validity::{InvalidCause, InvalidIntervals, InvalidReason};
use model::{Buckets, EngineState, IntervalRecord, Kind, Nanos, OpKind, OpUnit, Readings};

use crate::account::{Account, of_kind};
use crate::innocence::Judgement;
use crate::tally::{Told, add_to_buckets};
use crate::time_profile::Seconds;

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
}

impl Span {
    /// Begins a span with the readings of its first moment.
    pub(crate) fn begin(now: Readings, before: EngineState, since: String) -> Self {
        Self { account: Account::begin(now), before, since, ..Self::default() }
    }

    /// Adds the next interval.
    pub(crate) fn add(&mut self, judged: &Judged<'_>) {
        let record = judged.record;
        // A known number of rows is done as a whole: no second of it tells anything.
        let is_told = !matches!(judged.unit, OpUnit::Rows(_));
        let is_whole = is_told && record.length_ns.0 >= Nanos::SECOND.0 * 9 / 10;
        if is_whole {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a second's operations are far below 2^53"
            )]
            let done = judged.unit.done(&record.clients) as f64;
            self.account.second(done / record.length_ns.as_secs_f64(), record.invalid.is_some());
        }
        self.time_profile.add(record, judged.unit, is_whole);
        self.part.add(judged);
    }
}

/// The intervals of a span: which count, and what is in those that do.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Whether each interval is void, in order.
    pub(crate) is_invalid: Vec<bool>,
    causes: BTreeMap<InvalidCause, u32>,
    valid_ns: Nanos,
    kinds: BTreeMap<OpKind, Sum>,
    /// Growth of counters over the intervals that count.
    pub(crate) readings: Readings,
    /// Intervals that count although clients began late: the engine had the CPUs.
    pub(crate) engine_had_the_cpus: u32,
    /// Operations that kept the limit: in all intervals, and in those that count.
    within: Option<(u64, u64)>,
    /// Backlog at the end of each interval, void ones included.
    pub(crate) backlogs: Vec<Nanos>,
}

/// One kind of operation over some intervals.
#[derive(Debug)]
pub(crate) struct Sum {
    counts: OpCounts,
    response: Histogram<u64>,
    service: Histogram<u64>,
}

impl Default for Sum {
    fn default() -> Self {
        let (response, service) = (empty_histogram(), empty_histogram());
        Self { counts: OpCounts::default(), response, service }
    }
}

/// One interval that was judged.
pub(crate) struct Judged<'a> {
    pub(crate) record: &'a IntervalRecord,
    pub(crate) clients: &'a [Told],
    pub(crate) backlog: Nanos,
    pub(crate) judgement: &'a Judgement,
    /// What throughput counts.
    pub(crate) unit: OpUnit,
}

impl Part {
    fn add(&mut self, judged: &Judged<'_>) {
        let record = judged.record;
        let invalid = record.invalid.as_ref();
        self.is_invalid.push(invalid.is_some());
        self.backlogs.push(judged.backlog);
        if let Some(within) = record.within_limit {
            let (all, valid) = self.within.unwrap_or_default();
            let counted = if invalid.is_some() { 0 } else { within };
            self.within = Some((all + within, valid + counted));
        }
        if let Some(invalid) = invalid {
            *self.causes.entry(invalid.cause).or_default() += 1;
            return;
        }
        self.valid_ns = self.valid_ns.after(record.length_ns);
        self.engine_had_the_cpus += u32::from(*judged.judgement == Judgement::EngineHadTheCpus);
        for told in judged.clients {
            self.kinds.entry(told.kind).or_default().add(told);
        }
        for (name, grown) in of_kind(&record.readings, Kind::Counter) {
            *self.readings.entry(name.clone()).or_insert(0.0) += grown;
        }
    }

    /// Adds the arrivals that were not served at the span's end, with their ages: at least their
    /// response times. They belong to the last interval, and count when it does.
    pub(crate) fn add_censored(&mut self, ages: &Histogram<u64>) {
        if self.is_invalid.last().is_none_or(|is_invalid| *is_invalid) {
            return;
        }
        Sum::add_censored(&mut self.kinds, ages);
    }

    /// Returns the number of intervals.
    pub(crate) fn intervals(&self) -> u32 {
        u32::try_from(self.is_invalid.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of intervals that do not count.
    pub(crate) fn void_intervals(&self) -> u32 {
        self.causes.values().sum()
    }

    /// Returns the length of the intervals that count.
    pub(crate) const fn valid_length(&self) -> Nanos {
        self.valid_ns
    }

    /// Returns the operations that kept the limit in all intervals, when there is a limit.
    pub(crate) fn within_limit(&self) -> Option<u64> {
        self.within.map(|(all, _)| all)
    }

    /// Returns what does not count and what is left; `None` when everything counts.
    pub(crate) fn invalid_intervals(&self) -> Option<InvalidIntervals> {
        (self.void_intervals() > 0).then(|| InvalidIntervals {
            intervals: self.void_intervals(),
            of_intervals: self.intervals(),
            causes: self.causes.iter().map(|(cause, count)| (*cause, *count)).collect(),
            valid_ns: self.valid_ns,
            valid: Sum::summaries(&self.kinds),
            within_limit: self.within.map(|(_, valid)| valid),
        })
    }
}

impl Sum {
    /// Adds an interval.
    pub(crate) fn add(&mut self, told: &Told) {
        self.counts.merge(&told.summary.counts);
        self.add_times(&told.response, &told.service);
    }

    /// Adds the ages of arrivals that were not served to the kind of which most was done.
    pub(crate) fn add_censored(kinds: &mut BTreeMap<OpKind, Self>, ages: &Histogram<u64>) {
        if let Some(sum) = kinds.values_mut().max_by_key(|sum| sum.counts.done) {
            sum.add_times(ages, &empty_histogram());
        }
    }

    /// Returns what records keep of them.
    pub(crate) fn summaries(kinds: &BTreeMap<OpKind, Self>) -> OpSummaries {
        let summary = |(kind, sum): (&OpKind, &Self)| {
            let (response, service) =
                (load::percentiles(&sum.response), load::percentiles(&sum.service));
            (*kind, OpSummary { counts: sum.counts, response, service })
        };
        kinds.iter().map(summary).collect()
    }

    /// Adds their service times to ten buckets.
    pub(crate) fn add_to(kinds: &BTreeMap<OpKind, Self>, buckets: &mut Buckets) {
        for (kind, sum) in kinds {
            add_to_buckets(buckets, *kind, &sum.service);
        }
    }

    fn add_times(&mut self, response: &Histogram<u64>, service: &Histogram<u64>) {
        for (ours, theirs) in [(&mut self.response, response), (&mut self.service, service)] {
            ours.add(theirs).expect("ours reaches as far as the worker's, which is of one layout");
        }
    }
}

/// Returns why an interval is void, if it is.
pub(crate) const fn void_of(judgement: &Judgement) -> Option<&InvalidReason> {
    match judgement {
        Judgement::Invalid(invalid) => Some(invalid),
        Judgement::InTime | Judgement::EngineHadTheCpus => None,
    }
}

#[cfg(test)]
mod tests {
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
            readings: [("process_cpu_user_us", 7.0), ("rss_bytes", 5.0)]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        }
    }

    /// A second in which `done` gets were done, each in `ns`; void when there is a cause.
    fn add(span: &mut Span, done: u64, ns: u64, cause: Option<InvalidCause>) {
        let (mut response, mut service) = (empty_histogram(), empty_histogram());
        response.record_n(ns, done).unwrap();
        service.record_n(ns / 2, done).unwrap();
        let counts = OpCounts { done, ..OpCounts::default() };
        let summary = OpSummary { counts, ..OpSummary::default() };
        let judgement = cause.map_or(Judgement::InTime, |cause| {
            Judgement::Invalid(InvalidReason { cause, evidence: String::new() })
        });
        let record = interval(summary, void_of(&judgement).cloned());
        let within_limit = Some(done / 2);
        let record = IntervalRecord { within_limit, ..record };
        span.add(&Judged {
            record: &record,
            clients: &[Told { kind: OpKind::Get, summary, response, service }],
            backlog: Nanos(done),
            judgement: &judgement,
            unit: OpUnit::Operation,
        });
    }

    #[test]
    fn a_span_without_voids_has_nothing_to_tell() {
        let mut span = Span::default();
        add(&mut span, 10, 1000, None);
        let part = &span.part;
        assert_eq!((part.invalid_intervals(), part.within_limit()), (None, Some(5)));
        assert_eq!((part.intervals(), part.valid_length()), (1, Nanos::SECOND));
    }

    #[test]
    fn what_counts_is_merged_from_the_intervals_that_count() {
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
        let cpu = "process_cpu_user_us".to_owned();
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
            let (backlog, judgement) = (Nanos(0), &Judgement::InTime);
            span.add(&Judged { record: &record, clients: &[], backlog, judgement, unit });
            let told = span.account.seconds(false);
            assert_eq!(told.seconds, seconds);
            assert!((told.p50_ops - p50).abs() < 1e-9, "{told:?}");
        }
    }

    /// Goal: arrivals nobody had served are held against the engine only if the client was well
    /// at the end.
    #[test]
    fn censored_arrivals_count_when_the_last_interval_does() {
        let mut ages = empty_histogram();
        ages.record_n(500_000_000, 5).unwrap();
        for (is_last_void, counted) in [(false, 105), (true, 100)] {
            let mut span = Span::default();
            add(&mut span, 1, 1_000, Some(InvalidCause::Client));
            add(&mut span, 100, 1_000, None);
            if is_last_void {
                add(&mut span, 1, 1_000, Some(InvalidCause::Client));
            }
            span.part.add_censored(&ages);
            let valid = span.part.invalid_intervals().unwrap().valid[&OpKind::Get];
            assert_eq!((valid.response.count, valid.service.count), (counted, 100));
            assert_eq!(valid.counts.done, 100, "nobody has served them");
        }
    }
}
