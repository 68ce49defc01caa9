//! Tests of coordinated omission: stalls and overload in closed and open loops.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};

use engine::EngineError;
use model::record::{OpSummary, SpanningOp};
use model::{
    Arrivals, Load, Nanos, Op, OpKind, OpenLoad, Outcome, Pace, Pacing, Rate, StopRule, metric,
};
use proptest::prelude::*;
use workload::random::Stream;

use crate::client_pool::{Event, StepTotals, run_step};
use crate::clock::{ManualClock, SteadyClock};
use crate::schedule::ArrivalProcess;
use crate::tally::{KindTally, empty_histogram, percentiles};
use crate::testing::{Plain, Scripted, constant, group, open, step};
use crate::traits::Clock;

/// Runs 10 s on a simulated engine with 50 us of service time, and one operation of `stall`.
fn simulate(load: Load, stall: Nanos) -> StepTotals {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|number, _: &Op<'_>| {
        clock.advance(if number == 20_000 { stall } else { Nanos(50_000) });
        Ok(Outcome::Done)
    });
    let mut step = step(&engine, 1, StopRule::Duration(Nanos::from_secs(10)));
    step.clients.load = load;
    step.interval = Nanos::from_secs(60);
    run_step(&clock, &mut step, &mut |_| {}).expect("a step that makes sense")
}

fn summary(totals: &StepTotals) -> OpSummary {
    let KindTally { counts, response, service } = &totals.clients[&OpKind::Get];
    let (response, service) = (percentiles(response), percentiles(service));
    OpSummary { counts: *counts, response, service }
}

/// Returns whether a time is the scripted one, within the histogram's resolution.
fn is(found_ns: u64, scripted_ns: u64) -> bool {
    found_ns.abs_diff(scripted_ns) * 1000 <= scripted_ns
}

#[test]
fn stall_is_charged_to_every_late_arrival_of_an_open_loop() {
    // Goal: a stall of 1 s at 10 k/s is in the response times of all arrivals due meanwhile.
    // Method: the 10,000 late operations, and those due while their backlog is worked off
    // (half as fast again as they come), are a fifth of all 100,000.
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let totals = simulate(open(10_000.0, arrivals), Nanos::SECOND);
        let found = summary(&totals);
        let offered = totals.arrivals.as_ref().unwrap().offered;
        assert!(offered.abs_diff(100_000) < 1_000, "{offered}");
        assert!(is(found.response.max_ns, 1_000_000_000), "{found:?}");
        assert!(found.response.p999_ns > 950_000_000, "{found:?}");
        assert!(found.response.p90_ns > 300_000_000, "{found:?}");
        // The engine was slow once.
        assert!(is(found.service.p50_ns, 50_000) && is(found.service.p9999_ns, 50_000));
        assert!(is(found.service.max_ns, 1_000_000_000), "{found:?}");
        // And the client never was.
        let lags = totals.arrivals.unwrap().start_lag;
        assert!(lags.max() == 0 && !lags.is_empty());
    }
    let equal = summary(&simulate(constant(10_000.0), Nanos::SECOND));
    assert!(is(equal.response.p50_ns, 50_000), "{equal:?}");
    assert_eq!(equal.counts.done, 100_000);
}

#[test]
fn stall_is_one_slow_operation_of_a_closed_loop() {
    let closed = summary(&simulate(Load::Closed, Nanos::SECOND));
    assert_eq!(closed.counts.done, 180_001);
    assert_eq!(closed.response, closed.service);
    assert!(is(closed.response.p9999_ns, 50_000), "{closed:?}");
    assert!(is(closed.service.max_ns, 1_000_000_000), "{closed:?}");
}

/// Runs 20 operations of `length(number)` on one client with intervals of a second.
fn closed(
    length: impl Fn(u64) -> Result<Nanos, (Nanos, EngineError)> + Send + Sync,
) -> (StepTotals, Vec<SpanningOp>) {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|number, _: &Op<'_>| match length(number) {
        Ok(length) => {
            clock.advance(length);
            Ok(Outcome::Done)
        }
        Err((length, error)) => {
            clock.advance(length);
            Err(error)
        }
    });
    let mut step = step(&engine, 1, StopRule::Operations(20));
    step.interval = Nanos::SECOND;
    let mut spanning = Vec::new();
    let totals = run_step(&clock, &mut step, &mut |event| {
        if let Event::Interval(interval) = event {
            spanning.extend(interval.spanning.clone());
        }
    });
    (totals.unwrap(), spanning)
}

