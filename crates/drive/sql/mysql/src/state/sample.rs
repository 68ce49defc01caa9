//! Samples the server's counters, and its statistics as text.

use std::collections::BTreeMap;

use driver_sql::{Connection as _, unless_refused};
use model::state::LevelShape;
use model::{EngineState, Readings, metric};

use super::counters::{ARIA, CounterSum, INNODB, METRICS, MYROCKS, OWN, SERVER};
use super::tables;
use crate::durability::StorageEngine;
use crate::wire::{Connection, Failure};

/// Longest purge history of an idle `InnoDB`: a few transactions stay until the next one.
const HISTORY_AT_REST: f64 = 100.0;
/// Largest dirty share of the cache of an idle `InnoDB`.
const DIRTY_SHARE_AT_REST: f64 = 0.01;
/// Dirty bytes below which `InnoDB` counts as idle with any cache: it writes pages of its own
/// system tables all the time.
const DIRTY_BYTES_AT_REST: f64 = (4 << 20) as f64;
/// Prefix of counters of `innodb_metrics`.
const METRIC: &str = "metric:";

/// Shape of the `MyRocks` trees, summed over column families. `CompactedFiles` are those being
/// compacted now.
///
/// Source: MariaDB's documentation, "Information Schema ROCKSDB_COMPACTION_STATS Table".
const SHAPE: &str = "SELECT stat_type, SUM(value) FROM information_schema.rocksdb_cfstats GROUP BY \
                     stat_type UNION ALL SELECT stat_type, value FROM \
                     information_schema.rocksdb_dbstats UNION ALL SELECT CONCAT(level, ' ', type), \
                     SUM(value) FROM information_schema.rocksdb_compaction_stats WHERE type IN \
                     ('NumFiles', 'SizeBytes', 'CompactedFiles') GROUP BY level, type";
/// Most levels of a tree.
const LEVELS_MAX: u32 = 64;

type Counters = BTreeMap<String, f64>;

/// Binary logs and their sizes.
pub(crate) type BinaryLogs = Vec<(String, u64)>;

/// Samples the server's counters: four queries; returns its binary logs, too.
pub(crate) fn sample(
    connection: &mut Connection,
    storage_engine: Option<StorageEngine>,
    sizes: Option<&str>,
) -> Result<(EngineState, BinaryLogs), Failure> {
    let status = connection.pairs("SHOW GLOBAL STATUS")?;
    let mut counters = counters(status, str::to_ascii_lowercase);
    counters.extend(metrics(connection)?);
    let mut state = EngineState::default();
    if storage_engine == Some(StorageEngine::Rocksdb) {
        state.readings = named(MYROCKS, &counters);
        add_of_myrocks(&optional(connection, SHAPE, str::to_owned)?, &mut state);
    } else {
        if storage_engine == Some(StorageEngine::Innodb) {
            state.readings = named(INNODB, &counters);
            add_of_innodb(&counters, &mut state.readings);
        } else {
            state.readings = named(ARIA, &counters);
        }
        state.is_idle = is_innodb_idle(&counters);
        if let Some(query) = sizes {
            let (bytes, largest) = tables::sample(connection, query)?;
            state.readings.set(metric::ENGINE_DISK_BYTES, bytes);
            state.tables = largest;
        }
    }
    state.readings.merge(&named(SERVER, &counters));
    let logs = binary_logs(connection)?;
    let bytes = |logs: &BinaryLogs| logs.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>();
    let written = logs.as_ref().map(bytes);
    state.readings.set(metric::ENGINE_BINLOG_WRITE_BYTES, written);
    // Including autocommitted statements and read-only ones.
    state.readings.set(metric::ENGINE_COMMITS, counters.get("handler_commit").copied());
    let own = counters.into_iter().filter_map(|(name, value)| own(name, value));
    state.own_counters = own.collect();
    Ok((state, logs.unwrap_or_default()))
}

/// Returns a counter under its stored name; `None` when not stored.
fn own(name: String, value: f64) -> Option<(String, f64)> {
    match name.strip_prefix(METRIC) {
        Some(short) => Some((format!("innodb_metrics.{short}"), value)),
        None => Some((name, value)).filter(|(name, _)| OWN.contains(&name.as_str())),
    }
}

/// Returns the numeric ones of pairs, under renamed keys.
fn counters(pairs: Vec<(String, String)>, rename: impl Fn(&str) -> String) -> Counters {
    let pairs = pairs.into_iter();
    pairs.filter_map(|(name, value)| Some((rename(&name), value.parse().ok()?))).collect()
}

