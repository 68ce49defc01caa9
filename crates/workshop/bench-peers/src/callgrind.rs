//! Instructions per operation, counted by callgrind.
//!
//! Source: Valgrind user manual, "Callgrind Format Specification", section "Extended Example".

use std::fs;
use std::path::Path;

use crate::process::{Result, run};

/// Operations of the two processes whose difference is taken: start-up, opening, cold misses and
/// shutdown cancel.
const OPERATIONS: [u64; 2] = [5_000, 25_000];

/// Returns instructions per operation: all, and those in the client's own program, not in a
/// library.
///
/// `program`: file name of the client's own program, and its first counted thread, from 1. `args`
/// returns the client's command line.
pub(crate) fn per_operation(
    scratch: &Path,
    program: (&str, u32),
    args: impl Fn(u64) -> Result<Vec<String>>,
) -> Result<[f64; 2]> {
    let [few, many] = OPERATIONS;
    let operations = (many - few) as f64;
    let (few, many) = (count(scratch, program, args(few)?)?, count(scratch, program, args(many)?)?);
    Ok([0, 1].map(|at| (many[at] as f64 - few[at] as f64) / operations))
}

/// Runs a client under callgrind and sums its counted threads.
fn count(
    scratch: &Path,
    (program, first_thread): (&str, u32),
    client: Vec<String>,
) -> Result<[u64; 2]> {
    let file = scratch.join("callgrind").display().to_string();
    let out = format!("--callgrind-out-file={file}");
    let valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", &out];
    let valgrind = valgrind.into_iter().chain(["--compress-strings=no"]).map(str::to_owned);
    run(&valgrind.chain(client).collect::<Vec<_>>())?;
    let mut counts = [0; 2];
    for thread in 1.. {
        let part = format!("{file}-{thread:02}");
        // Threads are numbered without a gap.
        let Ok(text) = fs::read_to_string(&part) else { break };
        fs::remove_file(&part)?;
        if thread >= first_thread {
            let [total, own] = parse(&text, program)?;
            counts = [counts[0] + total, counts[1] + own];
        }
    }
    if counts[0] == 0 { Err("callgrind counted no client thread".into()) } else { Ok(counts) }
}

/// Parses an output file: all instructions, and those of a program's own object file.
///
/// # Errors
/// When the parts do not add up to the file's own sum.
fn parse(text: &str, program: &str) -> Result<[u64; 2]> {
    let (mut is_own, mut is_call, mut sum) = (false, false, None);
    let [mut total, mut own] = [0, 0];
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_own = Path::new(object).file_name().is_some_and(|name| name == program);
        } else if line.starts_with("calls=") {
            // The next line is the inclusive cost of the callee, counted at the callee.
            is_call = true;
        } else if let Some(all) = line.strip_prefix("totals: ") {
            sum = all.trim().parse::<u64>().ok();
        } else if let Some(cost) = cost(line)
            && !std::mem::take(&mut is_call)
        {
            total += cost;
            own += if is_own { cost } else { 0 };
        }
    }
    match sum {
        Some(sum) if sum == total => Ok([total, own]),
        _ => Err(format!("callgrind's parts make {total}, its sum {sum:?}").into()),
    }
}

/// Returns the cost of a line that begins with a position: `12 5`, `+3 5`, `* 5`.
fn cost(line: &str) -> Option<u64> {
    line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
        .then(|| line.split_once(' ')?.1.trim().parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
version: 1
positions: line
events: Ir

ob=/bin/client
fl=a.c
fn=main
16 20
cob=/lib/engine.so
cfn=get
calls=3 8
* 400
+1 5

ob=/lib/engine.so
fn=get
8 395
ob=/bin/client
fn=hash
-2 5

totals: 425
";

    #[test]
    fn self_cost_is_counted_and_callees_once() {
        assert_eq!(parse(FILE, "client").unwrap(), [425, 30]);
    }

    #[test]
    fn inconsistent_totals_are_rejected() {
        let error = parse(&FILE.replace("totals: 425", "totals: 825"), "client").unwrap_err();
        assert_eq!(error.to_string(), "callgrind's parts make 425, its sum Some(825)");
    }
}
