//! `make bench-peers`: what our client costs beside `db_bench`, on one library and one task.
//!
//! Not a benchmark of RocksDB: both programs drive the same library, so what differs is the
//! client. It stands outside the flow, and calls `load` and the RocksDB driver as a worker does.
//!
//! Three measurements: instructions, counted by callgrind, which are the same on a busy machine;
//! throughput, in interleaved pairs on one core; and the lag of rate-limited peers (`--lag` does
//! that alone). A target that is missed is told, with by how much; the exit code speaks of
//! failures only.
//!
//! To compare one more kind of operation, add it to `task::WORKS`.
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
mod task;
mod throughput;

use std::process::ExitCode;

use setting::Setting;
use task::Task;

/// Makes the program our side of the comparison: what follows is a task in JSON.
const OURS: &str = "--ours";
/// Asks for the comparison of lag alone.
const LAG: &str = "--lag";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare().and_then(|()| lag::compare()),
        [LAG] => lag::compare(),
        [OURS, task] => ours_only(task),
        _ => Err("usage: bench-peers [--lag]".to_owned()),
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
