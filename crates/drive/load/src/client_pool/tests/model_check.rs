//! Model checks of the client pool: many thread orders, by shuttle.
//!
//! Run by `cargo test -p load --features model-check`. The clock ticks with every reading, so
//! intervals, stops and ends fall at other places in every order tried. A failure prints the order
//! as a seed to replay.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use model::{Load, Nanos, Op, OpKind, Outcome, StopRule};

use crate::client_pool::{Event, StepEnd, StepTotals, run_step};
use crate::clock::ManualClock;
use crate::sync::thread;
use crate::tally::GroupTally;
use crate::testing::{Plain, Scripted, constant, group, step};

/// Orders tried per test: a second or two each in a debug build.
const ORDERS: usize = 100;

/// The shortest interval.
const INTERVAL: Nanos = Nanos::from_millis(1);

/// A quarter of an interval: a client delivers every other operation.
const QUARTER: Nanos = Nanos(INTERVAL.0 / 4);

fn done(group: &GroupTally) -> u64 {
    group.values().map(|tally| tally.counts.done).sum()
}

/// Operations the engine executed, and those the client pool reports.
struct Account {
    executed: u64,
    in_intervals: u64,
    /// Operations of the clients, by interval.
    intervals: Vec<u64>,
    totals: StepTotals,
}

/// Runs two clients in a closed loop and a writer.
fn account(stop: StopRule, script: impl Fn(u64) + Send + Sync, stop_at: u64) -> Account {
    account_of((Load::Closed, QUARTER), stop, script, stop_at)
}

/// Runs two clients and a writer on a clock that moves by `tick` with every reading; the script
/// may stop the step or panic.
fn account_of(
    (load, tick): (Load, Nanos),
    stop: StopRule,
    script: impl Fn(u64) + Send + Sync,
    stop_at: u64,
) -> Account {
    let (executed, in_intervals) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut intervals = Vec::new();
    let has_begun = AtomicBool::new(false);
    let engine = Scripted::new(|number, _: &Op<'_>| {
        assert!(has_begun.load(SeqCst), "an operation before the measured span");
        script(number);
        executed.fetch_add(1, SeqCst);
        Ok(Outcome::Done)
    });
    let mut step = step(&engine, 2, stop);
    step.clients.kinds.clear();
    step.clients.load = load;
    step.writers = group(vec![Plain::new(OpKind::Put, u64::MAX)], [].into());
    step.interval = INTERVAL;
    let flag = step.stop_flag.clone();
    let clock = ManualClock::ticking(Nanos(1), tick);
    let totals = thread::scope(|scope| {
        scope.spawn(|| {
            // Stands for the thread that reads the parent process's messages.
            for _ in 0..stop_at {
                thread::yield_now();
            }
            if stop_at > 0 {
                flag.set();
            }
        });
        run_step(&clock, &mut step, &mut |event| match event {
            Event::MeasuringBegins => has_begun.store(true, SeqCst),
            Event::Interval(interval) => {
                let count = done(&interval.clients) + done(&interval.writers);
                in_intervals.fetch_add(count, SeqCst);
                intervals.push(done(&interval.clients));
            }
            Event::IntervalEnds { .. } | Event::Heartbeat(_) => {}
        })
    });
    let totals = match totals {
        Ok(totals) => totals,
        Err(error) => StepTotals {
            duration: Nanos(0),
            clients: GroupTally::new(),
            writers: GroupTally::new(),
            readings: model::Readings::new(),
            arrivals: None,
            end: StepEnd::Failed { reason: error.to_string() },
            holds: None,
            begun: Nanos(0),
            outages: Vec::new(),
        },
    };
    let (executed, in_intervals) = (executed.load(SeqCst), in_intervals.load(SeqCst));
    Account { executed, in_intervals, intervals, totals }
}

#[test]
fn the_hand_off_loses_nothing_in_any_order() {
    shuttle::check_random(
        || {
            let account = account(StopRule::Operations(16), |_| {}, 0);
            assert_eq!(account.totals.end, StepEnd::Finished);
            assert_eq!(done(&account.totals.clients), 16);
            assert_eq!(account.in_intervals, account.executed);
            let totals = done(&account.totals.clients) + done(&account.totals.writers);
            assert_eq!(totals, account.executed);
        },
        ORDERS,
    );
}

#[test]
fn no_interval_holds_more_than_was_done_in_it_in_any_order() {
    // Goal: an operation is in the interval it ended in, whichever thread merges it, and when.
    // Method: the clock moves by an interval with every reading, so that no two operations end in
    // one interval, and every operation is handed over; threads are put off their CPU anywhere.
    shuttle::check_random(
        || {
            let load = (Load::Closed, INTERVAL);
            let account = account_of(load, StopRule::Operations(16), |_| {}, 0);
            assert_eq!(account.totals.end, StepEnd::Finished);
            assert_eq!(account.intervals.iter().sum::<u64>(), 16);
            assert!(account.intervals.iter().all(|done| *done <= 1), "{:?}", account.intervals);
            assert_eq!(account.in_intervals, account.executed);
        },
        ORDERS,
    );
}

