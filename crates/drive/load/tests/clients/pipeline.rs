//! Pipelined clients: operations in flight, all of them accounted for.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use engine::{Engine, EngineError, Maintenance, Pipeline, Rows, Session};
use load::{
    Faults, GroupRun, HolderRun, LoadError, SteadyClock, StepEnd, StepRun, StepTotals, StopFlag,
    run_step,
};
use model::{
    EngineState, Identity, Load, Nanos, Op, OpKind, Options, Outcome, PIPELINE_MAX, StopRule,
};
use workload::{Generator, WrongAnswer};

/// A pipelined engine that counts operations in flight.
#[derive(Default)]
struct Counting {
    has_no_pipeline: bool,
    /// Every operation whose number this divides fails; 0 for none.
    failing: u64,
    /// So many fail, from operation 100 on: those in flight when a connection was lost.
    lost: u64,
    /// Every operation whose number this divides must be alone; 0 for none.
    alone: u64,
    taken: AtomicU64,
    executed_alone: AtomicU64,
    most: AtomicUsize,
}

impl Counting {
    fn every(number: u64, step: u64) -> bool {
        step > 0 && number.is_multiple_of(step)
    }

    fn answer(&self, number: u64) -> Result<Outcome, EngineError> {
        let failed = || EngineError::Conflict("scripted".to_owned());
        let is_lost = (100..100 + self.lost).contains(&number);
        match Self::every(number, self.failing) || is_lost {
            true => Err(failed()),
            false => Ok(Outcome::Done),
        }
    }
}

struct CountingSession<'e> {
    engine: &'e Counting,
    in_flight: VecDeque<u64>,
}

impl Session for CountingSession<'_> {
    fn execute(&mut self, _op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        assert!(self.in_flight.is_empty(), "executed with {} in flight", self.in_flight.len());
        self.engine.executed_alone.fetch_add(1, SeqCst);
        let number = self.engine.taken.fetch_add(1, SeqCst);
        rows.push(b"key", b"value");
        self.engine.answer(number)
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        if self.engine.has_no_pipeline { None } else { Some(self) }
    }
}

impl Pipeline for CountingSession<'_> {
    fn submit(&mut self, _op: &Op<'_>) -> Result<bool, EngineError> {
        if Counting::every(self.engine.taken.load(SeqCst), self.engine.alone) {
            return Ok(false);
        }
        self.in_flight.push_back(self.engine.taken.fetch_add(1, SeqCst));
        self.engine.most.fetch_max(self.in_flight.len(), SeqCst);
        Ok(true)
    }

    /// Answers come in pairs.
    fn has_answer(&mut self) -> bool {
        self.in_flight.len() % 2 == 1
    }

    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        rows.push(b"", b"value");
        self.engine.answer(self.in_flight.pop_front().expect("something is in flight"))
    }
}

impl Engine for Counting {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(Box::new(CountingSession { engine: self, in_flight: VecDeque::new() }))
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        Ok(Options::new())
    }

    fn maintain(&self, _work: Maintenance) -> Result<bool, EngineError> {
        Ok(false)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        Ok(EngineState::default())
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Gets of one key, one of so many checked.
struct Gets {
    checked: u64,
    has_begun: bool,
}

impl Generator for Gets {
    fn next(&mut self) -> Option<Op<'_>> {
        self.has_begun = true;
        Some(Op::Get { key: b"key" })
    }

    fn unchecked(&self) -> u64 {
        if self.has_begun { self.checked } else { 0 }
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        assert_eq!(rows.stored().count(), 1, "the answer is stored");
        Ok(1)
    }
}

fn run(engine: &Counting, depth: u32, stop: StopRule) -> StepTotals {
    try_to_run(engine, depth, stop).expect("a step that makes sense")
}

fn try_to_run(engine: &Counting, depth: u32, stop: StopRule) -> Result<StepTotals, LoadError> {
    let gets = Gets { checked: 99, has_begun: false };
    let mut step = StepRun {
        engine,
        clients: GroupRun {
            generators: vec![Box::new(gets)],
            load: Load::Pipelined(depth),
            kinds: BTreeSet::from([OpKind::Get]),
        },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop,
        warmup: Nanos(0),
        interval: Nanos::from_millis(5),
        is_checking: true,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    run_step(&SteadyClock::kernel(), &mut step, &mut |_| {})
}

#[test]
fn operations_in_flight_reach_the_depth_and_never_more() {
    for depth in [2, 7, PIPELINE_MAX] {
        let engine = Counting::default();
        let totals = run(&engine, depth, StopRule::Operations(10_000));
        assert_eq!(totals.end, StepEnd::Finished);
        assert_eq!(engine.taken.load(SeqCst), 10_000);
        assert_eq!(engine.most.load(SeqCst), depth as usize);
        let gets = &totals.clients[&OpKind::Get];
        assert_eq!((gets.counts.done, gets.counts.rows), (10_000, 10_000));
        assert_eq!((gets.service.len(), gets.response.len()), (10_000, 10_000));
    }
}

#[test]
fn checked_and_unpipelined_operations_are_executed_alone() {
    let engine = Counting { alone: 250, ..Counting::default() };
    let totals = run(&engine, 16, StopRule::Operations(10_000));
    let gets = &totals.clients[&OpKind::Get];
    // One in a hundred is sampled, and of these one in 256 times the depth, and the first, checked.
    assert_eq!((gets.counts.done, gets.counts.verified), (10_000, 3));
    // The first goes alone and is checked.
    assert_eq!(engine.executed_alone.load(SeqCst), 40 + 3 - 1);
}

#[test]
fn at_the_deadline_everything_in_flight_is_answered_and_counts() {
    let engine = Counting::default();
    let totals = run(&engine, 64, StopRule::Duration(Nanos::from_millis(30)));
    assert_eq!(totals.end, StepEnd::Finished);
    assert_eq!(totals.clients[&OpKind::Get].counts.done, engine.taken.load(SeqCst));
    assert!(totals.duration >= Nanos::from_millis(30));
}

#[test]
fn an_operation_that_fails_is_counted_as_failed_and_the_others_go_on() {
    let engine = Counting { failing: 10, ..Counting::default() };
    let totals = run(&engine, 8, StopRule::Operations(1_000));
    let counts = totals.clients[&OpKind::Get].counts;
    assert_eq!((counts.done, counts.failed, counts.replacing), (900, 100, 100));
    assert_eq!(counts.failures.phrase(), "100 serialisation");
}

/// Goal: a client outlives the loss of everything in flight, at any depth, and nothing worse.
#[test]
fn a_lost_connection_ends_no_client() {
    for (lost, is_survived) in [(PIPELINE_MAX, true), (PIPELINE_MAX + 1_000, false)] {
        let engine = Counting { lost: u64::from(lost), ..Counting::default() };
        let totals = run(&engine, PIPELINE_MAX, StopRule::Operations(10_000));
        let counts = totals.clients[&OpKind::Get].counts;
        assert_eq!(counts.failed, u64::from(lost), "{:?}", totals.end);
        assert_eq!(totals.end == StepEnd::Finished, is_survived, "{:?}", totals.end);
    }
}

#[test]
fn an_engine_that_answers_one_by_one_is_refused() {
    let engine = Counting { has_no_pipeline: true, ..Counting::default() };
    let refused = try_to_run(&engine, 8, StopRule::Operations(10)).unwrap_err().to_string();
    assert!(refused.contains("takes no operation before the last is answered"), "{refused}");
    assert_eq!(engine.taken.load(SeqCst), 0);
}
