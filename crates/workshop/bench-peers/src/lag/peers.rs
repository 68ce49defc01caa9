//! sysbench and `db_bench` at a rate, and the times they report.

use std::path::Path;

use model::Nanos;
use model::record::Percentiles;

use crate::db_bench;
use crate::process::{self, Result, run};

/// Times in us: p50, p99, p99.9 and the longest.
pub(super) type Times = [f64; 4];

/// Converts our percentiles.
pub(super) fn of(ours: &Percentiles) -> Times {
    [ours.p50_ns, ours.p99_ns, ours.p999_ns, ours.max_ns].map(|ns| ns as f64 / 1e3)
}

/// Returns the median of each percentile over rounds; zeros without any.
pub(super) fn medians(rounds: &[Times]) -> Times {
    std::array::from_fn(|at| {
        let mut values: Vec<f64> = rounds.iter().map(|times| times[at]).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    })
}

/// Formats times as cells.
pub(super) fn cells(times: Times) -> String {
    times.map(|us| if us < 10.0 { format!("{us:.2}") } else { format!("{us:.0}") }).join(" | ")
}

/// The program of sysbench.
pub(super) const SYSBENCH: &str = "sysbench";

/// Runs sysbench at a rate on an event that does nothing; returns the reported times.
pub(super) fn sysbench(dir: &Path, rate: u32, seconds: u32) -> Result<Times> {
    let script = dir.join("empty.lua");
    std::fs::write(&script, "function event()\nend\n")?;
    let (rate, seconds) = (format!("--rate={rate}"), format!("--time={seconds}"));
    let script = script.display().to_string();
    let args = [SYSBENCH, &rate, &seconds, "--threads=1", "--histogram=on", &script, "run"];
    parse_sysbench(&run(&args.map(str::to_owned))?)
}

/// Parses its histogram, of lines `0.023 |****    1234` (upper bounds in ms, to 1 us), and its
/// maximum.
fn parse_sysbench(printed: &str) -> Result<Times> {
    let row = |line: &str| -> Option<(f64, u64)> {
        let (value, bar) = line.split_once('|')?;
        let count = bar.trim_start_matches('*').trim().parse().ok()?;
        Some((value.trim().parse().ok()?, count))
    };
    let rows: Vec<(f64, u64)> = printed.lines().filter_map(row).collect();
    let events: u64 = rows.iter().map(|(_, count)| count).sum();
    let max = printed.lines().find_map(|line| line.trim().strip_prefix("max:"));
    let (Some(max), true) = (max, events > 0) else {
        return Err(format!("{SYSBENCH} printed no times: {printed}").into());
    };
    let within = |share: f64| {
        let mut cumulative = 0;
        let is_reached = |(_, count): &&(f64, u64)| {
            cumulative += count;
            cumulative as f64 >= share * events as f64
        };
        rows.iter().find(is_reached).map_or(0.0, |(ms, _)| *ms)
    };
    let max = max.trim().parse()?;
    Ok([within(0.5), within(0.99), within(0.999), max].map(|ms| ms * 1e3))
}

/// Fills the data of `db_bench`, every row once.
pub(super) fn fill_db_bench(dir: &Path) -> Result<()> {
    let dir = dir.join("db_bench");
    run(&db_bench::args("fillseq,compact", &dir, &[("use_existing_db", 0)])).map(drop)
}

/// Reads with `db_bench` at a rate; `pause` is start and length of a stop of the process. Returns
/// the number of reads and their times.
pub(super) fn read_with_db_bench(
    dir: &Path,
    (rate, seconds): (u32, u32),
    pause: Option<(Nanos, Nanos)>,
) -> Result<(u64, Times)> {
    let more = [
        ("use_existing_db", 1),
        ("duration", seconds.into()),
        ("benchmark_read_rate_limit", rate.into()),
    ];
    let args = db_bench::args("readrandom", &dir.join("db_bench"), &more);
    let child = process::start(&args, dir)?;
    if let Some((after, span)) = pause {
        process::rest(after);
        process::pause(child.id(), span)?;
    }
    parse_db_bench(&process::finish(child)?)
}

/// Parses `Percentiles: P50: 2.23 ...`, `Min: 0 Median: 2.2 Max: 98305` and `Count: 60999 ...`.
fn parse_db_bench(printed: &str) -> Result<(u64, Times)> {
    let tokens: Vec<&str> = printed.split_whitespace().collect();
    let after = |name: &str| -> Result<&str> {
        let found = tokens.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
        Ok(found.ok_or_else(|| format!("db_bench printed no `{name}`: {printed}"))?)
    };
    let mut times = Times::default();
    for (time, name) in times.iter_mut().zip(["P50:", "P99:", "P99.9:", "Max:"]) {
        *time = after(name)?.parse()?;
    }
    Ok((after("Count:")?.parse()?, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.001 |*****************                        980
       0.002 |                                         15
       3.500 |                                         5

Latency (ms):
         min:                                    0.00
         avg:                                    0.02
         max:                                    4.64
";

    #[test]
    fn percentiles_are_read_from_sysbench_s_histogram() {
        let times = cells(parse_sysbench(PRINTED).unwrap());
        assert_eq!(times, "1.00 | 2.00 | 3500 | 4640");
        let error = parse_sysbench("FATAL: no such script").unwrap_err().to_string();
        assert!(error.contains("no times"), "{error}");
    }

    #[test]
    fn percentiles_count_and_maximum_of_db_bench_are_parsed() {
        let printed = "readrandom : 98.650 micros/op 10136 ops/sec\nMicroseconds per read:\n\
            Count: 60999 Average: 98.6728  StdDev: 3046.25\nMin: 0  Median: 2.2342  Max: 98305\n\
            Percentiles: P50: 2.23 P75: 2.90 P99: 8.02 P99.9: 1901.00 P99.99: 98305.00\n";
        let (reads, times) = parse_db_bench(printed).unwrap();
        assert_eq!((reads, &*cells(times)), (60_999, "2.23 | 8.02 | 1901 | 98305"));
        let error = parse_db_bench("Unknown flag").unwrap_err().to_string();
        assert!(error.contains("printed no `P50:`"), "{error}");
    }

    #[test]
    fn each_figure_has_its_own_median() {
        let round = |p50, max| [p50, 0.0, 0.0, max];
        let found = medians(&[round(1.0, 90.0), round(3.0, 70.0), round(2.0, 80.0)]);
        assert_eq!(cells(found), cells(round(2.0, 80.0)));
    }

    #[test]
    fn times_below_ten_have_two_decimals() {
        assert_eq!(cells([0.04, 9.26, 10.2, 1_000_000.4]), "0.04 | 9.26 | 10 | 1000000");
    }
}
