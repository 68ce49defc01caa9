//! `make bench-peers`: what our clients cost beside `db_bench`, `pgbench` and `sysbench`, on the
//! same library or server and one task.
//!
//! Not a benchmark of RocksDB or of a server: both programs drive the same, so what differs is the
//! client. It stands outside the flow, and calls `load` and the drivers as a worker does.
//!
//! Four measurements: instructions, counted by callgrind, which are the same on a busy machine;
//! throughput, in interleaved pairs on one core; CPU of SQL clients beside their server on one
//! core (`--sql` does that alone); and the lag of rate-limited peers (`--lag` does that alone). A
//! target that is missed is told, with by how much; the exit code speaks of failures only.
//!
//! To compare one more kind of operation, add it to `task::WORKS`, or `sql::work::WORKS`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks to its user")]

mod callgrind;
mod instructions;
mod interval;
mod lag;
mod options;
mod ours;
mod peer;
mod report;
mod setting;
mod sql;
mod task;
mod throughput;

use std::process::ExitCode;

use setting::Setting;
use task::Task;

/// Makes the program our side of the comparison: what follows is a task in JSON.
const OURS: &str = "--ours";
/// Makes it our side of the comparison of SQL clients: what follows is a job in JSON.
const OURS_SQL: &str = "--ours-sql";
/// Makes it a process that answers and does nothing else.
const ECHO: &str = "--echo";
/// Asks for the comparison of lag alone.
const LAG: &str = "--lag";
/// Asks for the comparison of SQL clients alone.
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

/// Executes one job as our side and prints what was done.
fn our_sql_only(job: &str) -> Result<(), String> {
    let job: sql::Job = serde_json::from_str(job).map_err(|error| error.to_string())?;
    let done = serde_json::to_string(&sql::execute(&job)?).map_err(|error| error.to_string())?;
    println!("{done}");
    Ok(())
}

/// Compares the two clients and prints the tables.
fn compare() -> Result<(), String> {
    let setting = match Setting::find()? {
        Ok(setting) => setting,
        Err(lack) => {
            println!("skipped: {lack}");
            return Ok(());
        }
    };
    print!("{}", report::head(&setting, &options::differences(&setting)?));
    print!("{}", report::instructions_head());
    for work in &task::WORKS {
        let counted = instructions::count(&setting, work)?;
        print!("{}", report::instructions_row(work, &counted));
    }
    print!("{}", report::throughput_head());
    throughput::on_one_core(|| {
        for work in &task::WORKS {
            let pairs = throughput::race(&setting, work)?;
            print!("{}", report::throughput_row(work, &pairs));
        }
        print!("{}", report::notes());
        Ok(())
    })
}
