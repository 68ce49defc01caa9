//! Cost of our clients compared with `db_bench`, `pgbench` and `sysbench`.
//!
//! Run by `make bench-peers`. No benchmark of RocksDB or of a server: both clients use the same
//! library or server for the same task, so the difference is the client. The program stands
//! outside the flow, and calls `load` and the drivers as a worker does.
//!
//! Two measurements: the cost of one operation (wall time and CPU in interleaved pairs on one
//! core, and instructions counted by callgrind, which are the same on a busy machine); and the lag
//! of rate-limited peers (`--lag` alone). `--sql` compares the SQL clients alone.
//! A missed target is reported with the shortfall; the exit code reports failures only.
//!
//! To add an operation: [`db_bench`]'s works, or the statements of a SQL peer.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a program")]

mod callgrind;
mod db_bench;
mod lag;
mod ours;
mod pairs;
mod process;
mod sql;

use std::process::ExitCode;

use process::Result;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parts: &[fn() -> Result<()>] =
        match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => &[lag::compare, db_bench::compare, sql::compare],
            ["--lag"] => &[lag::compare],
            ["--sql"] => &[sql::compare],
            [process::OURS, task] => return finish(ours::execute(task)),
            _ => return finish(Err("usage: bench-peers [--lag | --sql]".into())),
        };
    // One part that cannot be measured does not hide the others.
    let failed = parts.iter().filter(|part| finish(part()) == ExitCode::FAILURE).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn finish(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("bench-peers: {reason}");
            ExitCode::FAILURE
        }
    }
}
