//! Cost of one call of `next`, without engine or clock.
//!
//! `cargo bench -p workload` prints ns per operation. With a case and a number of operations
//! (`-- readrandom 1000000`) it runs only that and prints nothing: run it so under
//! `valgrind --tool=callgrind` with two numbers; the slope is instructions per operation.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its arguments")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use engine::{ApplicationSetup, Rows};
use model::sql::{CallMix, Copies, Draw, PerDialect, Procedure, Table, TrafficSpec};
use model::{Application, Bounds, Bytes, DataShape, Op, OpKind, OpUnit, Step, StepRole, StopRule};
use workload::application::{self, Tables};
use workload::{Generator, Group, Presence, Request, generators};

/// Name, step and key distribution of every case.
const CASES: &[(&str, &str, &str)] = &[
    ("readrandom", "readrandom", "uniform"),
    ("readrandom.zipf", "readrandom", "zipf:0.99"),
    ("readrandom.latest", "readrandom", "latest"),
    ("multireadrandom", "multireadrandom", "uniform"),
    ("fwdrange", "fwdrange", "uniform"),
    ("fillseq", "fillseq", "uniform"),
    ("fillrandom", "fillrandom", "uniform"),
    ("filluniquerandom", "filluniquerandom", "uniform"),
    ("deleterandom", "deleterandom", "uniform"),
];
/// Rows of the key space: enough for every fill to last.
const ROWS: u64 = 1 << 30;
/// Operations per timed turn, and turns: the shortest is printed.
const OPERATIONS: u64 = 5_000_000;
const TURNS: u32 = 5;
/// Calls of an application per timed turn.
const CALLS: u64 = 50_000;

fn generator(step: &str, distribution: &str) -> Box<dyn Generator> {
    let data = DataShape { rows: ROWS, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
    let step = Step {
        distribution: distribution.to_owned(),
        writer_bytes_per_s: Some(Bytes::MIB),
        ..Step::new(step, StopRule::Operations(ROWS))
    };
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step: &step, data: &data, seed: 1, presence, group };
    generators(&request).expect("the case is right").remove(0)
}

/// Returns calls like the Insert Benchmark's: 100 rows of one moment, four integers and a payload,
/// or ten ids.
fn calls(is_insert: bool) -> Box<dyn Generator> {
    let integer = |count| Draw::Integer { distribution: "uniform".to_owned(), from: 0, count };
    let mut row: Vec<_> = [1_000, 100_000, 10_000, 500].map(integer).into();
    row.push(Draw::Payload { bytes_min: 10, bytes_max: 20, random: 0.375 });
    let moment = Draw::Moment { calls_per_second: 20 };
    let (arguments, row, rows, kind) = match is_insert {
        true => (vec![moment], row, 100, OpKind::Insert),
        false => (vec![Draw::Id; 10], Vec::new(), 0, OpKind::MultiGet),
    };
    let (name, about) = ("calls".to_owned(), String::new());
    let table = Table {
        name: "pi".to_owned(),
        copies: Copies::PerClient,
        create: PerDialect::default(),
        id: Some("id".to_owned()),
    };
    let procedure = Procedure { arguments, row, rows, ..Procedure::new(name.clone(), kind) };
    let traffic_spec = TrafficSpec {
        clients: Some(CallMix::InTurn(vec![0])),
        unit: OpUnit::Row,
        ..TrafficSpec::new(name.clone(), StepRole::Load)
    };
    let (tables, procedures, steps) = (vec![table], vec![procedure], vec![traffic_spec]);
    let (row_bytes, order) = (45, Vec::new());
    let (checks, disclaimer) = (Vec::new(), None);
    let application = Application {
        about,
        row_bytes,
        tables,
        procedures,
        steps,
        order,
        checks,
        disclaimer,
        ..Application::new(name)
    };
    let setup = ApplicationSetup { application: Arc::new(application), clients: 1 };
    let bounds = |_, _| Ok::<_, Infallible>(Some(Bounds { first: 1, next: 1 << 30 }));
    let tables = Tables::query(&setup, 0, bounds).expect("the bounds are constant");
    let data = DataShape { rows: ROWS, key_bytes: 8, value_bytes: 8, compressible_to: 0.5 };
    let step = Step::new("calls", StopRule::Operations(ROWS));
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step: &step, data: &data, seed: 1, presence, group };
    application::generators(&request, &tables).expect("the case is right").remove(0)
}

/// Calls the generator as the load loop does, and touches what it returns.
fn drive(generator: &mut dyn Generator, operations: u64) {
    let mut unchecked = generator.unchecked();
    for _ in 0..operations {
        // The loop needs the operation in memory, as the engine does.
        let Some(op) = black_box(&mut *generator).next() else { return };
        let _: &Op<'_> = black_box(&op);
        unchecked = if unchecked == 0 { generator.unchecked() } else { unchecked - 1 };
    }
}

/// Returns the cost of checking the answer to one point read, in ns.
fn check_ns() -> f64 {
    let (mut put, mut get) =
        (generator("fillseq", "uniform"), generator("readrandom", "sequential"));
    let mut rows = Rows::new();
    rows.clear(true);
    if let Some(Op::Put { key, value }) = put.next() {
        rows.push(key, value);
    }
    assert!(get.next().is_some(), "the first row is read");
    let begun = Instant::now();
    for _ in 0..OPERATIONS {
        assert_eq!(black_box(&mut *get).check(black_box(&rows)), Ok(1));
    }
    begun.elapsed().as_nanos() as f64 / OPERATIONS as f64
}

fn main() {
    let arguments: Vec<_> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [name, operations] = &arguments[..] {
        let (_, step, distribution) =
            CASES.iter().find(|case| case.0 == name).expect("a case's name");
        let operations = operations.parse().expect("a number of operations");
        return drive(generator(step, distribution).as_mut(), operations);
    }
    for (name, step, distribution) in CASES {
        let mut generator = generator(step, distribution);
        let mut best_ns = u128::MAX;
        for _ in 0..TURNS {
            let begun = Instant::now();
            drive(generator.as_mut(), OPERATIONS);
            best_ns = best_ns.min(begun.elapsed().as_nanos());
        }
        println!("{name:<20} {:6.1} ns/operation", best_ns as f64 / OPERATIONS as f64);
    }
    for (name, is_insert) in [("call.insert100", true), ("call.points10", false)] {
        let (mut generator, mut best_ns) = (calls(is_insert), u128::MAX);
        for _ in 0..TURNS {
            let begun = Instant::now();
            drive(generator.as_mut(), CALLS);
            best_ns = best_ns.min(begun.elapsed().as_nanos());
        }
        println!("{name:<20} {:6.1} ns/call", best_ns as f64 / CALLS as f64);
    }
    println!("{:<20} {:6.1} ns/check, 1 operation in 64", "readrandom", check_ns());
}
