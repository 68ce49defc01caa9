//! Cost of our clients compared with `db_bench`, `pgbench` and `sysbench`.
//!
//! Run by `make bench-peers`. No benchmark of RocksDB or of a server: both clients use the same
//! library or server for the same task, so the difference is the client. The program stands
//! outside the flow, and calls `load` and the drivers as a worker does.
//!
//! Four measurements: instructions, counted by callgrind, which are the same on a busy machine;
//! throughput, in interleaved pairs on one core; CPU of SQL clients with their server on one
//! core (`--sql` alone); and the lag of rate-limited peers (`--lag` alone).
//! A missed target is reported with the shortfall; the exit code reports failures only.
//!
//! To compare one more kind of operation, add it to `task::WORKS`, or `sql::work::WORKS`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a program")]

mod callgrind;
mod environment;
mod instructions;
mod interval;
mod lag;
mod options;
mod ours;
mod peer;
mod report;
mod sql;
mod task;
mod throughput;

use std::process::ExitCode;

use environment::Environment;
use ours::OURS;
use sql::{ECHO, OURS_SQL};
use task::Task;

/// Option: compare the lag alone.
const LAG: &str = "--lag";
/// Option: compare SQL clients alone.
const SQL: &str = "--sql";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare().and_then(|()| sql::compare()).and_then(|()| lag::compare()),
        [LAG] => lag::compare(),
        [SQL] => sql::compare(),
        [OURS, task] => ours_only(task),
        [ECHO] => sql::echo(),
        [OURS_SQL, job] => our_sql_only(job),
        _ => Err("usage: bench-peers [--lag | --sql]".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("bench-peers: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Executes one task as our side and prints its operations per second.
fn ours_only(task: &str) -> Result<(), String> {
    let task: Task = serde_json::from_str(task).map_err(|error| error.to_string())?;
    println!("{}", ours::execute(&task)?);
    Ok(())
}

/// Executes one job as our side and prints the result.
fn our_sql_only(job: &str) -> Result<(), String> {
    let job: sql::Job = serde_json::from_str(job).map_err(|error| error.to_string())?;
    let done = serde_json::to_string(&sql::execute(&job)?).map_err(|error| error.to_string())?;
    println!("{done}");
    Ok(())
}

/// Compares the two clients and prints the tables.
fn compare() -> Result<(), String> {
    let environment = match Environment::find()? {
        Ok(environment) => environment,
        Err(lack) => {
            println!("skipped: {lack}");
            return Ok(());
        }
    };
    print!("{}", report::head(&environment, &options::differences(&environment)?));
    print!("{}", report::instructions_head());
    for work in &task::WORKS {
        let counted = instructions::count(&environment, work)?;
        print!("{}", report::instructions_row(work, &counted));
    }
    print!("{}", report::throughput_head());
    throughput::on_one_core(|| {
        for work in &task::WORKS {
            let pairs = throughput::measure_pairs(&environment, work)?;
            print!("{}", report::throughput_row(work, &pairs));
        }
        print!("{}", report::notes());
        Ok(())
    })
}
