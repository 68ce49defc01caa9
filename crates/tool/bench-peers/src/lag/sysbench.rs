//! sysbench with `--rate`, on an empty event.

use std::path::Path;

use super::times::Times;
use crate::environment::run;

/// Its program.
pub(super) const PROGRAM: &str = "sysbench";

/// The event, in Lua.
const EVENT: &str = "function event()\nend\n";

/// Runs a rate for some seconds with one thread, and returns the reported times.
pub(super) fn times(dir: &Path, rate: u32, seconds: u32) -> Result<Times, String> {
    let script = dir.join("empty.lua");
    std::fs::write(&script, EVENT).map_err(|error| error.to_string())?;
    let mut args = vec![PROGRAM.to_owned()];
    args.extend([format!("--rate={rate}"), format!("--time={seconds}")]);
    args.extend(["--threads=1", "--histogram=on"].map(str::to_owned));
    args.extend([script.display().to_string(), "run".to_owned()]);
    parse(&run(&args)?)
}

/// Parses its histogram (upper bounds in ms, to 1 us) and its maximum.
fn parse(printed: &str) -> Result<Times, String> {
    let rows: Vec<(f64, u64)> = printed.lines().filter_map(row).collect();
    let events: u64 = rows.iter().map(|(_, count)| count).sum();
    let max =
        printed.lines().find_map(|line| line.trim().strip_prefix("max:")?.trim().parse().ok());
    let (Some(max), true) = (max, events > 0) else {
        return Err(format!("{PROGRAM} printed no times: {printed}"));
    };
    let max: f64 = max;
    let within = |share: f64| {
        let mut cumulative = 0;
        let is_reached = |(_, count): &&(f64, u64)| {
            cumulative += count;
            cumulative as f64 >= share * events as f64
        };
        rows.iter().find(is_reached).map_or(max, |(ms, _)| *ms) * 1e3
    };
    Ok(Times { p50: within(0.5), p99: within(0.99), p999: within(0.999), max: max * 1e3 })
}

/// Parses a line `       0.023 |****    1234`.
fn row(line: &str) -> Option<(f64, u64)> {
    let (value, bar) = line.split_once('|')?;
    let count = bar.trim_start_matches('*').trim();
    Some((value.trim().parse().ok()?, count.parse().ok()?))
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
    fn percentiles_are_read_from_the_histogram() {
        let times = parse(PRINTED).unwrap();
        assert_eq!(times, Times { p50: 1.0, p99: 2.0, p999: 3500.0, max: 4640.0 });
    }

    #[test]
    fn output_without_times_is_an_error() {
        assert!(parse("FATAL: no such script").unwrap_err().contains("no times"));
    }
}
