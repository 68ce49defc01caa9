//! Counters of the engine's perf context.
//!
//! The engine has one context per thread, readable by that thread only: a session publishes its own
//! periodically. Counters have numbers in the C interface, which only appends to them from 5.14 to
//! 11.8; a test compares them with the engine's tickers.
//!
//! Source: [RocksDB source] `include/rocksdb/c.h`, the metrics of `rocksdb_perfcontext_metric`.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{Readings, metric};

/// Reported metrics: number and name in the engine.
const METRICS: [(i32, &str); 18] = [
    (0, "user_key_comparison_count"),
    (1, "block_cache_hit_count"),
    (2, "block_read_count"),
    (3, "block_read_byte"),
    (7, "get_read_bytes"),
    (8, "multiget_read_bytes"),
    (9, "iter_read_bytes"),
    (10, "internal_key_skipped_count"),
    (11, "internal_delete_skipped_count"),
    (16, "get_from_memtable_count"),
    (24, "seek_child_seek_count"),
    (42, "bloom_memtable_hit_count"),
    (43, "bloom_memtable_miss_count"),
    (44, "bloom_sst_hit_count"),
    (45, "bloom_sst_miss_count"),
    // From 7.7; older releases read 0 here.
    (BLOB_METRICS, "blob_cache_hit_count"),
    (70, "blob_read_count"),
    (71, "blob_read_byte"),
];

/// Number of the first metric of blobs.
pub(crate) const BLOB_METRICS: i32 = 69;

/// Counters of one session, aligned against false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counted {
    values: [AtomicU64; METRICS.len()],
}

impl Counted {
    /// Publishes the counts, which `metric` returns by number.
    pub(crate) fn publish(&self, metric: impl Fn(i32) -> u64) {
        for (value, (number, _)) in self.values.iter().zip(METRICS) {
            value.store(metric(number), Ordering::Relaxed);
        }
    }
}

/// Returns metrics of blocks, and the counters under the engine's names, of all sessions.
///
/// The release counts those of numbers below `end`. Where it does not count blobs and there are
/// some (`has_blobs`), the metrics are omitted: they would be too small.
pub(crate) fn report<'a>(
    sessions: impl Iterator<Item = &'a Counted>,
    end: i32,
    has_blobs: bool,
) -> (Readings, Readings) {
    let (mut own, mut lookups, mut reads) = (Readings::new(), 0, 0);
    let mut sums = [0; METRICS.len()];
    for counted in sessions {
        for (sum, value) in sums.iter_mut().zip(&counted.values) {
            *sum += value.load(Ordering::Relaxed);
        }
    }
    for ((number, name), sum) in METRICS.into_iter().zip(sums) {
        if number < end {
            own.insert(format!("perf.{name}"), sum as f64);
        }
        match name {
            "block_read_count" | "blob_read_count" => reads += sum,
            "block_cache_hit_count" | "blob_cache_hit_count" => lookups += sum,
            _ => {}
        }
    }
    if has_blobs && end <= BLOB_METRICS {
        return (Readings::new(), own);
    }
    lookups += reads;
    let blocks = [(metric::ENGINE_BLOCK_READS, reads), (metric::ENGINE_BLOCK_LOOKUPS, lookups)];
    (blocks.into(), own)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;

    /// Returns readings and own counters of two sessions whose counts are their numbers.
    fn report_two(end: i32, has_blobs: bool) -> (Readings, Readings) {
        let counted = Counted::default();
        counted.publish(|number| u64::try_from(number).unwrap());
        report([&counted, &counted].into_iter(), end, has_blobs)
    }

    #[test]
    fn block_lookups_are_hits_and_reads_of_all_sessions() {
        let (readings, own) = report_two(i32::MAX, true);
        assert_eq!(own["perf.bloom_sst_hit_count"], 88.0);
        assert_eq!(readings[metric::ENGINE_BLOCK_READS], 2.0 * (2.0 + 70.0));
        assert_eq!(readings[metric::ENGINE_BLOCK_LOOKUPS], 2.0 * (1.0 + 2.0 + 69.0 + 70.0));
    }

    #[test]
    fn release_without_blob_counts_reports_none() {
        let (readings, own) = report_two(BLOB_METRICS, true);
        assert!(readings.is_empty() && !own.contains_key("perf.blob_read_count"));
        let (readings, own) = report_two(BLOB_METRICS, false);
        assert!(readings.has(metric::ENGINE_BLOCK_LOOKUPS) && own.len() == 15);
    }
}
