//! Tests of the client pool with real threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

use engine::EngineError;
use model::{Load, Nanos, Op, OpKind, Outcome, StopRule, metric};

use crate::client_pool::{Event, Interval, StepEnd, StepRun, StepTotals, run_step};
use crate::clock::{ManualClock, SteadyClock};
use crate::error::LoadError;
use crate::testing::{Answer, Plain, Scripted, constant, group, step};
use crate::traits::Clock;

pub(super) const DONE: Answer = Ok(Outcome::Done);

pub(super) fn millis(millis: u64) -> StopRule {
    StopRule::Duration(Nanos::from_millis(millis))
}

/// Runs a step on the real clock, and returns its intervals too.
pub(super) fn run(step: &mut StepRun<'_>) -> (StepTotals, Vec<Interval>) {
    let mut intervals = Vec::new();
    let totals = run_step(&SteadyClock::kernel(), step, &mut |event| {
        if let Event::Interval(interval) = event {
            intervals.push(interval.clone());
        }
    });
    (totals.expect("a step that makes sense"), intervals)
}

pub(super) fn gets(totals: &StepTotals) -> model::record::OpCounts {
    totals.clients.get(&OpKind::Get).map(|tally| tally.counts).unwrap_or_default()
}

fn reason(totals: &StepTotals) -> &str {
    match &totals.end {
        StepEnd::Failed { reason } | StepEnd::Wrong { reason } => reason,
        StepEnd::Finished | StepEnd::Stopped => panic!("{:?}", totals.end),
    }
}

fn done_in(interval: &Interval, kind: OpKind) -> u64 {
    let both = [&interval.clients, &interval.writers];
    both.iter().filter_map(|group| group.get(&kind)).map(|tally| tally.counts.done).sum()
}

#[test]
fn every_operation_is_in_exactly_one_interval() {
    // Goal: nothing is lost or counted twice between clients, intervals and totals.
    // Method: the engine counts what it executed; two clients, a writer, and intervals so short
    // that hand-offs are frequent, and late on a busy host.
    let (reads, writes) = (AtomicU64::new(0), AtomicU64::new(0));
    let engine = Scripted::new(|_, op: &Op<'_>| {
        let count = if matches!(op, Op::Get { .. }) { &reads } else { &writes };
        count.fetch_add(1, SeqCst);
        DONE
    });
    let mut step = step(&engine, 2, millis(60));
    step.writers = group(vec![Plain::new(OpKind::Put, u64::MAX)], [OpKind::Put].into());
    step.interval = Nanos::from_millis(5);
    let (totals, intervals) = run(&mut step);
    assert_eq!(totals.end, StepEnd::Finished);
    let sum = |kind| intervals.iter().map(|interval| done_in(interval, kind)).sum::<u64>();
    let (reads, writes) = (reads.load(SeqCst), writes.load(SeqCst));
    assert_eq!((sum(OpKind::Get), sum(OpKind::Put)), (reads, writes));
    let (tally, puts) = (&totals.clients[&OpKind::Get], &totals.writers[&OpKind::Put].counts);
    assert_eq!((tally.counts.done, puts.done), (reads, writes));
    assert_eq!((tally.service.len(), tally.response.len()), (reads, reads));
    assert_eq!((tally.counts.bytes, puts.rows), (25 * reads, writes));
    assert!(totals.duration >= Nanos::from_millis(60), "{:?}", totals.duration);
    assert!(
        totals.readings[metric::PROCESS_CPU_USER_US] + totals.readings[metric::CLIENT_CPU_USER_US]
            > 0.0
    );
}

/// Goal: no second holds more than was done in it, however late the coordinator is.
/// Method: on a clock that only the engine moves, each operation takes 50 ms, so that 20 end in a
/// second; at the first second's end the coordinator stands still until all 200 are done.
#[test]
fn a_coordinator_without_a_cpu_moves_no_operation() {
    let clock = ManualClock::new(Nanos(1));
    let (executed, is_done) = (Mutex::new(0), Condvar::new());
    let engine = Scripted::new(|_, _: &Op<'_>| {
        clock.advance(Nanos::from_millis(50));
        *executed.lock().unwrap() += 1;
        is_done.notify_all();
        DONE
    });
    let mut seconds = Vec::new();
    let mut step = step(&engine, 1, StopRule::Operations(200));
    let totals = run_step(&clock, &mut step, &mut |event| match event {
        Event::IntervalEnds { client_memory } => {
            assert!((1_000..1_000_000).contains(&client_memory.0), "{client_memory}");
            let wait = executed.lock().unwrap();
            drop(is_done.wait_while(wait, |executed| *executed < 200).unwrap());
        }
        Event::Interval(interval) => seconds.push(done_in(interval, OpKind::Get)),
        Event::MeasuringBegins | Event::Heartbeat(_) => {}
    });
    assert_eq!(gets(&totals.unwrap()).done, 200);
    // The operation that ends with a second is the first of the next.
    let expected = [&[19][..], &[20; 9], &[1]].concat();
    assert_eq!(seconds, expected);
}

