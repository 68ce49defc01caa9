//! `db_bench` with its read rate limit.

use std::path::Path;

use model::Nanos;

use super::process;
use super::times::Times;
use crate::environment::run;
use crate::peer::PROGRAM;
use crate::task::{CACHE_BYTES, KEY_BYTES, ROWS, VALUE_BYTES};

/// Reported results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reported {
    /// Times of the reads.
    pub(super) times: Times,
    /// Number of reads.
    pub(super) reads: u64,
}

/// Fills its data, every row once.
pub(super) fn fill(dir: &Path) -> Result<(), String> {
    run(&args(dir, "fillseq,compact", &["--use_existing_db=0".to_owned()]))?;
    Ok(())
}

/// Reads at a rate for some seconds; `pause` is start and length of a stop of the process.
pub(super) fn read(
    dir: &Path,
    (rate, seconds): (u32, u32),
    pause: Option<(Nanos, Nanos)>,
) -> Result<Reported, String> {
    let more = [
        "--use_existing_db=1".to_owned(),
        format!("--duration={seconds}"),
        format!("--benchmark_read_rate_limit={rate}"),
    ];
    let child = process::start(&args(dir, "readrandom", &more), dir)?;
    if let Some((after, span)) = pause {
        process::rest(after);
        process::pause(child.id(), span)?;
    }
    parse(&process::finish(child)?)
}

fn args(dir: &Path, benchmark: &str, more: &[String]) -> Vec<String> {
    let mut args = vec![
        PROGRAM.to_owned(),
        format!("--benchmarks={benchmark}"),
        format!("--db={}", dir.join("db_bench").display()),
        format!("--num={ROWS}"),
        format!("--key_size={KEY_BYTES}"),
        format!("--value_size={VALUE_BYTES}"),
        format!("--cache_size={CACHE_BYTES}"),
        "--threads=1".to_owned(),
        "--histogram=1".to_owned(),
        "--compression_type=none".to_owned(),
    ];
    args.extend_from_slice(more);
    args
}

/// Parses `Percentiles: P50: 2.23 ...`, `Min: 0 Median: 2.2 Max: 98305` and `Count: 60999 ...`.
fn parse(printed: &str) -> Result<Reported, String> {
    let tokens: Vec<&str> = printed.split_whitespace().collect();
    let after = |name: &str| -> Result<f64, String> {
        let at = tokens.iter().position(|token| *token == name);
        let value = at.and_then(|at| tokens.get(at + 1)?.parse().ok());
        value.ok_or_else(|| format!("{PROGRAM} printed no `{name}`: {printed}"))
    };
    let (p50, p99, p999) = (after("P50:")?, after("P99:")?, after("P99.9:")?);
    #[expect(clippy::cast_possible_truncation, reason = "a count is printed as a whole number")]
    #[expect(clippy::cast_sign_loss, reason = "a count is not negative")]
    let reads = after("Count:")? as u64;
    Ok(Reported { times: Times { p50, p99, p999, max: after("Max:")? }, reads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_count_and_maximum_are_parsed() {
        let printed = "readrandom : 98.650 micros/op 10136 ops/sec\nMicroseconds per read:\n\
            Count: 60999 Average: 98.6728  StdDev: 3046.25\nMin: 0  Median: 2.2342  Max: 98305\n\
            Percentiles: P50: 2.23 P75: 2.90 P99: 8.02 P99.9: 1901.00 P99.99: 98305.00\n";
        let times = Times { p50: 2.23, p99: 8.02, p999: 1901.0, max: 98_305.0 };
        assert_eq!(parse(printed), Ok(Reported { times, reads: 60_999 }));
        assert!(parse("Unknown flag").unwrap_err().contains("printed no `P50:`"));
    }
}
