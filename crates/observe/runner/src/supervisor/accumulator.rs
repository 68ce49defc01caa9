//! Accumulates the current step: from messages and readings to records.
//!
//! The supervisor archives and shows them.

use hdrhistogram::Histogram;
use load::{Clock, GroupTally};
use model::record::SettleSpan;
use model::validity::{Calibration, SearchRecord};
use model::{EngineState, IntervalRecord, Nanos, Placement, Readings, Step, StepRecord, metric};

use super::span::{Classified, Span, reason_of};
use super::step_record::complete;
use super::warning::{busy_host, busy_threads, warnings};
use crate::account::{Account, growth};
use crate::message::{IntervalMessage, ProbeBegins, StepEnds};
use crate::stamp::now_utc;
use crate::tally::{self, done_of, longest_of};
use crate::validity::classify::{IntervalClassifier, lag_allowed};
use crate::validity::evidence::{ClientReadings, Evidence, Outside, Setting, StartLag};

/// The accumulated state of the current step.
pub(crate) struct StepAccumulator<'a> {
    clock: &'a dyn Clock,
    samplers: Vec<sampler::Sampler>,
    pub(crate) index: usize,
    pub(crate) step: Step,
    /// The current probe, in a search.
    pub(crate) probe: Option<ProbeBegins>,
    setting: Setting,
    calibration: Option<Calibration>,
    classifier: IntervalClassifier,
    span: Span,
    /// The parent's readings at the last interval's message, and when that was.
    ///
    /// The last intervals of a warm-up arrive after the start of the span.
    last_readings: (Readings, Nanos),
    /// The last probe's measured span.
    last: Option<Closed>,
    /// The measured span of the last confirming probe.
    confirmed: Option<Closed>,
    /// The step's measured span, while it settles.
    settling: Option<Closed>,
}

/// A measured span that is over.
#[derive(Default)]
struct Closed {
    span: Span,
    /// The parent's counters' growth over it.
    counters: Readings,
    /// The engine's state at its end.
    after: EngineState,
}

/// An interval with its decoded histograms.
pub(crate) struct RecordedInterval {
    pub(crate) record: IntervalRecord,
    pub(crate) clients: GroupTally,
    pub(crate) writers: GroupTally,
    pub(crate) start_lag: Option<Histogram<u64>>,
}

