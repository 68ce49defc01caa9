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
pub(crate) const METRICS: [(i32, &str); 18] = [
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
const BLOB_METRICS: i32 = 69;

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

/// Whether perf contexts count blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blobs {
    /// The release counts them.
    Counted,
    /// The release does not, and there are none.
    Absent,
    /// The release does not, and there are some.
    Uncounted,
}

/// Counts of all sessions, as far as they have published.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    values: [u64; METRICS.len()],
}

impl Sum {
    /// Adds those of one session.
    pub(crate) fn add(&mut self, counted: &Counted) {
        for (sum, value) in self.values.iter_mut().zip(&counted.values) {
            *sum += value.load(Ordering::Relaxed);
        }
    }

    /// Adds the counters under the engine's names, and block lookups as metrics.
    ///
    /// With uncounted blobs the metrics are omitted: they would be too small.
    pub(crate) fn report(&self, blobs: Blobs, readings: &mut Readings, own: &mut Readings) {
        let of = |name: &str| {
            let at = METRICS.iter().position(|(_, known)| *known == name);
            at.map_or(0, |at| self.values[at])
        };
        for ((number, name), value) in METRICS.iter().zip(self.values) {
            if blobs == Blobs::Counted || *number < BLOB_METRICS {
                own.insert(format!("perf.{name}"), value as f64);
            }
        }
        if blobs != Blobs::Uncounted {
            let reads = of("block_read_count") + of("blob_read_count");
            let hits = of("block_cache_hit_count") + of("blob_cache_hit_count");
            readings.set(metric::ENGINE_BLOCK_READS, reads as f64);
            readings.set(metric::ENGINE_BLOCK_LOOKUPS, (reads + hits) as f64);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;

    /// Returns readings and own counters of two sessions whose counts are their numbers.
    fn report(blobs: Blobs) -> (Readings, Readings) {
        let counted = Counted::default();
        let mut sum = Sum::default();
        for _session in 0..2 {
            counted.publish(|number| u64::try_from(number).unwrap());
            sum.add(&counted);
        }
        let (mut readings, mut own) = (Readings::new(), Readings::new());
        sum.report(blobs, &mut readings, &mut own);
        (readings, own)
    }

    #[test]
    fn block_lookups_are_hits_and_reads_of_all_sessions() {
        let (readings, own) = report(Blobs::Counted);
        assert_eq!(own["perf.bloom_sst_hit_count"], 88.0);
        assert_eq!(readings[metric::ENGINE_BLOCK_READS], 2.0 * (2.0 + 70.0));
        assert_eq!(readings[metric::ENGINE_BLOCK_LOOKUPS], 2.0 * (1.0 + 2.0 + 69.0 + 70.0));
    }

    #[test]
    fn release_without_blob_counts_reports_none() {
        let (readings, own) = report(Blobs::Uncounted);
        assert!(readings.is_empty() && !own.contains_key("perf.blob_read_count"));
        let (readings, own) = report(Blobs::Absent);
        assert!(readings.has(metric::ENGINE_BLOCK_LOOKUPS) && own.len() == 15);
    }
}