#[test]
fn a_deadline_ends_all_clients_in_any_order() {
    shuttle::check_random(
        || {
            let account = account(StopRule::Duration(Nanos::from_millis(8)), |_| {}, 0);
            assert_eq!(account.totals.end, StepEnd::Finished);
            assert_eq!(account.in_intervals, account.executed);
            assert!(account.totals.duration >= Nanos::from_millis(8));
        },
        ORDERS,
    );
}

#[test]
fn a_stop_ends_the_step_in_any_order() {
    static STOPPED: AtomicU64 = AtomicU64::new(0);
    shuttle::check_random(
        || {
            let account = account(StopRule::Duration(Nanos::from_secs(1)), |_| {}, 20);
            match account.totals.end {
                StepEnd::Stopped => drop(STOPPED.fetch_add(1, SeqCst)),
                StepEnd::Failed { reason } => assert_eq!(reason, "stopped before the step began"),
                end @ (StepEnd::Finished | StepEnd::Wrong { .. }) => panic!("{end:?}"),
            }
            assert_eq!(account.in_intervals, account.executed);
        },
        ORDERS,
    );
    assert!(STOPPED.load(SeqCst) > 0);
}

#[test]
fn a_panic_ends_all_clients_and_preserves_the_counts_in_any_order() {
    shuttle::check_random(
        || {
            let boom = |number| {
                if number == 5 {
                    // Quietly: the panic hook belongs to shuttle.
                    resume_unwind(Box::new("boom"));
                }
            };
            let account = account(StopRule::Duration(Nanos::from_secs(1)), boom, 0);
            let StepEnd::Failed { reason } = account.totals.end else { panic!("it failed") };
            assert!(reason.ends_with("panicked: boom"), "{reason}");
            assert_eq!(account.in_intervals, account.executed);
        },
        ORDERS,
    );
}

/// Every arrival offered was served once, or is censored.
fn assert_all_accounted_for(account: &Account) {
    let Some(arrivals) = &account.totals.arrivals else { panic!("it is an open loop") };
    let served = done(&account.totals.clients);
    assert_eq!(arrivals.offered, served + arrivals.censored.len());
    assert_eq!(account.in_intervals, account.executed);
    let response: u64 = account.totals.clients.values().map(|tally| tally.response.len()).sum();
    assert_eq!(response, arrivals.offered);
}

#[test]
fn no_arrival_is_lost_or_served_twice_in_any_order() {
    // Goal: counts of shared arrivals are exact wherever clients are stopped.
    // Method: two clients share a rate above and one below what they can serve on a clock that
    // ticks with every reading; they end at a deadline.
    shuttle::check_random(
        || {
            for ops_per_s in [500.0, 4000.0] {
                let stop = StopRule::Duration(Nanos::from_millis(8));
                let account = account_of((constant(ops_per_s), QUARTER), stop, |_| {}, 0);
                assert_eq!(account.totals.end, StepEnd::Finished);
                assert_all_accounted_for(&account);
            }
        },
        ORDERS / 2,
    );
}

#[test]
fn a_group_serves_the_requested_number_of_arrivals_in_any_order() {
    shuttle::check_random(
        || {
            let account =
                account_of((constant(3000.0), QUARTER), StopRule::Operations(9), |_| {}, 0);
            assert_eq!(account.totals.end, StepEnd::Finished);
            assert_eq!(done(&account.totals.clients), 9);
            assert_all_accounted_for(&account);
        },
        ORDERS,
    );
}

#[test]
fn arrivals_of_clients_that_were_stopped_are_censored_in_any_order() {
    static STOPPED: AtomicU64 = AtomicU64::new(0);
    shuttle::check_random(
        || {
            let stop = StopRule::Duration(Nanos::from_secs(1));
            let account = account_of((constant(2000.0), QUARTER), stop, |_| {}, 20);
            match &account.totals.end {
                StepEnd::Stopped => {
                    assert_all_accounted_for(&account);
                    STOPPED.fetch_add(1, SeqCst);
                }
                StepEnd::Failed { reason } => assert_eq!(reason, "stopped before the step began"),
                end @ (StepEnd::Finished | StepEnd::Wrong { .. }) => panic!("{end:?}"),
            }
        },
        ORDERS,
    );
    assert!(STOPPED.load(SeqCst) > 0);
}
