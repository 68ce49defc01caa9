//! Tests of the accumulation of a step.

use fold::{Counts, GroupTally, Groups, KindTally};
use load::{ManualClock, StepEnd};
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
    IntervalMessage {
        probe,
        is_warmup: false,
        start: Nanos::from_secs(start),
        length: Nanos::SECOND,
        clients: tally::times(&gets(done)),
        writers: Vec::new(),
        start_lag: None,
        backlog: Nanos(0),
        growth: Readings::new(),
        engine: Readings::new(),
        tables: model::TableReadings::new(),
        spanning: Vec::new(),
        decoded: None,
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

fn ends(clients: GroupTally, search: Option<SearchRecord>) -> StepEnds {
    StepEnds {
        duration: Nanos::from_secs(2),
        counts: Counts::of(&Groups { clients, ..Groups::default() }),
        search,
        end: StepEnd::Finished,
        ..StepEnds::default()
    }
}

fn with_accumulator(load: Load, test: impl FnOnce(&mut StepAccumulator<'_>)) {
    let clock = ManualClock::new(Nanos(0));
    let step = step(load);
    let mut accumulator = StepAccumulator::open(&clock, Vec::new(), step.clone(), Placement::Free);
    accumulator.begin_step(0, step);
    test(&mut accumulator);
}

#[test]
fn seconds_add_up_to_the_step() {
    with_accumulator(Load::Closed, |accumulator| {
        accumulator.begin_span(EngineState::default());
        for start in 0..2 {
            let recorded = accumulator.interval(&mut second(start, 50, None)).unwrap();
            assert_eq!((recorded.record.within_limit, recorded.record.probe), (Some(50), None));
        }
        let record = accumulator.end_step(ends(gets(100), None)).unwrap();
        assert_eq!((record.seconds.seconds, record.within_limit), (2, Some(100)));
        assert_eq!(
            (record.invalid_intervals, record.load_status, record.arrivals),
            (None, None, None)
        );
    });
}

/// Goal: intervals that are complete late have the readings of their own ends.
/// Method: each reading counts ten writes more; two seconds end, and are reported together, as in a
/// stall of two seconds.
#[test]
fn late_intervals_have_the_readings_of_their_ends() {
    let clock = ManualClock::new(Nanos(0));
    let step = step(Load::Closed);
    let mut writes = 0.0;
    let count: sampler::Sampler = Box::new(move |_| {
        writes += 10.0;
        [(metric::DEVICE_WRITES, writes)].into()
    });
    let mut accumulator = StepAccumulator::open(&clock, vec![count], step.clone(), Placement::Free);
    accumulator.begin_step(0, step);
    accumulator.begin_span(EngineState::default());
    for _ in 0..2 {
        clock.advance(Nanos::SECOND);
        accumulator.end_interval().unwrap();
    }
    clock.advance(Nanos::SECOND);
    for start in 0..2 {
        let recorded = accumulator.interval(&mut second(start, 50, None)).unwrap();
        let readings = &recorded.record.readings;
        assert_eq!(readings.value(metric::DEVICE_WRITES), Some(10.0), "second {start}");
        assert_eq!(readings.value(metric::HOST_SAMPLED_US), Some(1e6), "second {start}");
    }
}

#[test]
fn a_search_has_the_span_of_its_last_passed_confirmation() {
    with_accumulator(Load::FindRate(Pace::default()), |accumulator| {
        let outcomes = [Outcome::Passed, Outcome::Passed, Outcome::Failed];
        for (number, done) in (0..3).zip([10, 20, 30]) {
            accumulator.begin_probe(probe_begins(number));
            accumulator.begin_span(EngineState::default());
            let recorded = accumulator.interval(&mut second(0, done, Some(number))).unwrap();
            assert_eq!(recorded.record.probe, Some(number));
            assert_eq!(accumulator.end_probe(EngineState::default()), [false]);
            accumulator.take_search(&search_record(&outcomes[..=number as usize]));
        }
        let search = Some(search_record(&outcomes));
        let record = accumulator.end_step(ends(gets(20), search)).unwrap();
        assert_eq!(record.within_limit, Some(20));
        assert!((record.seconds.max_ops - 20.0).abs() < 1e-9, "{:?}", record.seconds);
    });
}

#[test]
fn a_search_that_confirmed_nothing_has_no_span_of_its_own() {
    with_accumulator(Load::FindRate(Pace::default()), |accumulator| {
        accumulator.begin_probe(probe_begins(0));
        accumulator.begin_span(EngineState::default());
        accumulator.interval(&mut second(0, 10, Some(0))).unwrap();
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
            readings
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
            if matches!(load, Load::FindRate(_)) {
                accumulator.begin_probe(probe_begins(0));
            }
            accumulator.begin_span(debt(0.0));
            accumulator.interval(&mut second(0, 50, None)).unwrap();
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
                StepEnds { settle: Some(settle), growth: cpu(2.0), ..ends(gets(50), search) };
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
        accumulator.samplers = vec![Box::new(|_| [(metric::DEVICE_WRITE_BYTES, 3.0)].into())];
        accumulator.begin_span(EngineState::default());
        accumulator.samplers = vec![Box::new(|_| [(metric::DEVICE_WRITE_BYTES, 8.0)].into())];
        let settle = Some(SettleRecord::default());
        let ends = StepEnds { settle, end: StepEnd::Finished, ..StepEnds::default() };
        let record = accumulator.end_step(ends).unwrap();
        assert_eq!(record.counters.value(metric::DEVICE_WRITE_BYTES), Some(5.0));
        assert_eq!(record.settle_counters(), Some(&record.counters));
    });
}

/// Goal: device time of a pause of Assay is in the step, with its span, and in no second.
/// Method: a device that is always busy, and a parent that is stopped from 2.3 s to 5.5 s.
#[test]
fn device_time_of_a_pause_is_in_no_second_and_in_the_sum() {
    let clock = ManualClock::new(Nanos(0));
    let step = step(Load::Closed);
    let mut accumulator = StepAccumulator::open(&clock, Vec::new(), step.clone(), Placement::Free);
    accumulator.begin_step(0, step);
    let at = |accumulator: &mut StepAccumulator<'_>, at| {
        clock.rest_until(at);
        let busy = (metric::DEVICE_BUSY_US, clock.now().as_micros_f64());
        accumulator.samplers = vec![Box::new(move |_| [busy].into_iter().collect())];
    };
    at(&mut accumulator, Nanos(0));
    accumulator.begin_span(EngineState::default());
    let reported = [1_000, 2_000, 5_500, 5_500, 5_500, 6_000, 7_000, 8_000];
    let seconds = (0..).zip(reported).map(|(start, reported)| {
        at(&mut accumulator, Nanos::from_millis(reported));
        let record = accumulator.interval(&mut second(start, 50, None)).unwrap().record;
        record.readings.value(metric::DEVICE_BUSY_US)
    });
    let seconds: Vec<_> = seconds.collect();
    accumulator.note_pause(Nanos::from_millis(3_200));
    let known = Some(1e6);
    assert_eq!(seconds, [known, known, None, None, None, None, known, known]);
    let record = accumulator.end_step(ends(gets(400), None)).unwrap();
    assert_eq!(record.counters.value(metric::DEVICE_BUSY_US), Some(8e6));
    assert_eq!(record.sampled_ns(), Nanos::from_secs(8));
    let [finding] = &record.findings[..] else { panic!("{:?}", record.findings) };
    assert_eq!(finding.code, model::rule_code::A059);
    assert!(
        finding.evidence.starts_with("Assay was paused for at least 3.20 s; readings "),
        "{finding:?}"
    );
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
            vec![Box::new(move |_| [(metric::CGROUP_THROTTLED_US, us)].into())]
        };
        let clock = ManualClock::new(Nanos(0));
        let step = Step { limit: Limit::parse("p99 < 6s").ok(), ..step(Load::Closed) };
        let mut accumulator =
            StepAccumulator::open(&clock, throttled(0.0), step.clone(), Placement::Free);
        accumulator.begin_step(0, step);
        accumulator.begin_span(EngineState::default());
        for start in 0..6 {
            let mut message = long_call(start, length_ms);
            clock.advance(message.length);
            if start == 5 {
                accumulator.samplers = throttled(2e4);
            }
            let record = accumulator.interval(&mut message).unwrap().record;
            let is_tail = start == 5;
            assert_eq!(record.invalid.is_some(), is_tail, "{:?}", record.invalid);
            assert_eq!(record.spanning.len(), if is_tail { counted } else { 0 });
        }
        let clients = tally::decode_times(&long_call(5, length_ms).clients).unwrap();
        let ends = ends(clients, None);
        let invalid_intervals = accumulator.end_step(ends).unwrap().invalid_intervals.unwrap();
        assert_eq!(invalid_intervals.valid_ns, Nanos::from_secs(5));
        assert_eq!(invalid_intervals.within_limit, Some(counted as u64));
        let Some(valid) = invalid_intervals.valid.get(&OpKind::Define) else {
            assert_eq!(counted, 0);
            continue;
        };
        assert_eq!((valid.counts.done, valid.counts.rows), (1, 7));
        let (p50, max) = (valid.service.p50_ns, valid.response.max_ns);
        assert!([p50, max].iter().all(|ns| ns.abs_diff(5_050_000_000) < 6_000_000), "{valid:?}");
    }
}

