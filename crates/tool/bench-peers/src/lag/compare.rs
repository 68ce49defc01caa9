//! Compares generator lag and the reporting of a stall.

use std::path::Path;

use model::record::{OpSummaries, OpSummary};
use model::validity::{InvalidCause, InvalidIntervals};
use model::{Nanos, OpKind};

use super::assay::Assay;
use super::times::Times;
use super::{db_bench, sysbench, tables};
use crate::environment::is_installed;
use crate::peer;
use crate::task::ROWS;

/// Rates at which the generators are compared, events per second.
const RATES: [u32; 2] = [10_000, 100_000];
/// Interleaved rounds of each generator at each rate.
const ROUNDS: usize = 3;
/// Length of a round, seconds.
const ROUND_SECONDS: u32 = 2;

/// Reads per second of the stall comparison.
const READS_PER_S: u32 = 10_000;
/// Its length, seconds.
const SECONDS: u32 = 5;
/// Length of the stall.
const STALL: Nanos = Nanos::SECOND;
/// Start of `db_bench`'s stall: about the middle.
const STALL_AFTER: Nanos = Nanos::from_millis(2_200);

/// Prints both tables, or why one is skipped.
pub(crate) fn compare() -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let dir = scratch.path();
    let ours = match Assay::find(dir) {
        Ok(ours) => ours,
        Err(lack) => {
            println!("\nskipped the comparison of lag: {lack}");
            return Ok(());
        }
    };
    match lack_of(sysbench::PROGRAM, "sysbench") {
        Some(lack) => println!("\nskipped the lag of sysbench: {lack}"),
        None => compare_generators(dir, &ours)?,
    }
    match lack_of(peer::PROGRAM, "rocksdb-tools") {
        Some(lack) => println!("\nskipped the reporting of a stall: {lack}"),
        None => compare_stalls(dir, &ours)?,
    }
    Ok(())
}

fn lack_of(program: &str, package: &str) -> Option<String> {
    let remedy = format!("{program} is not on the path: install Debian's package `{package}`");
    (!is_installed(program)).then_some(remedy)
}

fn compare_generators(dir: &Path, ours: &Assay) -> Result<(), String> {
    print!("{}", tables::generators_head(ROUNDS, ROUND_SECONDS));
    for rate in RATES {
        let (mut theirs, mut lags, mut responses) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(sysbench::times(dir, rate, ROUND_SECONDS)?);
            let step = ours.read("null", (rate, ROUND_SECONDS), &["--engine", "null"], None)?;
            let arrivals = step.arrivals.as_ref().ok_or("assay stored no arrivals")?;
            lags.push(Times::of(&arrivals.start_lag));
            responses.push(response(&step.clients)?);
        }
        let rows = [
            ("sysbench, what it reports", theirs),
            ("ours, response time on null", responses),
            ("ours, start lag", lags),
        ];
        for (client, rounds) in rows {
            print!("{}", tables::generators_row(rate, client, &Times::medians(&rounds)));
        }
    }
    print!("{}", tables::generators_note());
    Ok(())
}

fn compare_stalls(dir: &Path, ours: &Assay) -> Result<(), String> {
    print!("{}", tables::stalls_head(READS_PER_S, SECONDS));
    let load = (READS_PER_S, SECONDS);
    let row = |client: &str, stalled: &str, reads: u64, times: &Times| {
        print!("{}", tables::stalls_row(client, stalled, reads, times));
    };
    db_bench::fill(dir)?;
    let system = ["--engine", "rocksdb@system"];
    for (stalled, pause) in [("nothing", None), ("the process", Some((STALL_AFTER, STALL)))] {
        let theirs = db_bench::read(dir, load, pause)?;
        row("db_bench", stalled, theirs.reads, &theirs.times);
        let step = ours.read("rocksdb", load, &system, pause.map(|(_, span)| span))?;
        row("ours, response time", stalled, done(&step.clients), &response(&step.clients)?);
        if let Some(invalid_intervals) = &step.invalid_intervals {
            let client = format!("ours, the seconds that count ({})", causes(invalid_intervals));
            row(
                &client,
                stalled,
                done(&invalid_intervals.valid),
                &response(&invalid_intervals.valid)?,
            );
        }
    }
    let step = ours.read("faulty", load, &["--engine", "faulty", "--option", &stall()], None)?;
    let stalled = "the engine (scripted)";
    row("ours, response time", stalled, done(&step.clients), &response(&step.clients)?);
    row(
        "ours, service time",
        stalled,
        done(&step.clients),
        &Times::of(&reads(&step.clients)?.service),
    );
    print!("{}", tables::stalls_note());
    Ok(())
}

/// Returns the fault script: a stall in the middle of the reads, after all rows are loaded.
fn stall() -> String {
    let at = ROWS + u64::from(READS_PER_S * SECONDS / 2);
    format!("fault=stall {}ms at {at}", STALL.0 / 1_000_000)
}

/// Formats why intervals are invalid, such as `1 invalid: the worker was stopped`.
fn causes(invalid_intervals: &InvalidIntervals) -> String {
    let cause =
        |(cause, count): &(InvalidCause, u32)| format!("{count} invalid: {}", cause.phrase());
    invalid_intervals.causes.iter().map(cause).collect::<Vec<_>>().join(", ")
}

fn reads(clients: &OpSummaries) -> Result<&OpSummary, String> {
    clients.get(&OpKind::Get).ok_or_else(|| "assay read nothing".to_owned())
}

fn done(clients: &OpSummaries) -> u64 {
    clients.values().map(|summary| summary.counts.done).sum()
}

fn response(clients: &OpSummaries) -> Result<Times, String> {
    Ok(Times::of(&reads(clients)?.response))
}
