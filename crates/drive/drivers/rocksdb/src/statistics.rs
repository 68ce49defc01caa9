//! Parsers of RocksDB's statistics texts.
//!
//! Numbers are found by name, since columns differ by release.

use std::collections::BTreeMap;

use model::state::LevelShape;
use model::{Readings, metric};

/// Background work as the engine reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// Flushes and compactions that run.
    pub(crate) running: u64,
    /// Those that wait.
    pub(crate) waiting: u64,
    /// Pending compaction bytes.
    pub(crate) debt: u64,
}

/// Parses the levels of `rocksdb.cfstats`; `None` without a table of levels.
///
/// Sizes are printed with three digits or more.
pub(crate) fn levels(cfstats: &str) -> Option<Vec<LevelShape>> {
    let mut lines = cfstats.lines();
    let header: Vec<&str> =
        lines.find(|line| line.starts_with("Level "))?.split_whitespace().collect();
    let files_at = header.iter().position(|name| *name == "Files")?;
    let size_at = header.iter().position(|name| *name == "Size")?;
    let mut levels = Vec::new();
    for line in lines.skip_while(|line| line.starts_with('-')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let Some(level) = fields.first().and_then(|name| name.strip_prefix('L')) else { break };
        let Ok(level) = level.parse() else { break };
        let files = fields.get(files_at)?.split('/').next()?.parse().ok()?;
        let bytes = human_bytes(fields.get(size_at)?, fields.get(size_at + 1)?)?;
        levels.push(LevelShape { level, files, bytes });
    }
    Some(levels)
}

