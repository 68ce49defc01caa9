//! Tests of the classification, on recorded evidence.

use model::{CpuCount, Limit, Placement};

use super::*;
use crate::validity::evidence::ClientReadings;

const SECOND: Nanos = Nanos::SECOND;

/// Two clients on two CPUs, without a limit.
const TWO: Setting = Setting {
    clients: 2,
    cpus: CpuCount::of(2),
    is_elsewhere: false,
    placement: Placement::Free,
    limit: None,
    calibrated_lag: None,
};

/// A second of an open loop on a quiet host, as recorded with RocksDB: readers at half of what
/// they can do, some CPU of its own threads, the odd tick of steal.
fn quiet() -> Evidence {
    Evidence {
        start: Nanos(0),
        length: SECOND,
        start_lag: Some(StartLag {
            starts: 30_000,
            late: 12,
            late_total: Nanos(9_000_000),
            over_limit: Nanos(0),
            p99: Nanos(18_000),
            max: Nanos(2_100_000),
        }),
        backlog: Nanos(40_000),
        response_max: Nanos::from_millis(4),
        done: 40_000,
        over_limit: 0,
        own: ClientReadings {
            process_cpu: Some(1_300_000.0),
            client_cpu: Some(1_050_000.0),
            harness_cpu: Some(9_000.0),
            run_queue: Some(21_000.0),
            idle: Some(900_000.0),
            pause: Some(6_000.0),
            preemptions: Some(40.0),
        },
        outside: Outside {
            span: SECOND,
            steal: Some(10_000.0),
            throttled: Some(0.0),
            others: Some(30_000.0),
            busy: Some(1_400_000.0),
        },
    }
}

/// The same of a closed loop, without arrivals.
fn closed() -> Evidence {
    let mut evidence = quiet();
    (evidence.start_lag, evidence.backlog) = (None, Nanos(0));
    evidence.own.idle = Some(0.0);
    evidence
}

fn lag(late: u64, p99_us: u64, max_us: u64) -> Option<StartLag> {
    let (p99, max) = (Nanos(p99_us * 1000), Nanos(max_us * 1000));
    let late_total = Nanos(late * (p99.0 / 4) + max.0);
    let over_limit = max.since(Nanos::from_millis(10));
    Some(StartLag { starts: 30_000, late, late_total, over_limit, p99, max })
}

/// Classifies a changed quiet second: the cause, or why it is valid.
fn classified(
    mut evidence: Evidence,
    change: impl FnOnce(&mut Evidence),
) -> Result<InvalidCause, Classification> {
    change(&mut evidence);
    match IntervalClassifier::new(TWO).classify(&evidence) {
        Classification::Invalid(invalid) => Ok(invalid.cause),
        counts @ (Classification::InTime | Classification::EngineHadTheCpus) => Err(counts),
    }
}

#[test]
fn a_quiet_second_is_valid_in_a_stall_or_full_load_of_the_engine() {
    for quiet in [quiet(), closed()] {
        assert_eq!(classified(quiet, |_| {}), Err(Classification::InTime));
        // A stall: no operation ends, and arrivals wait. No client is free to be late.
        let stall = |evidence: &mut Evidence| {
            evidence.response_max = Nanos::from_secs(1);
            evidence.backlog = Nanos::from_secs(1);
            evidence.start_lag = evidence.start_lag.map(|_| StartLag::default());
            evidence.own.run_queue = Some(0.0);
        };
        assert_eq!(classified(quiet, stall), Err(Classification::InTime));
        // Every CPU is in use, by the engine itself.
        let busy = |evidence: &mut Evidence| {
            evidence.own.process_cpu = Some(1_990_000.0);
            evidence.own.run_queue = Some(400_000.0);
            evidence.own.pause = Some(90_000.0);
            evidence.outside.busy = Some(2_000_000.0);
        };
        assert_eq!(classified(quiet, busy), Err(Classification::InTime));
    }
}

#[test]
fn unknown_accounts_are_evidence_of_no_cause() {
    for mut unknown in [quiet(), closed()] {
        (unknown.own, unknown.outside) = (ClientReadings::default(), Outside::default());
        assert_eq!(classified(unknown, |_| {}), Err(Classification::InTime));
    }
}