/// Goal: an operation that began in an earlier interval than it ended in is reported as such.
#[test]
fn an_operation_longer_than_its_interval_is_reported_with_its_beginning() {
    let seconds = Nanos::from_secs(5);
    let (_, spanning) = closed(|number| Ok(if number == 7 { seconds } else { Nanos(1_000_000) }));
    let [op] = spanning[..] else { panic!("{spanning:?}") };
    assert_eq!((op.kind, op.service_ns, op.response_ns), (OpKind::Get, seconds, seconds));
    assert!(op.ended_ns > seconds && op.ended_ns < Nanos::from_millis(5_100), "{op:?}");
    assert_eq!(closed(|_| Ok(Nanos(1_000_000))).1, []);
}

/// Goal: an outage is part of the time of the operation that waited for it.
/// Method: one operation loses its connection, which takes 530 ms to replace; the one done in its
/// place has that time, and nothing else has.
#[test]
fn an_outage_is_charged_to_the_operation_that_waited() {
    let (outage, usual) = (Nanos::from_millis(530), Nanos::from_millis(1));
    let lost = || EngineError::LostConnection("restarted".to_owned());
    let (totals, _) = closed(|number| if number == 7 { Err((outage, lost())) } else { Ok(usual) });
    let found = summary(&totals);
    let counts = found.counts;
    assert_eq!((counts.done, counts.failed, counts.replacing), (19, 1, 1));
    assert_eq!(counts.failures.phrase(), "1 lost connection");
    assert!(is(found.service.max_ns, 531_000_000) && is(found.response.max_ns, 531_000_000));
    assert!(is(found.service.p90_ns, 1_000_000), "{found:?}");
}

/// Goal: the time in which a client thinks before it retries is no part of the request's.
/// Method: calls of 1 ms with pauses of 100 ms; the fourth and fifth fail. The call done in their
/// place has the time of three.
#[test]
fn time_to_think_before_a_retry_is_not_charged() {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|number, _: &Op<'_>| {
        clock.advance(Nanos::from_millis(1));
        match number {
            4 | 5 => Err(EngineError::Deadlock("scripted".to_owned())),
            _ => Ok(Outcome::Done),
        }
    });
    let mut step = step(&engine, 1, StopRule::Operations(20));
    let mut calls = Plain::new(OpKind::Transaction, 20);
    calls.pause = Nanos::from_millis(100);
    step.clients = group(vec![calls], BTreeSet::from([OpKind::Transaction]));
    let totals = run_step(&clock, &mut step, &mut |_| {}).unwrap();
    let KindTally { counts, response, service } = &totals.clients[&OpKind::Transaction];
    assert_eq!((counts.done, counts.failed, counts.replacing), (18, 2, 1));
    for times in [percentiles(response), percentiles(service)] {
        assert!(is(times.max_ns, 3_000_000) && is(times.p90_ns, 1_000_000), "{times:?}");
    }
}

/// Goal: in an open loop the arrivals after a failed one wait for it; each is a request of its own.
#[test]
fn an_outage_of_an_open_loop_is_in_the_response_times_of_later_arrivals() {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|number, _: &Op<'_>| {
        clock.advance(if number == 70 { Nanos::from_millis(530) } else { Nanos(1_000) });
        if number == 70 {
            Err(EngineError::Deadlock("scripted".to_owned()))
        } else {
            Ok(Outcome::Done)
        }
    });
    let mut step = step(&engine, 1, StopRule::Duration(Nanos::from_secs(2)));
    step.clients.load = constant(1_000.0);
    let found = summary(&run_step(&clock, &mut step, &mut |_| {}).unwrap());
    assert_eq!((found.counts.failed, found.counts.replacing), (1, 0));
    assert!(is(found.service.max_ns, 1_000) && found.response.max_ns > 525_000_000, "{found:?}");
}

#[test]
fn an_offered_rate_below_the_capacity_is_met() {
    for ops_per_s in [1.0, 333.3, 12_345.6] {
        let met = summary(&simulate(constant(ops_per_s), Nanos(50_000)));
        let rate = met.counts.done as f64 / 10.0;
        assert!((rate - ops_per_s).abs() <= 0.1, "{rate} of {ops_per_s}");
        assert!(is(met.response.max_ns, 50_000), "{met:?}");
    }
}

