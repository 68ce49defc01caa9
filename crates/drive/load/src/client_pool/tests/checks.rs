//! Tests of checks of answers within a stream of unchecked operations.

use std::sync::atomic::{AtomicU64, Ordering};

use engine::EngineError;
use model::{DataShape, Load, Nanos, Op, OpKind, Outcome, Step, StopRule};
use workload::{Generator, Group, Presence, Request, generators};

use crate::client_pool::{StepTotals, run_step};
use crate::clock::ManualClock;
use crate::testing::{Answer, Scripted, constant, step};

/// Returns reads of absent keys by one client.
fn absent_reads(stop: StopRule) -> Vec<Box<dyn Generator>> {
    let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 8, compressible_to: 0.5 };
    let (presence, group) = (Presence::All, Group::Clients);
    let step = Step::new("readmissing", stop);
    generators(&Request { step: &step, data: &data, seed: 1, presence, group })
        .expect("a step of the catalog")
}

/// Runs them on an engine whose operations take 50 us; also returns how many it executed.
fn run(
    load: &Load,
    stop: StopRule,
    answer: impl Fn(u64) -> Answer + Send + Sync,
    is_checking: bool,
) -> (StepTotals, u64) {
    let (clock, executed) = (ManualClock::new(Nanos(1)), AtomicU64::new(0));
    let engine = Scripted::new(|number, _: &Op<'_>| {
        clock.advance(Nanos(50_000));
        executed.fetch_add(1, Ordering::Relaxed);
        answer(number)
    });
    let mut step = step(&engine, 1, stop);
    step.is_checking = is_checking;
    step.clients.generators = absent_reads(stop);
    step.clients.load = load.clone();
    step.interval = Nanos::from_secs(60);
    let totals = run_step(&clock, &mut step, &mut |_| {}).expect("a step that makes sense");
    (totals, executed.load(Ordering::Relaxed))
}

#[test]
fn checks_change_neither_counts_nor_the_end_of_a_step() {
    // Goal: what a step does and counts is the same with and without checks. Method: one operation
    // in seven fails, so checked ones fail too and are done in the place of failed ones.
    let answer = |number| match number % 7 {
        0 => Err(EngineError::Timeout("locked".to_owned())),
        _ => Ok(Outcome::NotFound),
    };
    for load in [Load::Closed, constant(10_000.0)] {
        for stop in [StopRule::Operations(1000), StopRule::Duration(Nanos(10_030_000))] {
            let (checked, executed) = run(&load, stop, answer, true);
            let (unchecked, executed_unchecked) = run(&load, stop, answer, false);
            assert_eq!(executed, executed_unchecked, "{load:?} {stop:?}");
            let [checked, unchecked] = [&checked, &unchecked].map(|it| &it.clients[&OpKind::Get]);
            assert_eq!(checked.counts, unchecked.counts, "{load:?} {stop:?}");
            assert_eq!(checked.response, unchecked.response, "{load:?} {stop:?}");
        }
    }
    let (totals, executed) = run(&Load::Closed, StopRule::Operations(1000), answer, true);
    let counts = totals.clients[&OpKind::Get].counts;
    assert_eq!((executed, counts.failed, counts.done), (1000, 143, 857));
}

#[test]
fn a_wrong_answer_between_unchecked_ones_is_found_and_not_done() {
    // Goal: the checked operation is the one whose rows are checked. Method: from the 200th on a
    // row comes back for an absent key; one answer in every 64 is checked.
    let answer = |number| Ok(if number < 200 { Outcome::NotFound } else { Outcome::Done });
    let (totals, executed) = run(&Load::Closed, StopRule::Operations(1000), answer, true);
    let counts = totals.clients[&OpKind::Get].counts;
    assert!((201..=200 + 128).contains(&executed), "{executed}");
    assert_eq!((counts.done, counts.failed), (executed - 1, 1));
}
