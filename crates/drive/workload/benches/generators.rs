//! Cost of one call of `next`, without engine or clock.
//!
//! `cargo bench -p workload` prints ns per operation. With a case and a number of operations
//! (`-- readrandom 1000000`) it runs only that and prints nothing: run it so under
//! `valgrind --tool=callgrind` with two numbers; the slope is instructions per operation.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its arguments")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::hint::black_box;
use std::time::Instant;

use engine::Rows;
use model::{Bytes, DataShape, Op, Step, StopRule};
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
    println!("{:<20} {:6.1} ns/check, 1 operation in 64", "readrandom", check_ns());
}