#[test]
fn an_overload_counts_every_unserved_arrival_as_censored() {
    // 30 k/s are offered to an engine that can do 20 k/s: each operation starts later.
    let totals = simulate(constant(30_000.0), Nanos(50_000));
    let (tally, arrivals) = (&totals.clients[&OpKind::Get], totals.arrivals.as_ref().unwrap());
    assert_eq!((tally.counts.done, arrivals.offered), (200_000, 300_000));
    assert_eq!((arrivals.censored.len(), tally.response.len()), (100_000, 300_000));
    assert!(is(summary(&totals).service.max_ns, 50_000));
    // The oldest of the third that was not served came due after two thirds of the 10 s.
    assert!(is(arrivals.backlog.0, 3_333_333_333), "{:?}", arrivals.backlog);
    assert!(is(arrivals.censored.max(), 3_333_333_333) && is(tally.response.max(), 3_333_333_333));
    // No arrival but the first met a client that waited: the client was never late.
    assert_eq!((arrivals.start_lag.len(), arrivals.start_lag.max()), (1, 0));
    assert!((totals.readings[metric::OFFERED_OPS] - 300_000.0).abs() < 1e-9);
    assert!(totals.readings[metric::CLIENT_IDLE_US] < 17.0);
}

#[test]
fn an_engine_that_answers_nothing_leaves_all_arrivals_censored() {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|_, _: &Op<'_>| {
        clock.advance(Nanos::from_secs(10));
        Err(EngineError::Fatal("gone".to_owned()))
    });
    let mut step = step(&engine, 1, StopRule::Duration(Nanos::from_secs(10)));
    step.clients.load = constant(1_000.0);
    let totals = run_step(&clock, &mut step, &mut |_| {}).unwrap();
    let (tally, arrivals) = (&totals.clients[&OpKind::Get], totals.arrivals.unwrap());
    assert_eq!((tally.counts.failed, tally.counts.done, arrivals.offered), (1, 0, 10_000));
    assert_eq!((arrivals.censored.len(), tally.response.len()), (9_999, 9_999));
}

#[test]
fn one_slow_operation_delays_no_other_client() {
    // Goal: each arrival is served by the first client that is free.
    // Method: two clients on a simulated clock; the first operation does not end before all
    // others have, a second of arrivals later.
    const ALL: u64 = 5_000;
    let (clock, done) = (ManualClock::new(Nanos(1)), (Mutex::new(0u64), Condvar::new()));
    let engine = Scripted::new(|_, op: &Op<'_>| {
        let mut count = done.0.lock().unwrap();
        let is_first = *count == 0 && op.kind() == OpKind::Get;
        *count += 1;
        if is_first {
            drop(done.1.wait_while(count, |count| *count < ALL).unwrap());
        } else {
            clock.advance(Nanos(50_000));
            done.1.notify_all();
        }
        Ok(Outcome::Done)
    });
    let mut step = step(&engine, 2, StopRule::Operations(ALL));
    step.clients.load = constant(5_000.0);
    step.interval = Nanos::from_secs(60);
    let totals = run_step(&clock, &mut step, &mut |_| {}).unwrap();
    let (found, arrivals) = (summary(&totals), totals.arrivals.unwrap());
    assert_eq!((found.counts.done, arrivals.offered, arrivals.censored.len()), (ALL, ALL, 0));
    assert!(found.response.max_ns > 990_000_000, "{found:?}");
    // A gap is 200 us, and a waiting client moves the clock by as much: no other arrival was late.
    assert!(found.response.p999_ns <= 251_000, "{found:?}");
    assert!(arrivals.start_lag.max() <= 201_000, "{:?}", arrivals.start_lag.max());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn one_client_is_a_single_server_queue(
        ops_per_s in 200f64..60_000.0,
        is_constant in any::<bool>(),
        seed in any::<u64>(),
        longest_ns in 1u64..2_000_000,
    ) {
        // Goal: intended times do not depend on the engine, and every recorded time is right.
        // Method: Lindley's recursion, start = max(due, end of the last), over the arrivals taken
        // from the process by itself and service times that vary, gives the same histograms.
        let span = Nanos::from_millis(300);
        let services = Stream::fixed(seed ^ 1);
        let service = |number: u64| Nanos(1 + services.word(number) % longest_ns);
        let clock = ManualClock::new(Nanos(1));
        let engine = Scripted::new(|number, _: &Op<'_>| {
            clock.advance(service(number));
            Ok(Outcome::Done)
        });
        let arrivals = if is_constant { Arrivals::Constant } else { Arrivals::Poisson };
        let load = open(ops_per_s, arrivals);
        let mut step = step(&engine, 1, StopRule::Duration(span));
        (step.clients.load, step.arrival_seed) = (load.clone(), seed);
        step.interval = Nanos::from_secs(60);
        let totals = run_step(&clock, &mut step, &mut |_| {}).unwrap();

        let Load::Open(load) = load else { unreachable!("it was made so") };
        let mut expected = KindTally::default();
        let (mut end, mut done, mut lags, mut censored) = (Nanos(0), 0, 0, empty_histogram());
        let dues = ArrivalProcess::new(&load, seed, Nanos(0)).take_while(|due| *due < span);
        for due in dues {
            if end >= span {
                censored.record(span.since(due).0).unwrap();
                expected.response.record(span.since(due).0).unwrap();
                continue;
            }
            lags += u64::from(due > end);
            end = due.max(end).after(service(done));
            expected.service.record(service(done).0).unwrap();
            expected.response.record(end.since(due).0).unwrap();
            done += 1;
        }
        let found = totals.clients.get(&OpKind::Get).cloned().unwrap_or_default();
        let arrivals = totals.arrivals.unwrap();
        prop_assert_eq!(found.counts.done, done);
        prop_assert_eq!(arrivals.offered, done + censored.len());
        prop_assert_eq!((arrivals.start_lag.len(), arrivals.start_lag.max()), (lags, 0));
        for (ours, theirs) in [
            (&found.service, &expected.service),
            (&found.response, &expected.response),
            (&arrivals.censored, &censored),
        ] {
            prop_assert_eq!(ours.len(), theirs.len());
            for quantile in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
                let (ours, theirs) =
                    (ours.value_at_quantile(quantile), theirs.value_at_quantile(quantile));
                prop_assert!(found.service.equivalent(ours, theirs), "{ours} is not {theirs}");
            }
        }
    }
}