/// Goal: a second without an operation is an interval as any, and has the announced kinds.
#[test]
fn seconds_without_operations_have_the_announced_kinds() {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|number, _: &Op<'_>| {
        clock.advance(Nanos::from_millis(if number == 0 { 3_500 } else { 100 }));
        DONE
    });
    let mut step = step(&engine, 1, StopRule::Operations(10));
    step.clients.kinds.insert(OpKind::Scan);
    let (mut seconds, mut length) = (Vec::new(), Nanos(0));
    let totals = run_step(&clock, &mut step, &mut |event| {
        if let Event::Interval(interval) = event {
            assert_eq!(interval.clients.keys().collect::<Vec<_>>(), [&OpKind::Get, &OpKind::Scan]);
            assert!(interval.writers.is_empty());
            seconds.push(done_in(interval, OpKind::Get));
            length = length.after(interval.length);
        }
    });
    let totals = totals.unwrap();
    assert_eq!((seconds, length), (vec![0, 0, 0, 5, 5], totals.duration));
    assert!(!totals.clients.contains_key(&OpKind::Scan));
}

#[test]
fn the_warmup_is_reported_and_not_measured() {
    let engine = Scripted::new(|_, _: &Op<'_>| DONE);
    let mut step = step(&engine, 1, millis(30));
    step.warmup = Nanos::from_millis(12);
    step.interval = Nanos::from_millis(5);
    let (totals, intervals) = run(&mut step);
    assert_eq!(intervals.iter().filter(|interval| interval.is_warmup).count(), 3);
    assert_eq!(intervals[3].start, step.warmup);
    assert_eq!(intervals[2].length, Nanos::from_millis(2));
    for pair in intervals.windows(2) {
        assert_eq!(pair[0].start.after(pair[0].length), pair[1].start);
    }
    let measured = intervals[3..].iter().map(|interval| done_in(interval, OpKind::Get));
    assert_eq!(measured.sum::<u64>(), gets(&totals).done);
}

#[test]
fn nothing_starts_before_the_callback_for_it_returns() {
    let is_allowed = AtomicBool::new(false);
    let engine = Scripted::new(|_, _: &Op<'_>| {
        assert!(is_allowed.load(SeqCst));
        DONE
    });
    let clock = SteadyClock::kernel();
    let mut events = Vec::new();
    let totals =
        run_step(
            &clock,
            &mut step(&engine, 3, StopRule::Operations(100)),
            &mut |event| match event {
                Event::MeasuringBegins => {
                    clock.rest_until(clock.now().after(Nanos::from_millis(5)));
                    is_allowed.store(true, SeqCst);
                    events.push("begins");
                }
                Event::Interval(_) => events.push("interval"),
                Event::IntervalEnds { .. } | Event::Heartbeat(_) => {}
            },
        );
    let totals = totals.unwrap();
    assert_eq!((totals.end.clone(), gets(&totals).done), (StepEnd::Finished, 100));
    assert_eq!(events, ["begins", "interval"]);
}

#[test]
fn a_stall_is_a_gap_in_the_intervals_and_the_longest_service_time() {
    let clock = SteadyClock::kernel();
    let engine = Scripted::new(|number, _: &Op<'_>| {
        let stall = if number == 200 { 200_000_000 } else { 50_000 };
        clock.rest_until(clock.now().after(Nanos(stall)));
        DONE
    });
    let mut step = step(&engine, 1, StopRule::Operations(600));
    step.interval = Nanos::from_millis(20);
    let (totals, intervals) = run(&mut step);
    assert_eq!(gets(&totals).done, 600);
    let empty = intervals.iter().filter(|interval| {
        interval.clients.get(&OpKind::Get).is_none_or(|tally| tally.counts.done == 0)
    });
    assert!(empty.count() >= 2);
    let service = crate::percentiles(&totals.clients[&OpKind::Get].service);
    assert!(service.max_ns >= 200_000_000 && service.p50_ns < 20_000_000, "{service:?}");
}

#[test]
fn a_stuck_client_shows_in_the_heartbeat() {
    // Goal: the parent's watchdog can distinguish a stall from progress.
    // Method: one client is stuck for 1.3 s after 10 operations; the reported counts stand still.
    let clock = SteadyClock::kernel();
    let engine = Scripted::new(|number, _: &Op<'_>| {
        let span = if number == 10 { 1_300 } else { 20 };
        clock.rest_until(clock.now().after(Nanos::from_millis(span)));
        DONE
    });
    let mut beats = Vec::new();
    let mut step = step(&engine, 1, StopRule::Operations(20));
    let totals = run_step(&clock, &mut step, &mut |event| {
        if let Event::Heartbeat(operations) = event {
            beats.push(operations);
        }
    });
    assert_eq!(gets(&totals.unwrap()).done, 20);
    let stands_still = |pair: &[u64]| pair[0] == pair[1] && pair[0] >= 4;
    assert!(beats.windows(2).any(stands_still), "{beats:?}");
}

