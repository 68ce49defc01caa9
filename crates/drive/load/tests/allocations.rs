//! The hot loop allocates nothing, measured with a counting allocator.

#![cfg(not(feature = "model-check"))]

use std::alloc::System;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use calls::Tables;
use engine::null::NullDriver;
use engine::{ApplicationSetup, Driver, EngineError, OpenSpec, Rows, Session, parts};
use load::{Faults, GroupRun, HolderRun, ManualClock, StepRun, StopFlag, run_step};
use model::sql::{CallMix, Connections, Copies, Draw, PerDialect, Procedure, Table, TrafficSpec};
use model::{
    Application, Bounds, DataShape, Load, Nanos, Op, OpKind, OpUnit, OpenLoad, Options, Outcome,
    Pace, Rate, Settings, Step, StepRole, StopRule,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use workload::{Group, Presence, Request};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns an application with one step, `churn`: rows of every kind of value are inserted, and as
/// many deleted.
fn application() -> Application {
    let row = vec![
        Draw::Integer { distribution: "uniform".to_owned(), from: 0, count: 1_000 },
        Draw::Integer { distribution: "zipf:0.9".to_owned(), from: 0, count: 1_000 },
        Draw::Real { below: 5.0, plus: Some(0), scale: 0.1 },
        Draw::Payload { bytes_min: 10, bytes_max: 20, random: 0.375 },
        Draw::Pattern("###-####".to_owned()),
        Draw::Id,
        Draw::Number,
    ];
    let procedure = |kind, arguments, row| Procedure {
        arguments,
        row,
        rows: 10,
        ..Procedure::new("change", kind)
    };
    let moment = Draw::Moment { calls_per_second: 20 };
    Application {
        about: "a toy".to_owned(),
        row_bytes: 50,
        tables: vec![Table {
            name: "pi".to_owned(),
            copies: Copies::PerClient,
            create: PerDialect::default(),
            id: Some("id".to_owned()),
        }],
        procedures: vec![
            procedure(OpKind::Insert, vec![moment], row),
            procedure(OpKind::Delete, vec![Draw::FirstId], Vec::new()),
        ],
        steps: vec![TrafficSpec {
            name: "churn".to_owned(),
            about: "inserts and deletes".to_owned(),
            role: StepRole::Write,
            clients: Some(CallMix::InTurn(vec![0, 1])),
            background: None,
            rows: None,
            unit: OpUnit::Row,
            settles: false,
            connections: Connections::One,
            hold: None,
        }],
        ..Application::new("toy")
    }
}

/// Returns the allocations of a whole step of `operations`, threads and hand-offs included.
fn allocations(name: &str, load: Load, operations: u64) -> usize {
    let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
    let step = Step { load: load.clone(), ..Step::new(name, StopRule::Operations(operations)) };
    let setup = ApplicationSetup { application: Arc::new(application()), clients: 1 };
    let bounds = |_, _| Ok::<_, Infallible>(Some(Bounds { first: 1, next: 100 }));
    let tables = Tables::query(&setup, 0, bounds).expect("no table is queried");
    let (settings, options) = (Settings::default(), Options::new());
    let spec = OpenSpec { options, ..OpenSpec::embedded(std::env::temp_dir(), settings, data) };
    let engine = NullDriver.open(&spec).expect("the null engine opens everywhere");
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step: &step, data: &data, seed: 1, presence, group };
    let generators = match tables.traffic_spec(name) {
        Some(_) => calls::generators(&request, &tables),
        None => workload::generators(&request),
    };
    let mut run = StepRun {
        engine: &*engine,
        clients: GroupRun {
            generators: generators.expect("a step of the catalog"),
            load,
            kinds: BTreeSet::from([OpKind::Get, OpKind::Insert, OpKind::Delete]),
        },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop: step.stop,
        warmup: step.warmup,
        // One interval for all: what the coordinator does depends on how busy the host is.
        interval: Nanos::from_secs(60),
        is_checking: false,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    let region = Region::new(ALLOCATOR);
    let clock = ManualClock::ticking(Nanos(1), Nanos(10));
    let totals = run_step(&clock, &mut run, &mut |_| {}).expect("a step that can be run");
    let change = region.change();
    let done: u64 = totals.clients.values().map(|tally| tally.counts.done).sum();
    assert_eq!(done, operations);
    change.allocations + change.reallocations
}

/// Held by each test: the allocator counts the whole process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn nothing_is_allocated_per_operation() {
    let _alone = ALONE.lock();
    // Goal: the step's allocations do not depend on how many operations it has.
    // Method: a hundred times the operations; closed, open with all clients late, and open with all
    // clients waiting.
    let constant =
        |ops_per_s| Load::Open(OpenLoad { rate: Rate::constant(ops_per_s), pace: Pace::default() });
    for step in
        ["readrandom", "fwdrange", "fillrandom", "churn", "partialupdate", "append", "readseqno"]
    {
        for load in [Load::Closed, constant(1e8), constant(1e6)] {
            let few = allocations(step, load.clone(), 1_000);
            let many = allocations(step, load.clone(), 100_000);
            // A thread that parks for the first time makes room for it once, and so do times of
            // another length: in an overload, some powers of two.
            assert!(many <= few + 400, "{step} {load:?}: {few} allocations, then {many}");
        }
    }
}

/// A session of one row, which leaves parts of its value to [`parts::execute`].
struct OneRow(Vec<u8>);

impl Session for OneRow {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match op {
            Op::Get { key } => rows.push(key, &self.0),
            Op::Put { value, .. } => self.0.copy_from_slice(value),
            Op::Delete { .. }
            | Op::Scan { .. }
            | Op::MultiGet { .. }
            | Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::FieldRead { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => return parts::execute("one row", self, op, rows),
        }
        Ok(Outcome::Done)
    }
}

#[test]
fn a_read_and_a_write_in_place_of_a_part_allocate_nothing() {
    let _alone = ALONE.lock();
    let (mut session, mut rows, key) = (OneRow(vec![7; 400]), Rows::new(), b"key");
    let mut change = |offset| {
        rows.restart();
        let update = Op::PartialUpdate { key, offset, bytes: &[8; 100] };
        assert_eq!(session.execute(&update, &mut rows), Ok(Outcome::Done));
        assert_eq!((rows.count(), rows.bytes()), (1, 103));
        rows.restart();
        let read = Op::FieldRead { key, offset, length: 100 };
        assert_eq!(session.execute(&read, &mut rows), Ok(Outcome::Done));
        assert_eq!((rows.count(), rows.bytes()), (1, 103));
    };
    // The buffers grow in the first operations.
    (0..3).for_each(&mut change);
    let region = Region::new(ALLOCATOR);
    (0..300).for_each(change);
    let allocated = region.change();
    assert!(allocated.allocations + allocated.reallocations < 50, "{allocated:?}");
}