/// Goal: the parent's readings between two intervals are charged to the second, and only valid
/// intervals are in the valid part.
#[test]
fn a_throttled_second_is_invalid_and_left_out() {
    let cap = |throttled_us: f64| -> Vec<sampler::Sampler> {
        vec![Box::new(move |_| [(metric::CGROUP_THROTTLED_US, throttled_us)].into())]
    };
    let clock = ManualClock::new(Nanos(0));
    let mut accumulator =
        StepAccumulator::open(&clock, cap(0.0), step(Load::Closed), Placement::Free);
    accumulator.begin_step(0, step(Load::Closed));
    accumulator.begin_span(EngineState::default());
    let mut next = |start, done, throttled_us| {
        clock.rest_until(Nanos::from_secs(start + 1));
        accumulator.samplers = cap(throttled_us);
        accumulator.interval(&mut second(start, done, None)).unwrap().record.invalid
    };
    assert_eq!(next(0, 50, 0.0), None);
    assert_eq!(next(1, 9, 3e5).unwrap().cause, InvalidCause::Throttled);
    assert_eq!([next(2, 50, 3e5), next(3, 50, 3e5), next(4, 50, 3e5)], [None, None, None]);
    assert_eq!(next(5, 50, 3e5), None);
    let record = accumulator.end_step(ends(gets(259), None)).unwrap();
    let invalid_intervals = record.invalid_intervals.unwrap();
    assert_eq!(
        (invalid_intervals.intervals, invalid_intervals.valid[&OpKind::Get].counts.done),
        (1, 250)
    );
    assert_eq!((record.within_limit, invalid_intervals.within_limit), (Some(259), Some(250)));
    assert_eq!(record.seconds.seconds, 5);
}