#[test]
fn an_interval_with_a_late_client_is_invalid_by_its_likeliest_cause() {
    let late = |evidence: &mut Evidence| evidence.start_lag = lag(900, 4_000, 38_000);
    let with = |change: fn(&mut Evidence)| {
        classified(quiet(), |evidence| {
            late(evidence);
            change(evidence);
        })
    };
    assert_eq!(with(|_| {}), Ok(InvalidCause::Client));
    assert_eq!(with(|it| it.outside.throttled = Some(30_000.0)), Ok(InvalidCause::Throttled));
    assert_eq!(with(|it| it.outside.steal = Some(30_000.0)), Ok(InvalidCause::Steal));
    let busy_neighbour = |it: &mut Evidence| {
        it.outside.others = Some(900_000.0);
        it.own.run_queue = Some(300_000.0);
    };
    assert_eq!(with(busy_neighbour), Ok(InvalidCause::Neighbours));
    let stopped = |it: &mut Evidence| {
        it.own.pause = Some(300_000.0);
        it.own.process_cpu = Some(900_000.0);
        it.outside.busy = Some(950_000.0);
    };
    assert_eq!(with(stopped), Ok(InvalidCause::Paused));
    let neighbour_and_steal = |it: &mut Evidence| {
        it.outside.steal = Some(30_000.0);
        (it.outside.others, it.own.run_queue) = (Some(900_000.0), Some(300_000.0));
    };
    assert_eq!(with(neighbour_and_steal), Ok(InvalidCause::Neighbours), "the one that took more");
    // One tick of steal is there on any virtual machine; it explains no 38 ms.
    assert_eq!(with(|it| it.outside.steal = Some(10_000.0)), Ok(InvalidCause::Client));
}

#[test]
fn intervals_with_clients_delayed_by_the_engine_are_valid() {
    let compaction = |evidence: &mut Evidence| {
        evidence.start_lag = lag(400, 2_000, 38_000);
        evidence.own.process_cpu = Some(1_950_000.0);
        evidence.own.client_cpu = Some(900_000.0);
        evidence.own.run_queue = Some(250_000.0);
        evidence.own.pause = Some(70_000.0);
        evidence.outside.busy = Some(1_980_000.0);
    };
    assert_eq!(classified(quiet(), compaction), Err(Classification::EngineHadTheCpus));
    // The same with a busy neighbour: the cause is unknown, so it is invalid.
    let busy_neighbour = |evidence: &mut Evidence| {
        compaction(evidence);
        evidence.outside.others = Some(600_000.0);
    };
    assert_eq!(classified(quiet(), busy_neighbour), Ok(InvalidCause::Neighbours));
    // More calls into the engine at once than CPUs.
    let crowd = Setting { clients: 8, ..TWO };
    let mut evidence = quiet();
    compaction(&mut evidence);
    evidence.own.client_cpu = evidence.own.process_cpu;
    assert_eq!(
        IntervalClassifier::new(crowd).classify(&evidence),
        Classification::EngineHadTheCpus
    );
}

#[test]
fn clients_that_spin_against_each_other_are_the_cause() {
    // Eight clients, none of which has anything to do most of the time, on two CPUs.
    let crowd = Setting { clients: 8, ..TWO };
    let mut evidence = quiet();
    evidence.start_lag = lag(9_000, 9_000, 40_000);
    evidence.own.process_cpu = Some(1_990_000.0);
    evidence.own.client_cpu = Some(1_980_000.0);
    evidence.own.run_queue = Some(5_800_000.0);
    evidence.own.idle = Some(7_700_000.0);
    evidence.outside.busy = Some(2_000_000.0);
    let Classification::Invalid(invalid) = IntervalClassifier::new(crowd).classify(&evidence)
    else {
        panic!()
    };
    assert_eq!(invalid.cause, InvalidCause::Client);
    assert!(invalid.evidence.contains("preempted 40 times"), "{}", invalid.evidence);
}