impl<'a> StepAccumulator<'a> {
    /// Opens the accumulator of a run; `step` is its first.
    pub(crate) fn open(clock: &'a dyn Clock, samplers: Vec<sampler::Sampler>, step: Step) -> Self {
        let cpus = std::thread::available_parallelism();
        let cpus = cpus.map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX));
        let (clients, limit) = (step.clients, step.limit);
        let placement = Placement::default();
        let setting = Setting { clients, cpus, placement, limit, calibrated_lag: None };
        Self {
            clock,
            samplers,
            index: 0,
            step,
            probe: None,
            setting,
            calibration: None,
            classifier: IntervalClassifier::new(setting),
            span: Span::default(),
            last_readings: (Readings::new(), clock.now()),
            last: None,
            confirmed: None,
            settling: None,
        }
    }

    /// Sets the placement of client and server.
    pub(crate) const fn place(&mut self, placement: Placement) {
        self.setting.placement = placement;
    }

    /// Sets the client's calibration on this host.
    pub(crate) fn calibrate(&mut self, calibration: &Calibration) {
        self.setting.calibrated_lag = calibration.start_lag.map(|lag| Nanos(lag.p99_ns));
        self.calibration = Some(calibration.clone());
    }

    /// Begins a step.
    pub(crate) fn begin_step(&mut self, index: usize, step: Step) {
        (self.index, self.step) = (index, step);
        (self.probe, self.last, self.confirmed, self.settling) = (None, None, None, None);
        self.begin(self.step.clients);
    }

    /// Begins a probe of the step's search.
    pub(crate) fn begin_probe(&mut self, probe: ProbeBegins) {
        self.probe = Some(probe);
        self.begin(probe.clients);
    }

    fn begin(&mut self, clients: u32) {
        (self.setting.clients, self.setting.limit) = (clients, self.step.limit);
        self.classifier = IntervalClassifier::new(self.setting);
        self.begin_span(EngineState::default());
        self.last_readings = (self.span.account.last().clone(), self.clock.now());
    }

    /// Begins the measured span.
    pub(crate) fn begin_span(&mut self, before: EngineState) {
        let mut now = self.sample(true);
        now.extend(before.readings.clone());
        self.span = Span::begin(now, before, now_utc());
        self.span.part.limit = self.step.limit.map(|limit| limit.within);
    }

    /// Adds one interval.
    ///
    /// # Errors
    /// A text when a histogram does not decode.
    pub(crate) fn interval(
        &mut self,
        message: &IntervalMessage,
    ) -> Result<RecordedInterval, String> {
        let (clients, writers) =
            (tally::decode_times(&message.clients)?, tally::decode_times(&message.writers)?);
        let start_lag = message.start_lag.as_deref().map(tally::decode).transpose()?;
        let mut now = self.sample(false);
        let (before, read_at) =
            std::mem::replace(&mut self.last_readings, (now.clone(), self.clock.now()));
        let outside = Outside::of(&growth(&before, &now), self.last_readings.1.since(read_at));
        now.extend(message.engine.clone());
        let mut readings = self.span.account.step(&now);
        readings.extend(message.growth.clone());
        let limit = self.step.limit;
        let mut record = IntervalRecord {
            step_index: u32::try_from(self.index).expect("plans are short"),
            step: self.step.name.clone(),
            is_warmup: message.is_warmup,
            start_ns: message.start,
            length_ns: message.length,
            clients: tally::summaries(&clients),
            writers: tally::summaries(&writers),
            probe: message.probe,
            invalid: None,
            start_lag: start_lag.as_ref().map(load::percentiles),
            within_limit: limit.map(|limit| tally::within(&clients, limit.within)),
            spanning: Vec::new(),
            readings,
        };
        let backlog = message.backlog;
        if start_lag.is_some() {
            record.readings.set(metric::BACKLOG_US, (backlog.0 / 1000) as f64);
        }
        let limit_or_default = self.setting.limit();
        let allowed = lag_allowed(&self.setting);
        let done = done_of(&record.clients);
        let evidence = Evidence {
            start: message.start,
            length: message.length,
            start_lag: start_lag.as_ref().map(|lag| StartLag::of(lag, allowed, &limit_or_default)),
            backlog,
            response_max: longest_of(&record.clients),
            done,
            over_limit: done.saturating_sub(tally::within(&clients, limit_or_default.within)),
            own: ClientReadings::of(&message.growth),
            outside,
        };
        let classification = self.classifier.classify(&evidence);
        record.invalid = reason_of(&classification).cloned();
        if !message.is_warmup {
            if record.invalid.is_some() {
                record.spanning = self.span.part.countable(message.start, &message.spanning);
            }
            self.span.add(&Classified {
                record: &record,
                clients: &clients,
                backlog,
                classification: &classification,
                unit: self.step.unit,
            });
        }
        Ok(RecordedInterval { record, clients, writers, start_lag })
    }

    /// Ends a probe's measured span; returns which of its intervals are invalid.
    pub(crate) fn end_probe(&mut self, after: EngineState) -> Vec<bool> {
        let closed = self.close(after);
        let is_invalid = closed.span.part.is_invalid.clone();
        self.last = Some(closed);
        is_invalid
    }

    /// Takes the search after its last probe.
    pub(crate) fn take_search(&mut self, search: &SearchRecord) {
        let is_confirmed = |probe: ProbeBegins| {
            search.confirmed().is_some_and(|confirmed| confirmed.number == probe.number)
        };
        if self.probe.is_some_and(is_confirmed) {
            self.confirmed = self.last.take();
        }
    }

    /// Ends the step's measured span: what follows is its settle.
    pub(crate) fn begin_settle(&mut self, after: EngineState) {
        let measured = self.close(after);
        self.span.account = Account::begin(measured.span.account.last().clone());
        self.settling = Some(measured);
    }

    /// Ends the settle's span; `own` has the worker's counters and the engine's state.
    fn end_settle(&mut self, own: SettleSpan) -> SettleSpan {
        let Closed { span, mut counters, after } = self.close(own.after);
        counters.extend(own.counters);
        SettleSpan { counters, gauges_end: span.account.gauges_last, after }
    }

    /// Ends the step; returns its record.
    ///
    /// A search that confirmed nothing has no measured span of its own: its record has no
    /// operations, and no time.
    ///
    /// # Errors
    /// A text when a histogram does not decode.
    pub(crate) fn end_step(&mut self, ends: StepEnds) -> Result<StepRecord, String> {
        let (clients, writers) =
            (tally::decode_times(&ends.clients)?, tally::decode_times(&ends.writers)?);
        let findings_of_worker = ends.findings;
        let settle = ends.settle.map(|mut settle| {
            settle.span = settle.span.map(|own| Box::new(self.end_settle(*own)));
            settle
        });
        let measured = self.settling.take();
        let mut closed = match &ends.search {
            Some(_) => self.confirmed.take().unwrap_or_default(),
            None => measured.unwrap_or_else(|| self.close(ends.after)),
        };
        if let Some(ages) = &ends.censored {
            closed.span.part.add_censored(&tally::decode(ages)?);
        }
        let mut counters = closed.counters;
        counters.extend(ends.growth);
        let Span { account, part, time_profile, .. } = &closed.span;
        let record = StepRecord {
            started_at: closed.span.since.clone(),
            duration_ns: ends.duration,
            buckets: tally::buckets(&clients, &writers),
            clients: tally::summaries(&clients),
            writers: tally::summaries(&writers),
            counters,
            gauges_max: account.gauges_max.clone(),
            gauges_end: account.gauges_last.clone(),
            arrivals: ends.arrivals,
            before: closed.span.before.clone(),
            after: closed.after,
            settle,
            malloc: ends.malloc,
            search: ends.search,
            ..StepRecord::new(ends.index, self.step.clone())
        };
        let (mut record, counted_anyway) =
            complete(record, &closed.span, self.calibration.as_ref());
        record.time_profile = time_profile.time_profile(&self.step, counted_anyway.is_some());
        record.findings = warnings(&record);
        record.findings.extend(counted_anyway.as_ref().map(busy_host));
        record.findings.extend(findings_of_worker);
        record.findings.extend(busy_threads(&record, part, &self.setting));
        Ok(record)
    }

    /// Ends the measured span.
    fn close(&mut self, after: EngineState) -> Closed {
        let mut now = self.sample(true);
        now.extend(after.readings.clone());
        let mut span = std::mem::take(&mut self.span);
        span.account.step(&now);
        let counters = span.account.growth(&now);
        Closed { span, counters, after }
    }

    /// Takes the parent's readings; a failed one is absent, like a metric the host lacks.
    fn sample(&mut self, is_boundary: bool) -> Readings {
        let mut readings = Readings::new();
        for sampler in &mut self.samplers {
            readings.extend(sampler(is_boundary).unwrap_or_default());
        }
        readings
    }
}

