//! Compares generator lag and the reporting of a stall.

use std::path::Path;

use model::record::{OpSummaries, OpSummary, Percentiles};
use model::{Nanos, OpKind};

use super::assay;
use super::peers::{self, Times};
use crate::db_bench;
use crate::ours::ROWS;
use crate::process::{Result, path_of};

/// Rates at which the generators are compared, events per second.
const RATES: [u32; 2] = [10_000, 100_000];
/// Interleaved rounds of each generator at each rate.
const ROUNDS: usize = 3;
/// Length of a round, seconds.
const ROUND_SECONDS: u32 = 2;

/// Reads per second and seconds of the stall comparison.
const LOAD: (u32, u32) = (10_000, 5);
/// Length of the stall.
const STALL: Nanos = Nanos::SECOND;
/// Start of `db_bench`'s stall: about the middle.
const STALL_AFTER: Nanos = Nanos::from_millis(2_200);

/// Prints both tables, or why one is skipped.
pub(crate) fn compare() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    match path_of(peers::SYSBENCH, peers::SYSBENCH) {
        Err(lack) => println!("\nskipped the lag of sysbench: {lack}"),
        Ok(_) => compare_generators(scratch.path()),
    }
    match path_of(db_bench::PROGRAM, db_bench::PACKAGE) {
        Err(lack) => println!("\nskipped the reporting of a stall: {lack}"),
        Ok(_) => compare_stalls(scratch.path()),
    }
    Ok(())
}

fn compare_generators(dir: &Path) {
    println!(
        "\nLateness of the generators: one client, an event that does nothing; medians of {ROUNDS} \
         rounds of {ROUND_SECONDS} s,\nin turn; us.\n\n\
         | offered | client | p50 | p99 | p99.9 | max |\n|--:|---|--:|--:|--:|--:|"
    );
    for rate in RATES {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            match generators(dir, rate) {
                Ok(round) => rounds.push(round),
                Err(reason) => println!("| {rate}/s | not measured: {reason} | | | | |"),
            }
        }
        let clients =
            ["sysbench, what it reports", "ours, response time on null", "ours, start lag"];
        for (at, client) in clients.into_iter().enumerate().filter(|_| !rounds.is_empty()) {
            let own: Vec<Times> = rounds.iter().map(|round| round[at]).collect();
            println!("| {rate}/s | {client} | {} |", peers::cells(peers::medians(&own)));
        }
    }
    println!(
        "\nEverything sysbench reports here is its own lateness, reported as if the system under \
         test had taken it;\nours is reported as start lag, apart from the engine's service time."
    );
}

/// Measures each generator once.
fn generators(dir: &Path, rate: u32) -> Result<[Times; 3]> {
    let theirs = peers::sysbench(dir, rate, ROUND_SECONDS)?;
    let step = assay::read(dir, (rate, ROUND_SECONDS), &["--engine", "null"], None)?;
    let arrivals = step.arrivals.as_ref().ok_or("assay stored no arrivals")?;
    let (_, response) = reads(&step.clients, |summary| &summary.response)?;
    Ok([theirs, response, peers::of(&arrivals.start_lag)])
}

/// Source of the note: RocksDB, `tools/db_bench_tool.cc`, `ReadRandom` and `Stats::FinishedOps`.
fn compare_stalls(dir: &Path) {
    let (rate, seconds) = LOAD;
    println!(
        "\nReport of a one-second stall: {rate} reads/s for {seconds} s, one client; us.\n\n\
         | client | stalled | reads | p50 | p99 | p99.9 | max |\n|---|---|--:|--:|--:|--:|--:|"
    );
    for (stalled, pause) in [("nothing", None), ("the process", Some(STALL))] {
        let theirs = peers::fill_db_bench(dir).and_then(|()| {
            peers::read_with_db_bench(dir, LOAD, pause.map(|span| (STALL_AFTER, span)))
        });
        print_row("db_bench", stalled, theirs);
        print_ours(dir, stalled, (&["--engine", "rocksdb@system"], pause));
    }
    // In the middle of the reads, after all rows are loaded.
    let at = ROWS + u64::from(rate * seconds / 2);
    let fault = format!("fault=stall {}ms at {at}", STALL.0 / 1_000_000);
    let engine = ["--engine", "faulty", "--option", &fault];
    print_ours(dir, "the engine (scripted)", (&engine, None));
    println!(
        "\nThe reads that db_bench would have sent during the stall are sent late or never, and none \
         of their times are\nreported; waits for its own rate limiter count as read time. Ours \
         records every arrival: a stopped client is\nreported as such and its seconds do not count; \
         an engine stall shows in the response time of all late arrivals, and\nin the service time \
         of one read only."
    );
}

/// Runs our client and prints its rows.
fn print_ours(dir: &Path, stalled: &str, (engine, pause): (&[&str], Option<Nanos>)) {
    let step = match assay::read(dir, LOAD, engine, pause) {
        Ok(step) => step,
        Err(reason) => return print_row("ours", stalled, Err(reason)),
    };
    let response: fn(&OpSummary) -> &Percentiles = |summary| &summary.response;
    print_row("ours, response time", stalled, reads(&step.clients, response));
    print_row("ours, service time", stalled, reads(&step.clients, |summary| &summary.service));
    if let Some(invalid_intervals) = &step.invalid_intervals {
        let causes = invalid_intervals.causes.iter();
        let causes: Vec<_> =
            causes.map(|(cause, count)| format!("{count} invalid: {}", cause.phrase())).collect();
        let client = format!("ours, the seconds that count ({})", causes.join(", "));
        print_row(&client, stalled, reads(&invalid_intervals.valid, response));
    }
}

fn print_row(client: &str, stalled: &str, row: Result<(u64, Times)>) {
    match row {
        Ok((reads, own)) => println!("| {client} | {stalled} | {reads} | {} |", peers::cells(own)),
        Err(reason) => println!("| {client} | {stalled} | not measured: {reason} | | | | |"),
    }
}

/// Returns the number of reads and their times.
fn reads(
    clients: &OpSummaries,
    percentiles: fn(&OpSummary) -> &Percentiles,
) -> Result<(u64, Times)> {
    let summary = clients.get(&OpKind::Get).ok_or("no interval with a read counts")?;
    Ok((summary.counts.done, peers::of(percentiles(summary))))
}