#[test]
fn a_writer_outlasts_the_clients_and_then_ends() {
    let (has_written, clock) = (AtomicBool::new(false), SteadyClock::kernel());
    let engine = Scripted::new(|number, op: &Op<'_>| {
        if op.kind().is_write() {
            has_written.store(true, SeqCst);
        }
        // The writer may begin long after the client, which waits for it a minute at most.
        for _ in 0..if number == 0 { 60_000 } else { 0 } {
            if !has_written.load(SeqCst) {
                clock.rest_until(clock.now().after(Nanos::from_millis(1)));
            }
        }
        DONE
    });
    let mut step = step(&engine, 1, StopRule::Operations(100_000));
    step.writers = group(vec![Plain::new(OpKind::Put, u64::MAX)], [OpKind::Put].into());
    step.writers.load = constant(1_000.0);
    let (totals, _) = run(&mut step);
    assert_eq!((totals.end.clone(), gets(&totals).done), (StepEnd::Finished, 100_000));
    let puts = totals.writers[&OpKind::Put].counts;
    // Paced: without its rate it would do about as many as the client.
    assert!((1..20_000).contains(&puts.done), "{puts:?}");
    assert_eq!((puts.rows, puts.bytes), (puts.done, 25 * puts.done));
    assert!(!totals.writers.contains_key(&OpKind::Get));
}

#[test]
fn a_fatal_error_ends_the_step_and_preserves_the_measurements() {
    let engine = Scripted::new(|number, _: &Op<'_>| match number {
        5 => Err(EngineError::Fatal("disk full".to_owned())),
        3 => Err(EngineError::Conflict("busy".to_owned())),
        4 => Ok(Outcome::NotFound),
        _ => DONE,
    });
    let (totals, intervals) = run(&mut step(&engine, 1, millis(5_000)));
    assert_eq!(reason(&totals), "client 0: disk full");
    let counts = gets(&totals);
    assert_eq!((counts.done, counts.not_found, counts.failed), (4, 1, 2));
    assert_eq!(totals.clients[&OpKind::Get].service.len(), 4);
    assert_eq!(intervals.len(), 1);
}

#[test]
fn a_failing_writer_ends_the_step_too() {
    let engine = Scripted::new(|_, op: &Op<'_>| match op {
        op if op.kind().is_write() => Err(EngineError::Fatal("read only".to_owned())),
        _ => DONE,
    });
    let mut step = step(&engine, 2, millis(5_000));
    step.writers = group(vec![Plain::new(OpKind::Put, u64::MAX)], [OpKind::Put].into());
    assert_eq!(reason(&run(&mut step).0), "writer 0: read only");
}

#[test]
fn a_wrong_answer_is_never_a_fast_operation() {
    let engine = Scripted::new(|_, _: &Op<'_>| DONE);
    let mut step = step(&engine, 1, StopRule::Operations(100));
    let mut generator = Plain::new(OpKind::Get, u64::MAX);
    generator.is_sampling = true;
    generator.wrong_at = Some(8);
    step.clients = group(vec![generator], [OpKind::Get].into());
    let (totals, _) = run(&mut step);
    assert_eq!(reason(&totals), "client 0: wrong answer to get 7: another key's value");
    let counts = gets(&totals);
    assert_eq!((counts.done, counts.verified, counts.failed), (7, 7, 1));
}

#[test]
fn a_client_gives_up_after_more_than_a_thousand_failures_in_a_row() {
    let failing = |from: u64, to: u64| {
        let engine = Scripted::new(move |number, _: &Op<'_>| match number {
            n if (from..to).contains(&n) => Err(EngineError::Timeout("locked".to_owned())),
            _ => DONE,
        });
        run(&mut step(&engine, 1, StopRule::Operations(3_000))).0
    };
    let tolerated = failing(10, 1_010);
    assert_eq!((tolerated.end.clone(), gets(&tolerated).failed), (StepEnd::Finished, 1_000));
    let given_up = failing(10, 1_011);
    assert!(
        reason(&given_up).contains("1001 operations in a row failed; the last error: timed out")
    );
    assert_eq!((gets(&given_up).done, gets(&given_up).failed), (10, 1_001));
}