#[cfg(test)]
mod tests {
    use load::{Interval, KindTally, ManualClock, StepEnd};
    use model::record::{Percentiles, SettleRecord, SpanningOp};
    use model::validity::{InvalidCause, Outcome, ProbeRecord, Purpose, SearchResult};
    use model::{Limit, Load, OpKind, Pace, StopRule};

    use super::*;

    fn step(load: Load) -> Step {
        Step {
            clients: 2,
            load,
            limit: Limit::parse("p99 < 2ms").ok(),
            ..Step::new("readrandom", StopRule::Duration(Nanos::SECOND))
        }
    }

    /// Gets of a millisecond each.
    fn gets(done: u64) -> GroupTally {
        let mut tally = KindTally::default();
        tally.response.record_n(1_000_000, done).unwrap();
        tally.service.record_n(900_000, done).unwrap();
        tally.counts.done = done;
        [(OpKind::Get, tally)].into()
    }

    /// The second `start` of a closed loop, or of one of a probe's.
    fn second(start: u64, done: u64, probe: Option<u32>) -> IntervalMessage {
        let interval = Interval { clients: gets(done), ..Interval::default() };
        IntervalMessage {
            probe,
            is_warmup: false,
            start: Nanos::from_secs(start),
            length: Nanos::SECOND,
            clients: tally::times(&interval.clients),
            writers: Vec::new(),
            start_lag: None,
            backlog: Nanos(0),
            growth: Readings::new(),
            engine: Readings::new(),
            spanning: Vec::new(),
        }
    }

    fn probe_begins(number: u32) -> ProbeBegins {
        let length = Nanos::SECOND;
        let offered_ops_per_s = None;
        ProbeBegins { number, purpose: Purpose::Confirm, clients: 3, offered_ops_per_s, length }
    }