#[test]
fn on_the_real_clock_a_stall_is_charged_to_late_arrivals() {
    // Goal: as above, with real threads and waits.
    // Method: one operation sleeps for 400 ms of 800; half of the arrivals are late by up to that,
    // however busy the host is. In the closed loop it is one operation of all.
    let clock = SteadyClock::calibrate();
    let run = |load| {
        let engine = Scripted::new(|number, _: &Op<'_>| {
            if number == 200 {
                clock.rest_until(clock.now().after(Nanos::from_millis(400)));
            }
            Ok(Outcome::Done)
        });
        let mut step = step(&engine, 1, StopRule::Duration(Nanos::from_millis(800)));
        step.clients.load = load;
        run_step(&clock, &mut step, &mut |_| {}).unwrap()
    };
    let totals = run(constant(2_000.0));
    let found = summary(&totals);
    assert_eq!(totals.arrivals.unwrap().offered, 1_600);
    assert!(found.response.max_ns >= 399_000_000 && found.response.p999_ns > 390_000_000);
    assert!(found.response.p90_ns > 200_000_000, "{found:?}");
    assert!(found.service.max_ns >= 399_000_000 && found.service.p50_ns < 50_000_000);
    let closed = summary(&run(Load::Closed));
    assert!(closed.counts.done > 2_000, "{closed:?}");
    assert!(closed.response.max_ns >= 399_000_000 && closed.response.p999_ns < 200_000_000);
}

#[test]
fn on_the_real_clock_every_arrival_is_served_or_censored() {
    // Goal: no arrival is lost, however busy the host is.
    // Method: two clients share 20 k/s for half a second, with and without a warm-up.
    let clock = SteadyClock::calibrate();
    for (warmup, pacing) in [(0, Pacing::Spin), (100, Pacing::Hybrid)] {
        let engine = Scripted::new(|_, _: &Op<'_>| Ok(Outcome::Done));
        let mut step = step(&engine, 2, StopRule::Duration(Nanos::from_millis(500)));
        let pace = Pace { arrivals: Arrivals::Constant, pacing };
        step.clients.load = Load::Open(OpenLoad { rate: Rate::constant(20_000.0), pace });
        step.warmup = Nanos::from_millis(warmup);
        step.interval = Nanos::from_millis(50);
        let mut offered = 0.0;
        let totals = run_step(&clock, &mut step, &mut |event| {
            if let Event::Interval(interval) = event
                && !interval.is_warmup
            {
                offered += interval.readings[metric::OFFERED_OPS];
            }
        });
        let totals = totals.unwrap();
        let (found, arrivals) = (summary(&totals), totals.arrivals.unwrap());
        assert_eq!((arrivals.offered, arrivals.pace), (10_000, pace));
        assert!((offered - 10_000.0).abs() < 1e-9, "{offered}");
        // Arrivals of the warm-up that were served late are done in the measured span, too.
        let accounted = found.counts.done + arrivals.censored.len();
        assert!(accounted >= 10_000 && (warmup > 0 || accounted == 10_000), "{accounted}");
        assert_eq!(found.response.count, accounted);
        assert!(arrivals.start_lag.len() <= found.counts.done && !arrivals.start_lag.is_empty());
        println!("{} of 10,000 operations were not done in time", arrivals.censored.len());
    }
}