#[test]
fn a_panic_in_a_client_ends_the_step_with_its_message() {
    let engine = Scripted::new(|number, _: &Op<'_>| {
        if number == 40 {
            resume_unwind(Box::new("boom"));
        }
        DONE
    });
    let mut step = step(&engine, 2, millis(5_000));
    step.clients.kinds.clear();
    let (totals, _) = run(&mut step);
    assert!(reason(&totals).ends_with("panicked: boom"), "{:?}", totals.end);
    assert!(gets(&totals).done >= 40);
}

#[test]
fn a_panic_in_the_callback_leaves_no_client_behind() {
    let engine = Scripted::new(|_, _: &Op<'_>| DONE);
    let clock = SteadyClock::kernel();
    for is_early in [true, false] {
        let mut step = step(&engine, 2, millis(5_000));
        step.interval = Nanos::from_millis(2);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            run_step(&clock, &mut step, &mut |event| {
                if is_early || matches!(event, Event::Interval(_)) {
                    resume_unwind(Box::new("callback"));
                }
            })
        }));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"callback"));
    }
}

#[test]
fn a_stop_preserves_the_measurements() {
    let engine = Scripted::new(|_, _: &Op<'_>| DONE);
    let mut step = step(&engine, 2, millis(60_000));
    step.interval = Nanos::from_millis(5);
    let (flag, clock) = (step.stop_flag.clone(), SteadyClock::kernel());
    let totals = run_step(&clock, &mut step, &mut |event| {
        if matches!(event, Event::Interval(_)) {
            flag.set();
        }
    })
    .unwrap();
    assert_eq!(totals.end, StepEnd::Stopped);
    assert!(gets(&totals).done > 0 && totals.duration < Nanos::from_secs(5));
    // Set beforehand, nothing begins.
    assert!(matches!(
        run_step(&clock, &mut step, &mut |_| panic!("no event is expected")),
        Err(LoadError::Stopped)
    ));
}

#[test]
fn a_refused_session_is_named_and_ends_the_step() {
    let mut engine = Scripted::new(|_, _: &Op<'_>| DONE);
    engine.is_refusing = true;
    let mut step = step(&engine, 3, millis(1_000));
    let error = run_step(&SteadyClock::kernel(), &mut step, &mut |_| {}).unwrap_err();
    assert!(error.to_string().ends_with("got no session: not supported: a session more"));
}

#[test]
fn clients_that_end_within_the_warmup_measured_nothing() {
    let engine = Scripted::new(|_, _: &Op<'_>| DONE);
    let mut step = step(&engine, 1, millis(1_000));
    step.clients = group(vec![Plain::new(OpKind::Get, 10)], [OpKind::Get].into());
    step.warmup = Nanos::from_secs(30);
    let (totals, intervals) = run(&mut step);
    assert!(reason(&totals).contains("nothing was measured"));
    assert!(totals.clients.is_empty() && totals.duration == Nanos(0));
    assert_eq!(intervals[0].clients[&OpKind::Get].counts.done, 10);
}

#[test]
fn an_invalid_step_is_rejected() {
    let engine = Scripted::new(|_, _: &Op<'_>| DONE);
    let refused = |change: &dyn Fn(&mut StepRun<'_>)| {
        let mut step = step(&engine, 1, StopRule::Operations(5));
        change(&mut step);
        run_step(&ManualClock::default(), &mut step, &mut |_| {}).unwrap_err().to_string()
    };
    assert!(refused(&|step| step.clients.generators.clear()).contains("at least one"));
    assert!(refused(&|step| step.stop = StopRule::Operations(0)).contains("before it begins"));
    assert!(refused(&|step| step.stop = millis(0)).contains("before it begins"));
    assert!(refused(&|step| step.warmup = Nanos(1)).contains("by count"));
    assert!(refused(&|step| step.interval = Nanos(0)).contains("between 1 ms and 1m00s"));
    for ops_per_s in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e8] {
        let text = refused(&|step| step.writers.load = constant(ops_per_s));
        assert!(text.contains("above 0, at most 100000000"), "{text}");
    }
    let text = refused(&|step| step.clients.load = Load::FindClients);
    assert!(text.contains("probes"), "{text}");
}

/// Goal: a coordinator that waits for the engine's state is no paused worker, though all clients
/// wait meanwhile too.
#[test]
fn a_callback_that_blocks_is_no_pause() {
    let clock = SteadyClock::kernel();
    let rest = |ms| clock.rest_until(clock.now().after(Nanos::from_millis(ms)));
    let engine = Scripted::new(|_, _: &Op<'_>| {
        rest(5);
        DONE
    });
    let mut step = step(&engine, 2, millis(900));
    step.interval = Nanos::from_millis(100);
    let totals = run_step(&clock, &mut step, &mut |event| {
        if let Event::IntervalEnds { .. } = event {
            rest(300);
        }
    });
    let paused_us = totals.unwrap().readings[metric::PAUSE_US];
    assert!(paused_us < 250_000.0, "{paused_us}");
}
