//! Benchmark of `assay history` on CSV files, with Apache Otava.
//!
//! `cargo bench -p assay --bench history` prints seconds of wall time. Otava is run on the same
//! files where it is installed (pip install apache-otava); `-- --assay-only` leaves it out.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "../../../define/stats/tests/history/random.rs"]
mod random;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use random::Random;

/// Metrics of a file.
const METRICS: u64 = 10;
/// Rounds of Assay; minimum and median are printed.
const ROUNDS: usize = 11;
/// Points from one step to the next.
const APART: usize = 100;
/// Points of a file, and the target in ms.
const CASES: [(usize, f64); 2] = [(1_000, 50.0), (5_000, 150.0)];

/// Writes a file of histories with noise of 1 % and a step of 3 % every hundred points.
fn write(dir: &Path, points: usize) {
    let mut random = Random::seeded(7);
    let names: Vec<String> = (0..METRICS).map(|metric| format!("m{metric}")).collect();
    let mut csv = format!("time,{}\n", names.join(","));
    let mut levels = vec![10.0; names.len()];
    for point in 0..points {
        csv += &(1_300_000_000 + 86_400 * point).to_string();
        for level in &mut levels {
            if point > 0 && point.is_multiple_of(APART) {
                *level += if random.between(0, 2) == 0 { -0.03 } else { 0.03 };
            }
            csv += &format!(",{:.3}", (*level + 0.01 * random.normal()).exp());
        }
        csv += "\n";
    }
    fs::write(dir.join("series.csv"), csv).expect("a scratch file");
    let metrics: Vec<String> = names
        .iter()
        .map(|name| format!("      {name}: {{direction: 1, column: {name}}}"))
        .collect();
    let config = format!(
        "tests:\n  series:\n    type: csv\n    file: series.csv\n    time_column: time\n    \
         metrics:\n{}\n",
        metrics.join("\n")
    );
    fs::write(dir.join("otava.yaml"), config).expect("a scratch file");
}

/// Runs a command in a directory; returns its wall time in seconds, `None` if not installed.
fn time(dir: &Path, program: &str, arguments: &[&str]) -> Option<f64> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status().ok()?;
    assert!(status.success(), "{program} {arguments:?}");
    Some(begun.elapsed().as_secs_f64())
}

fn main() {
    // `cargo test --benches` only checks that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let assay_only = std::env::args().any(|argument| argument == "--assay-only");
    println!("changes of {METRICS} metrics, the whole command: CSV in, report out");
    for (points, limit_ms) in CASES {
        let dir = tempfile::tempdir().expect("a scratch directory");
        write(dir.path(), points);
        let assay = || {
            let arguments = ["history", "--import", "series.csv"];
            time(dir.path(), env!("CARGO_BIN_EXE_assay"), &arguments).expect("assay is built")
        };
        let mut times: Vec<f64> = (0..ROUNDS).map(|_| assay() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        let (least, median) = (times[0], times[ROUNDS / 2]);
        let verdict = if median <= limit_ms { "met" } else { "MISSED" };
        println!(
            "{points:>5} points  assay  {least:6.1} ms least, {median:6.1} median; target \
             {limit_ms} ms: {verdict}"
        );
        if assay_only {
            continue;
        }
        let arguments = ["analyze", "series", "--config-file", "otava.yaml"];
        let all = ["--since", "2000-01-01", "--last", "100000"];
        match time(dir.path(), "otava", &[&arguments[..], &all[..]].concat()) {
            Some(seconds) => println!(
                "{points:>5} points  otava  {:6.0} ms once: {:.0} times as long",
                seconds * 1e3,
                seconds * 1e3 / median
            ),
            None => println!("skipped: otava is not installed (pip install apache-otava)"),
        }
    }
}