    /// A search whose probes all were confirmations that ended like this.
    fn search_record(outcomes: &[Outcome]) -> SearchRecord {
        let probe = |(number, outcome): (u32, &Outcome)| ProbeRecord {
            number,
            purpose: Purpose::Confirm,
            clients: 3,
            offered_ops_per_s: None,
            throughput_ops_per_s: 5.0,
            goodput_ops_per_s: 5.0,
            late_share: 0.0,
            late_interval: (0.0, 0.0),
            response: Percentiles::default(),
            service: Percentiles::default(),
            duration_ns: Nanos::SECOND,
            debt_bytes: None,
            settle_time_ns: Nanos(0),
            outcome: *outcome,
            reason: String::new(),
        };
        SearchRecord {
            limit: None,
            probes: (0..).zip(outcomes).map(probe).collect(),
            found: Some(SearchResult { ops_per_s: 5.0, failed_ops_per_s: None, clients: 3 }),
            ended: "found".to_owned(),
            is_path_dependent: false,
        }
    }

    fn ends(clients: &GroupTally, search: Option<SearchRecord>) -> StepEnds {
        StepEnds {
            duration: Nanos::from_secs(2),
            clients: tally::times(clients),
            search,
            end: StepEnd::Finished,
            ..StepEnds::default()
        }
    }