/// Queries counters; none when the server or the user lacks access.
fn optional(
    connection: &mut Connection,
    sql: &str,
    rename: impl Fn(&str) -> String,
) -> Result<Counters, Failure> {
    Ok(counters(unless_refused(connection.pairs(sql))?.unwrap_or_default(), rename))
}

/// Returns all binary logs; `None` without one, or without the right to list them.
///
/// No log expires during a run. Source: MySQL's reference manual, `SHOW BINARY LOGS`.
fn binary_logs(connection: &mut Connection) -> Result<Option<BinaryLogs>, Failure> {
    let log = |row: &Vec<String>| Some((row.first()?.clone(), row.get(1)?.parse().ok()?));
    let logs = unless_refused(connection.rows("SHOW BINARY LOGS"))?;
    Ok(logs.and_then(|logs| logs.iter().map(log).collect()))
}

/// Returns counters of `innodb_metrics`; none when the server or the user lacks access.
fn metrics(connection: &mut Connection) -> Result<Counters, Failure> {
    let names = METRICS.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(",");
    // The column is `enabled` in MariaDB, `status` in MySQL; both have a date while it counts.
    let sql = format!(
        "SELECT name, count FROM information_schema.innodb_metrics WHERE name IN ({names}) AND \
         time_enabled IS NOT NULL"
    );
    optional(connection, &sql, |name| format!("{METRIC}{name}"))
}

/// Returns the metrics whose counters are all present.
fn named(lines: &[CounterSum], counters: &Counters) -> Readings {
    let mut readings = Readings::new();
    for (metric, names) in lines {
        let values: Option<Vec<_>> = names.iter().map(|name| counters.get(*name)).collect();
        if let Some(values) = values.filter(|values| !values.is_empty()) {
            readings.entry(metric.name.to_owned()).or_insert_with(|| values.into_iter().sum());
        }
    }
    readings
}

/// Adds the `InnoDB` metrics that are no plain sums.
fn add_of_innodb(counters: &Counters, readings: &mut Readings) {
    let get = |name: &str| counters.get(name).copied();
    let reads = get("innodb_buffer_pool_reads");
    let hits = get("innodb_buffer_pool_read_requests").zip(reads);
    readings
        .set(metric::ENGINE_CACHE_HITS, hits.map(|(requests, reads)| (requests - reads).max(0.0)));
    for (metric, pages) in [
        (metric::ENGINE_PAGE_WRITE_BYTES, "innodb_pages_written"),
        (metric::ENGINE_DOUBLEWRITE_BYTES, "innodb_dblwr_pages_written"),
    ] {
        let written = get(pages).zip(get("innodb_page_size"));
        readings.set(metric, written.map(|(pages, bytes)| pages * bytes));
    }
    if !readings.has(metric::ENGINE_CHECKPOINT_AGE_BYTES) {
        // From 8.0.30 on, where the metric of that name is not switched on.
        let (now, last) = ("innodb_redo_log_current_lsn", "innodb_redo_log_checkpoint_lsn");
        let age = get(now).zip(get(last)).map(|(now, last)| (now - last).max(0.0));
        readings.set(metric::ENGINE_CHECKPOINT_AGE_BYTES, age);
    }
    // Percona Server only; Oracle's and MariaDB 10.11 count no such reads.
    readings
        .set(metric::ENGINE_HEAP_FETCHES, get("innodb_secondary_index_triggered_cluster_reads"));
}

/// Returns whether purge and page cleaners are idle; `None` when unknown.
fn is_innodb_idle(counters: &Counters) -> Option<bool> {
    let history = counters
        .get("metric:trx_rseg_history_len")
        .or_else(|| counters.get("innodb_history_list_length"))?;
    let dirty = counters.get("innodb_buffer_pool_bytes_dirty")?;
    let cache = counters.get("innodb_buffer_pool_bytes_data").copied().unwrap_or(0.0);
    let most = (cache * DIRTY_SHARE_AT_REST).max(DIRTY_BYTES_AT_REST);
    Some(*history <= HISTORY_AT_REST && *dirty <= most)
}