#[test]
fn a_closed_loop_is_classified_by_its_waits_for_a_cpu() {
    let busy_neighbour = |queued: f64, others: f64| {
        classified(closed(), |evidence| {
            evidence.own.run_queue = Some(queued);
            evidence.outside.others = Some(others);
        })
    };
    assert_eq!(busy_neighbour(500_000.0, 900_000.0), Ok(InvalidCause::Neighbours));
    assert_eq!(
        busy_neighbour(500_000.0, 60_000.0),
        Err(Classification::InTime),
        "own threads, no neighbour"
    );
    assert_eq!(busy_neighbour(20_000.0, 900_000.0), Err(Classification::InTime), "enough CPUs");
    let with = |change: fn(&mut Evidence)| classified(closed(), change);
    assert_eq!(with(|it| it.outside.throttled = Some(80_000.0)), Ok(InvalidCause::Throttled));
    assert_eq!(with(|it| it.outside.steal = Some(80_000.0)), Ok(InvalidCause::Steal));
    assert_eq!(with(|it| it.outside.steal = Some(20_000.0)), Err(Classification::InTime));
    let stopped = |it: &mut Evidence| {
        it.own.pause = Some(300_000.0);
        it.own.process_cpu = Some(1_300_000.0);
    };
    // A coordinator that waits for a CPU next to a busy process has not been stopped.
    let with_a_neighbour = |it: &mut Evidence| {
        it.own.pause = Some(90_000.0);
        it.own.process_cpu = Some(510_000.0);
        it.own.run_queue = Some(480_000.0);
        (it.outside.others, it.outside.busy) = (Some(1_250_000.0), Some(2_000_000.0));
    };
    assert_eq!(with(with_a_neighbour), Ok(InvalidCause::Neighbours));
    // As recorded with four busy processes per CPU: ticks have left 4 % of the CPUs unused.
    let with_four_neighbours = |it: &mut Evidence| {
        it.own.pause = Some(90_000.0);
        it.own.process_cpu = Some(190_000.0);
        it.own.run_queue = Some(826_000.0);
        (it.outside.others, it.outside.busy) = (Some(1_660_000.0), Some(1_920_000.0));
    };
    assert_eq!(with(with_four_neighbours), Ok(InvalidCause::Neighbours));
    assert_eq!(with(stopped), Ok(InvalidCause::Paused));
}

/// Goal: a second in which the worker was stopped is invalid though others left no CPU unused,
/// and no client was late: none began an operation.
#[test]
fn a_worker_stopped_on_a_busy_host_is_detected() {
    let stopped = |it: &mut Evidence| {
        it.start_lag = Some(StartLag::default());
        it.own.pause = Some(1_195_000.0);
        it.own.process_cpu = Some(60_000.0);
        it.own.run_queue = Some(1_600.0);
        (it.outside.others, it.outside.busy) = (Some(2_000_000.0), Some(2_000_000.0));
    };
    assert_eq!(classified(quiet(), stopped), Ok(InvalidCause::Paused));
    // An engine that had all CPUs itself.
    let crowded = |it: &mut Evidence| {
        stopped(it);
        it.own.pause = Some(600_000.0);
        it.own.process_cpu = Some(1_950_000.0);
        it.outside.others = Some(20_000.0);
    };
    assert_eq!(classified(quiet(), crowded), Err(Classification::InTime));
}

#[test]
fn a_stop_by_throttling_or_steal_is_no_pause() {
    for cause in [InvalidCause::Throttled, InvalidCause::Steal] {
        let held = |it: &mut Evidence| {
            it.own.pause = Some(500_000.0);
            it.own.process_cpu = Some(700_000.0);
            it.outside.busy = Some(750_000.0);
            let us = Some(520_000.0);
            if cause == InvalidCause::Steal {
                it.outside.steal = us;
            } else {
                it.outside.throttled = us;
            }
        };
        assert_eq!(classified(closed(), held), Ok(cause));
    }
}

#[test]
fn lateness_is_measured_against_the_limit() {
    let limited = |text: &str| Setting { limit: Limit::parse(text).ok(), ..TWO };
    assert_eq!(lag_allowed(&limited("p99 < 20ms")), Nanos::from_millis(1));
    assert_eq!(lag_allowed(&limited("p99 < 200us")), LAG_MIN);
    assert_eq!(lag_allowed(&TWO), LAG_MIN);
    let on =
        |host_us: u64| lag_allowed(&Setting { calibrated_lag: Some(Nanos(host_us * 1000)), ..TWO });
    assert_eq!([on(5), on(110), on(9_000)], [LAG_MIN, Nanos(330_000), LAG_CALIBRATED_MAX]);
}

/// Goal: one client that waits 24 ms for a CPU delays no arrival while the other goes on, and
/// thousands when it is alone.
#[test]
fn a_rare_long_lag_is_invalid_when_it_shows_in_the_response_times() {
    let lagged = |over_limit: u64, clients: u32, limit: &str| {
        let setting = Setting { clients, limit: Limit::parse(limit).ok(), ..TWO };
        let mut evidence = quiet();
        evidence.start_lag = lag(1, 20, 24_000);
        (evidence.over_limit, evidence.outside.steal) = (over_limit, Some(0.0));
        !matches!(IntervalClassifier::new(setting).classify(&evidence), Classification::InTime)
    };
    assert_eq!([lagged(1, 2, ""), lagged(15, 2, ""), lagged(400, 1, "")], [false, false, true]);
    assert!(lagged(400, 1, "p99.9 < 10ms") && lagged(400, 1, "p99 < 10ms"));
    assert!(!lagged(90, 1, "p99 < 10ms"), "90 late of 40,000 break no p99");
}