    fn with_accumulator(load: Load, test: impl FnOnce(&mut StepAccumulator<'_>)) {
        let clock = ManualClock::new(Nanos(0));
        let step = step(load);
        let mut accumulator = StepAccumulator::open(&clock, Vec::new(), step.clone());
        accumulator.begin_step(0, step);
        test(&mut accumulator);
    }

    #[test]
    fn seconds_add_up_to_the_step() {
        with_accumulator(Load::Closed, |accumulator| {
            accumulator.begin_span(EngineState::default());
            for start in 0..2 {
                let recorded = accumulator.interval(&second(start, 50, None)).unwrap();
                assert_eq!((recorded.record.within_limit, recorded.record.probe), (Some(50), None));
            }
            let record = accumulator.end_step(ends(&gets(100), None)).unwrap();
            assert_eq!((record.seconds.seconds, record.within_limit), (2, Some(100)));
            assert_eq!(
                (record.invalid_intervals, record.load_status, record.arrivals),
                (None, None, None)
            );
        });
    }

    #[test]
    fn a_search_has_the_span_of_its_last_passed_confirmation() {
        with_accumulator(Load::FindRate(Pace::default()), |accumulator| {
            let outcomes = [Outcome::Passed, Outcome::Passed, Outcome::Failed];
            for (number, done) in (0..3).zip([10, 20, 30]) {
                accumulator.begin_probe(probe_begins(number));
                accumulator.begin_span(EngineState::default());
                let recorded = accumulator.interval(&second(0, done, Some(number))).unwrap();
                assert_eq!(recorded.record.probe, Some(number));
                assert_eq!(accumulator.end_probe(EngineState::default()), [false]);
                accumulator.take_search(&search_record(&outcomes[..=number as usize]));
            }
            let search = Some(search_record(&outcomes));
            let record = accumulator.end_step(ends(&gets(20), search)).unwrap();
            assert_eq!(record.within_limit, Some(20));
            assert!((record.seconds.max_ops - 20.0).abs() < 1e-9, "{:?}", record.seconds);
        });
    }

    #[test]
    fn a_search_that_confirmed_nothing_has_no_span_of_its_own() {
        with_accumulator(Load::FindRate(Pace::default()), |accumulator| {
            accumulator.begin_probe(probe_begins(0));
            accumulator.begin_span(EngineState::default());
            accumulator.interval(&second(0, 10, Some(0))).unwrap();
            accumulator.end_probe(EngineState::default());
            let search = SearchRecord { found: None, ..search_record(&[Outcome::Failed]) };
            accumulator.take_search(&search);
            let ends = StepEnds { search: Some(search), ..StepEnds::default() };
            let record = accumulator.end_step(ends).unwrap();
            assert!(record.clients.is_empty() && record.counters.is_empty());
            assert_eq!((record.duration_ns, record.within_limit), (Nanos(0), None));
            assert_eq!(record.findings.len(), 1, "{:?}", record.findings);
        });
    }

    /// Goal: what the settle takes is no cost of the step, and its own figure.
    /// Method: counters of the host that grow by 7 over the step and by 93 while it settles.
    #[test]
    fn settle_is_a_span_apart_from_its_step() {
        let read = |value: f64| -> Vec<sampler::Sampler> {
            let of_disk = (metric::DATA_DIR_BYTES, value);
            let counts = [metric::OTHERS_CPU_US, metric::DEVICE_WRITE_BYTES];
            let readings: Readings = counts.map(|name| (name, value)).into_iter().collect();
            vec![Box::new(move |_| {
                let mut readings = readings.clone();
                readings.extend([of_disk]);
                Ok(readings)
            })]
        };
        let debt = |bytes: f64| EngineState {
            readings: [(metric::ENGINE_DEBT_BYTES, bytes)].into(),
            ..EngineState::default()
        };
        let cpu = |us: f64| -> Readings { [(metric::PROCESS_CPU_USER_US, us)].into() };
        for load in [Load::Closed, Load::FindRate(Pace::default())] {
            with_accumulator(load.clone(), |accumulator| {
                accumulator.samplers = read(100.0);
                accumulator.begin_probe(probe_begins(0));
                accumulator.begin_span(debt(0.0));
                accumulator.interval(&second(0, 50, None)).unwrap();
                accumulator.samplers = read(107.0);
                let search = matches!(load, Load::FindRate(_)).then(|| {
                    accumulator.end_probe(debt(9.0));
                    let search = search_record(&[Outcome::Passed]);
                    accumulator.take_search(&search);
                    search
                });
                accumulator.begin_settle(debt(9.0));
                accumulator.samplers = read(200.0);
                let span = Some(Box::new(SettleSpan {
                    counters: cpu(5.0),
                    after: debt(1.0),
                    ..SettleSpan::default()
                }));
                let settle = SettleRecord { took_ns: Nanos(3), span, ..SettleRecord::default() };
                let ends =
                    StepEnds { settle: Some(settle), growth: cpu(2.0), ..ends(&gets(50), search) };
                let record = accumulator.end_step(ends).unwrap();
                let counts = |readings: &Readings| {
                    [metric::OTHERS_CPU_US, metric::DEVICE_WRITE_BYTES, metric::PROCESS_CPU_USER_US]
                        .map(|name| readings.value(name))
                };
                assert_eq!(counts(&record.counters), [7.0, 7.0, 2.0].map(Some));
                let settled = record.settle_counters().unwrap();
                assert_eq!(counts(settled), [93.0, 93.0, 5.0].map(Some));
                assert_eq!((&record.after, record.final_state()), (&debt(9.0), &debt(1.0)));
                let bytes = |of: &Readings| of.value(metric::DATA_DIR_BYTES);
                assert_eq!(bytes(&record.gauges_end), Some(107.0));
                assert_eq!(bytes(record.final_gauges()), Some(200.0));
                assert!(!record.counters_include_settle());
                assert_eq!(record.counted_ns(), record.duration_ns);
            });
        }
    }

    /// Goal: a step that is nothing but a settle keeps its counters.
    #[test]
    fn maintenance_step_has_the_counters_of_its_settle() {
        with_accumulator(Load::Closed, |accumulator| {
            accumulator.samplers =
                vec![Box::new(|_| Ok([(metric::DEVICE_WRITE_BYTES, 3.0)].into()))];
            accumulator.begin_span(EngineState::default());
            accumulator.samplers =
                vec![Box::new(|_| Ok([(metric::DEVICE_WRITE_BYTES, 8.0)].into()))];
            let settle = Some(SettleRecord::default());
            let ends = StepEnds { settle, end: StepEnd::Finished, ..StepEnds::default() };
            let record = accumulator.end_step(ends).unwrap();
            assert_eq!(record.counters.value(metric::DEVICE_WRITE_BYTES), Some(5.0));
            assert_eq!(record.settle_counters(), Some(&record.counters));
        });
    }

    /// A second without an operation, or the 55 ms after the fifth, in which a call ended.
    fn long_call(start: u64, length_ms: u64) -> IntervalMessage {
        let mut message = second(start, 0, None);
        if start == 5 {
            message.length = Nanos::from_millis(55);
            let mut tally = KindTally::default();
            tally.response.record(length_ms * 1_000_000).unwrap();
            tally.service.record(length_ms * 1_000_000).unwrap();
            (tally.counts.done, tally.counts.rows) = (1, 7);
            message.clients = tally::times(&[(OpKind::Define, tally)].into());
            let length = Nanos::from_millis(length_ms);
            message.spanning = vec![SpanningOp {
                kind: OpKind::Define,
                ended_ns: Nanos::from_millis(5_055),
                service_ns: length,
                response_ns: length,
                rows: 7,
                bytes: 0,
            }];
        }
        message
    }

    /// Goal: a call of five seconds that ends in an invalid tail of 55 ms counts with its time, and
    /// one that had most of its time in invalid intervals does not.
    #[test]
    fn a_long_call_that_ends_in_a_short_invalid_tail_counts() {
        for (length_ms, counted) in [(5_050, 1), (80, 0)] {
            let throttled = |us: f64| -> Vec<sampler::Sampler> {
                vec![Box::new(move |_| Ok([(metric::CGROUP_THROTTLED_US, us)].into()))]
            };
            let clock = ManualClock::new(Nanos(0));
            let step = Step { limit: Limit::parse("p99 < 6s").ok(), ..step(Load::Closed) };
            let mut accumulator = StepAccumulator::open(&clock, throttled(0.0), step.clone());
            accumulator.begin_step(0, step);
            accumulator.begin_span(EngineState::default());
            for start in 0..6 {
                let message = long_call(start, length_ms);
                clock.advance(message.length);
                if start == 5 {
                    accumulator.samplers = throttled(2e4);
                }
                let record = accumulator.interval(&message).unwrap().record;
                let is_tail = start == 5;
                assert_eq!(record.invalid.is_some(), is_tail, "{:?}", record.invalid);
                assert_eq!(record.spanning.len(), if is_tail { counted } else { 0 });
            }
            let mut all = KindTally::default();
            (all.counts.done, all.counts.rows) = (1, 7);
            let ends = ends(&[(OpKind::Define, all)].into(), None);
            let invalid_intervals = accumulator.end_step(ends).unwrap().invalid_intervals.unwrap();
            assert_eq!(invalid_intervals.valid_ns, Nanos::from_secs(5));
            assert_eq!(invalid_intervals.within_limit, Some(counted as u64));
            let Some(valid) = invalid_intervals.valid.get(&OpKind::Define) else {
                assert_eq!(counted, 0);
                continue;
            };
            assert_eq!((valid.counts.done, valid.counts.rows), (1, 7));
            let (p50, max) = (valid.service.p50_ns, valid.response.max_ns);
            assert!(
                [p50, max].iter().all(|ns| ns.abs_diff(5_050_000_000) < 6_000_000),
                "{valid:?}"
            );
        }
    }

    /// Goal: the parent's readings between two intervals are charged to the second, and only valid
    /// intervals are in the valid part.
    #[test]
    fn a_throttled_second_is_invalid_and_left_out() {
        let cap = |throttled_us: f64| -> Vec<sampler::Sampler> {
            vec![Box::new(move |_| Ok([(metric::CGROUP_THROTTLED_US, throttled_us)].into()))]
        };
        let clock = ManualClock::new(Nanos(0));
        let mut accumulator = StepAccumulator::open(&clock, cap(0.0), step(Load::Closed));
        accumulator.begin_step(0, step(Load::Closed));
        accumulator.begin_span(EngineState::default());
        let mut next = |start, done, throttled_us| {
            clock.rest_until(Nanos::from_secs(start + 1));
            accumulator.samplers = cap(throttled_us);
            accumulator.interval(&second(start, done, None)).unwrap().record.invalid
        };
        assert_eq!(next(0, 50, 0.0), None);
        assert_eq!(next(1, 9, 3e5).unwrap().cause, InvalidCause::Throttled);
        assert_eq!([next(2, 50, 3e5), next(3, 50, 3e5), next(4, 50, 3e5)], [None, None, None]);
        assert_eq!(next(5, 50, 3e5), None);
        let record = accumulator.end_step(ends(&gets(259), None)).unwrap();
        let invalid_intervals = record.invalid_intervals.unwrap();
        assert_eq!(
            (invalid_intervals.intervals, invalid_intervals.valid[&OpKind::Get].counts.done),
            (1, 250)
        );
        assert_eq!((record.within_limit, invalid_intervals.within_limit), (Some(259), Some(250)));
        assert_eq!(record.seconds.seconds, 5);
    }
}