/// Adds the shape of the `MyRocks` trees: gauges by name, and by level and name.
fn add_of_myrocks(shape: &Counters, state: &mut EngineState) {
    let get = |name: &str| shape.get(name).copied();
    let readings = &mut state.readings;
    readings.set(metric::ENGINE_CACHE_BYTES, get("DB_BLOCK_CACHE_USAGE"));
    // A level without files is absent.
    let l0_files = get("L0 NumFiles").or_else(|| get("Sum NumFiles").map(|_| 0.0));
    readings.set(metric::ENGINE_L0_FILES, l0_files);
    // The number of jobs is not reported: at least one.
    let jobs = get("Sum CompactedFiles").map(|files| if files > 0.0 { 1.0 } else { 0.0 });
    readings.set(metric::ENGINE_BACKGROUND_JOBS, jobs);
    let work = ["COMPACTION_PENDING", "MEM_TABLE_FLUSH_PENDING", "NUM_IMMUTABLE_MEM_TABLE"];
    let waiting: f64 = work.into_iter().filter_map(get).sum();
    state.is_idle = get("Sum CompactedFiles").map(|files| files + waiting == 0.0);
    readings.set(metric::ENGINE_DISK_BYTES, get("Sum SizeBytes"));
    let levels = (0..LEVELS_MAX).filter_map(|level| {
        let (files, bytes) =
            (get(&format!("L{level} NumFiles"))?, get(&format!("L{level} SizeBytes"))?);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
        Some(LevelShape { level, files: files as u64, bytes: bytes as u64 })
    });
    state.levels = Some(levels.collect::<Vec<_>>()).filter(|levels| !levels.is_empty());
}

/// Queries whose answers are stored; unknown ones are left out.
const QUERIES: [&str; 5] = [
    "SHOW ENGINE INNODB STATUS",
    "SHOW ENGINE ROCKSDB STATUS",
    "SHOW GLOBAL STATUS",
    "SHOW TABLE STATUS",
    // Pages of each index and of its leaves, as of the last statistics.
    "SELECT table_name, index_name, stat_name, stat_value FROM mysql.innodb_index_stats WHERE \
     database_name = DATABASE() AND stat_name IN ('size', 'n_leaf_pages')",
];

/// Returns the answers of all queries as text.
pub(crate) fn statistics(connection: &mut Connection) -> String {
    let mut text = String::new();
    for query in QUERIES {
        let Ok(rows) = connection.rows(query) else { continue };
        let rows: String = rows.iter().map(|row| row.join("\t") + "\n").collect();
        text.push_str(&format!("==== {query}\n{rows}"));
    }
    text
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "products of small whole numbers are exact")]
mod tests {
    use super::*;

    /// Answers of MySQL 8.0.31 to `SHOW GLOBAL STATUS`, shortened.
    const STATUS: [(&str, &str); 5] = [
        ("Innodb_dblwr_pages_written", "215"),
        ("Innodb_dblwr_writes", "61"),
        ("Innodb_os_log_written", "31744"),
        ("Innodb_page_size", "16384"),
        ("Innodb_pages_written", "312"),
    ];

    fn readings(status: &[(&str, &str)]) -> Readings {
        let pairs = status.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let counters = counters(pairs.collect(), str::to_ascii_lowercase);
        let mut readings = named(INNODB, &counters);
        add_of_innodb(&counters, &mut readings);
        readings
    }

    #[test]
    fn log_since_the_checkpoint_is_the_distance_of_two_positions() {
        let known =
            [("Innodb_redo_log_checkpoint_lsn", "1000"), ("Innodb_redo_log_current_lsn", "5096")];
        assert_eq!(readings(&known)[metric::ENGINE_CHECKPOINT_AGE_BYTES], 4096.0);
        assert!(!readings(&known[1..]).has(metric::ENGINE_CHECKPOINT_AGE_BYTES));
    }

    #[test]
    fn pages_written_twice_are_bytes_and_unknown_where_not_counted() {
        let known = readings(&STATUS);
        assert_eq!(known[metric::ENGINE_DOUBLEWRITE_BYTES], 215.0 * 16384.0);
        assert_eq!(known[metric::ENGINE_PAGE_WRITE_BYTES], 312.0 * 16384.0);
        assert_eq!(known[metric::ENGINE_WAL_WRITE_BYTES], 31744.0);
        assert!(!known.has(metric::ENGINE_BINLOG_WRITE_BYTES));
        assert!(!readings(&STATUS[1..]).has(metric::ENGINE_DOUBLEWRITE_BYTES));
        let off = readings(&[("Innodb_dblwr_pages_written", "0"), STATUS[3]]);
        assert_eq!(off[metric::ENGINE_DOUBLEWRITE_BYTES], 0.0);
    }
}
