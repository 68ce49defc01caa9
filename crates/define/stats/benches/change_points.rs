//! Cost of finding the changes of ten histories, in process.
//!
//! `cargo bench -p stats --bench change_points` prints milliseconds. The whole command, with file
//! read and report, is timed by `cargo bench -p assay --bench history`, next to Apache Otava where
//! it is installed.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "../tests/history/random.rs"]
mod random;

use std::hint::black_box;
use std::time::Instant;

use random::Random;
use stats::change::{STRICTNESS, find};

/// Histories of a case.
const HISTORIES: u64 = 10;
/// Rounds; the least and the median are printed.
const ROUNDS: usize = 9;
/// Points from one step to the next, where there are steps.
const APART: usize = 100;

/// Returns a history with noise of 1 % and, optionally, a step of 3 % every hundred points.
fn history(points: usize, has_steps: bool, seed: u64) -> Vec<Option<f64>> {
    let mut random = Random::seeded(seed);
    let mut level = 0.0;
    let value = |point: usize| {
        if has_steps && point > 0 && point.is_multiple_of(APART) {
            level += if random.between(0, 2) == 0 { -0.03 } else { 0.03 };
        }
        Some((10.0 + level + 0.01 * random.normal()).exp())
    };
    (0..points).map(value).collect()
}

fn main() {
    println!("changes of {HISTORIES} histories, in process");
    for (points, has_steps) in [(1_000, true), (5_000, true), (1_000, false), (5_000, false)] {
        let all: Vec<_> = (0..HISTORIES).map(|seed| history(points, has_steps, seed + 1)).collect();
        let mut times = Vec::new();
        let mut changes = 0;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let found = all.iter().map(|one| find(black_box(one), STRICTNESS));
            changes = found.map(|found| found.changes.len()).sum();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let steps = if has_steps { "a step every 100 points" } else { "no step" };
        println!(
            "{points:>5} points, {steps:<24} {:6.1} ms least, {:6.1} median; {changes} changes",
            times[0],
            times[ROUNDS / 2]
        );
    }
}