/// Parses a size as RocksDB prints it (`2.35 MB`, binary units).
#[expect(clippy::cast_possible_truncation, reason = "sizes of a disk fit u64")]
#[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
pub(crate) fn human_bytes(number: &str, unit: &str) -> Option<u64> {
    let shift = match unit {
        "B" => 0,
        "KB" => 10,
        "MB" => 20,
        "GB" => 30,
        "TB" => 40,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some((number * 2_f64.powi(shift)).round() as u64)
}

/// Parses the write delays and stops of `rocksdb.cfstats`; `None` when neither format matches.
///
/// All of them, each counted once, and by cause, under the names the release prints. 8.1 and newer
/// print `name: count, ...`, where totals have names of their own; older ones `count name, ...`,
/// where causes "with compaction" are parts of those without.
pub(crate) fn stalls(cfstats: &str) -> Option<(u64, BTreeMap<String, u64>)> {
    let line = |start: &str| cfstats.lines().find_map(|line| line.strip_prefix(start));
    let (mut total, mut causes) = (0, BTreeMap::new());
    if let Some(list) = line("Write Stall (count): ") {
        for (name, count) in list.split(", ").filter_map(|part| part.split_once(": ")) {
            match count.trim().parse::<u64>() {
                Ok(count) if name.starts_with("total-") => total += count,
                Ok(count) => _ = causes.insert(name.to_owned(), count),
                Err(_) => {}
            }
        }
        return Some((total, causes));
    }
    let list = line("Stalls(count): ")?;
    for (count, name) in list.split(", ").filter_map(|part| part.split_once(' ')) {
        // The last part, `interval N total count`, does not begin with a number.
        let Ok(count) = count.parse::<u64>() else { continue };
        if !name.ends_with("_with_compaction") {
            total += count;
        }
        causes.insert(name.replace(' ', "_"), count);
    }
    Some((total, causes))
}

/// Parses time and CPU time of flushes and compactions, and bytes of blob files read, from the
/// sums of `rocksdb.cfstats`.
///
/// CPU is printed from 6.0 on, blob files from 6.20 on; times with two decimals, bytes of blob
/// files with one of GiB.
pub(crate) fn jobs(cfstats: &str) -> Readings {
    let mut lines = cfstats.lines().skip_while(|line| !line.starts_with("Level "));
    let header: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let sums = lines.find_map(|line| line.trim_start().strip_prefix("Sum "));
    let sums: Vec<&str> = sums.unwrap_or_default().split_whitespace().collect();
    let mut readings = Readings::new();
    for (metric, column, factor) in [
        (metric::ENGINE_JOB_US, "Comp(sec)", 1e6),
        (metric::ENGINE_JOB_CPU_US, "CompMergeCPU(sec)", 1e6),
        (metric::ENGINE_BLOB_READ_BYTES, "Rblob(GB)", 1_073_741_824.0),
    ] {
        // The size is two fields below one heading, and the row's name is left out.
        let at = header.iter().position(|name| *name == column);
        let sum = at.and_then(|at| sums.get(at)?.parse::<f64>().ok());
        readings.set(metric, sum.map(|sum| sum * factor));
    }
    readings
}

/// Parses the time of write stalls in `rocksdb.dbstats`, us.
#[expect(clippy::cast_possible_truncation, reason = "a run's time in us fits u64")]
#[expect(clippy::cast_sign_loss, reason = "a span is not negative")]
pub(crate) fn stall_us(dbstats: &str) -> Option<u64> {
    let text = dbstats.lines().find_map(|line| line.strip_prefix("Cumulative stall: "))?;
    let parts = text.split_whitespace().next()?.split(':').map(|part| part.parse::<f64>().ok());
    let seconds = parts.reduce(|sum, part| Some(sum? * 60.0 + part?))??;
    Some((seconds * 1e6).round() as u64)
}

/// Parses the tickers of the statistics text, under the engine's names.
pub(crate) fn tickers(statistics: &str) -> Readings {
    let ticker = |line: &str| {
        let (name, count) = line.split_once(" COUNT : ")?;
        let is_plain = !name.contains(' ');
        is_plain.then_some((name.to_owned(), count.trim().parse::<f64>().ok()?))
    };
    statistics.lines().filter_map(ticker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = include_str!("../tests/data/cfstats-5.18.4.txt");
    const NEW: &str = include_str!("../tests/data/cfstats-11.8.1.txt");

    #[test]
    fn sums_of_jobs_are_found_by_name_in_every_format() {
        let known = |text: &str| {
            [metric::ENGINE_JOB_US, metric::ENGINE_JOB_CPU_US, metric::ENGINE_BLOB_READ_BYTES]
                .map(|metric| jobs(text).value(metric).map(f64::round))
        };
        assert_eq!(known(OLD), [Some(0.0), None, None]);
        assert_eq!(known(NEW), [Some(130_000.0), Some(100_000.0), Some(0.0)]);
        assert_eq!(known("nothing"), [None; 3]);
    }

    #[test]
    fn levels_are_read_from_every_layout_of_columns() {
        let shape = |level, files, bytes| LevelShape { level, files, bytes };
        let size = 2_464_154;
        assert_eq!(levels(OLD), Some(vec![shape(0, 0, 0), shape(1, 3, size)]));
        assert_eq!(levels(NEW), Some(vec![shape(0, 0, 0), shape(6, 3, size)]));
        assert_eq!(levels("Uptime(secs): 0.5 total"), None);
    }

    #[test]
    fn stalls_are_counted_once_in_both_formats() {
        let old = stalls(OLD).unwrap();
        assert_eq!((old.0, old.1["level0_slowdown_with_compaction"]), (7, 2));
        assert_eq!(old.1["stop_for_pending_compaction_bytes"], 1);
        let new = stalls(NEW).unwrap();
        assert_eq!((new.0, new.1["l0-file-count-limit-delays"]), (7, 3));
        assert_eq!(new.1.get("total-stops"), None);
        assert_eq!(stalls("nothing"), None);
    }

    #[test]
    fn stalled_time_has_hours_minutes_and_seconds() {
        let text = "x\nCumulative stall: 01:02:3.028 H:M:S, 0.4 percent\n";
        assert_eq!(stall_us(text), Some(3_723_028_000));
        assert_eq!(stall_us("Cumulative WAL: 1 writes"), None);
    }

    #[test]
    fn tickers_are_taken_and_histograms_are_not() {
        let text = "rocksdb.block.cache.miss COUNT : 12\n\
                    rocksdb.db.get.micros P50 : 1.0 P95 : 2.0 COUNT : 9 SUM : 10\n";
        let expected: Readings = [("rocksdb.block.cache.miss".to_owned(), 12.0)].into();
        assert_eq!(tickers(text), expected);
    }
}
