//! Cost of one call of `next`, with the values drawn for a procedure, without engine or clock.
//!
//! `cargo bench -p calls` prints ns per call.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use calls::Tables;
use engine::ApplicationSetup;
use model::sql::{CallMix, Copies, Draw, PerDialect, Procedure, Table, TrafficSpec};
use model::{Application, Bounds, DataShape, Op, OpKind, OpUnit, Step, StepRole, StopRule};
use workload::{Generator, Group, Presence, Request};

/// Rows of the key space: enough for every fill to last.
const ROWS: u64 = 1 << 30;
/// Calls per timed turn, and turns: the shortest is printed.
const CALLS: u64 = 50_000;
const TURNS: u32 = 5;

/// Returns calls like the Insert Benchmark's: 100 rows of one moment, four integers and a payload,
/// or ten ids.
fn generator(is_insert: bool) -> Box<dyn Generator> {
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
    calls::generators(&request, &tables).expect("the case is right").remove(0)
}

/// Calls the generator as the load loop does, and touches what it returns.
fn drive(generator: &mut dyn Generator, calls: u64) {
    for _ in 0..calls {
        // The loop needs the call in memory, as the engine does.
        let Some(op) = black_box(&mut *generator).next() else { return };
        let _: &Op<'_> = black_box(&op);
    }
}

fn main() {
    for (name, is_insert) in [("call.insert100", true), ("call.points10", false)] {
        let (mut generator, mut best_ns) = (generator(is_insert), u128::MAX);
        for _ in 0..TURNS {
            let begun = Instant::now();
            drive(generator.as_mut(), CALLS);
            best_ns = best_ns.min(begun.elapsed().as_nanos());
        }
        println!("{name:<20} {:6.1} ns/call", best_ns as f64 / CALLS as f64);
    }
}