#[test]
fn more_than_one_start_of_a_hundred_must_surely_be_late() {
    let of = |starts, late| {
        classified(quiet(), |evidence| {
            let (p99, max) = (Nanos::from_millis(2), Nanos::from_millis(2));
            let late_total = Nanos(late * max.0);
            let over_limit = Nanos(0);
            evidence.start_lag = Some(StartLag { starts, late, late_total, over_limit, p99, max });
        })
    };
    // One harmless tick of steal explains 2 ms.
    let steal = Ok(InvalidCause::Steal);
    assert_eq!([of(50, 2), of(50, 3)], [Err(Classification::InTime), steal.clone()]);
    assert_eq!([of(1_000, 19), of(1_000, 20)], [Err(Classification::InTime), steal.clone()]);
    assert_eq!([of(100_000, 1_090), of(100_000, 1_100)], [Err(Classification::InTime), steal]);
}

/// Goal: a worker that waited while neighbours had the CPUs was not stopped.
/// Method: its coordinator came 800 ms late, and so long its clients waited in the run queue.
#[test]
fn a_descheduled_worker_is_charged_to_the_neighbours() {
    let descheduled = |it: &mut Evidence| {
        it.own.pause = Some(800_000.0);
        it.own.run_queue = Some(1_600_000.0);
        it.own.process_cpu = Some(70_000.0);
        it.own.client_cpu = Some(70_000.0);
        it.outside.others = Some(1_900_000.0);
        it.outside.busy = Some(1_990_000.0);
    };
    assert_eq!(classified(closed(), descheduled), Ok(InvalidCause::Neighbours));
}

/// Goal: every second in which a worker was stopped is invalid, although it reports the stop only
/// when it goes on, and so are the seconds in which it catches up.
#[test]
fn a_long_stop_and_its_backlog_are_invalid() {
    let mut classifier = IntervalClassifier::new(TWO);
    assert_eq!(classifier.classify(&quiet()), Classification::InTime);
    let mut causes = Vec::new();
    let stop = [2_600_000.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let backlogs = [900, 1900, 2500, 900, 0, 0];
    for (second, (pause, backlog)) in (1..).zip(stop.into_iter().zip(backlogs)) {
        let mut evidence = quiet();
        evidence.start = Nanos::from_secs(second);
        evidence.backlog = Nanos::from_millis(backlog);
        evidence.own.pause = Some(pause);
        if second < 4 {
            evidence.own.process_cpu = Some(200_000.0);
            evidence.outside.busy = Some(230_000.0);
        }
        match classifier.classify(&evidence) {
            Classification::Invalid(invalid) => causes.push(Some(invalid.cause)),
            Classification::InTime | Classification::EngineHadTheCpus => causes.push(None),
        }
    }
    let (paused, after) = (Some(InvalidCause::Paused), Some(InvalidCause::Aftermath));
    assert_eq!(causes, [paused, paused, paused, after, after, None]);
}

#[test]
fn a_backlog_the_engine_makes_itself_is_no_aftermath() {
    let mut classifier = IntervalClassifier::new(TWO);
    let mut second = 0;
    let mut with = |backlog_ms: u64, is_late: bool| {
        let mut evidence = quiet();
        evidence.start = Nanos::from_secs(second);
        second += 1;
        evidence.backlog = Nanos::from_millis(backlog_ms);
        if is_late {
            evidence.start_lag = lag(900, 4_000, 38_000);
        }
        matches!(classifier.classify(&evidence), Classification::Invalid(_))
    };
    // Overloaded before: the invalid interval left no longer backlog.
    assert_eq!([with(500, false), with(700, true), with(900, false)], [false, true, true]);
    assert_eq!([with(1100, false), with(1300, false)], [false, false]);
}

#[test]
fn an_operation_due_before_an_invalid_interval_ended_is_its_aftermath() {
    let mut classifier = IntervalClassifier::new(TWO);
    let mut evidence = closed();
    evidence.outside.throttled = Some(400_000.0);
    assert!(matches!(classifier.classify(&evidence), Classification::Invalid(_)));
    let mut next = closed();
    next.start = SECOND;
    next.response_max = Nanos::from_millis(1_200);
    let Classification::Invalid(invalid) = classifier.classify(&next) else { panic!() };
    assert_eq!(invalid.cause, InvalidCause::Aftermath);
    next.start = Nanos::from_secs(2);
    assert_eq!(classifier.classify(&next), Classification::InTime);
}
