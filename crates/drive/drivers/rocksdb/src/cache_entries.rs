//! Entries of the block cache, and their bytes by kind.
//!
//! The engine scans the whole cache for it, under each shard's lock in turn, at most every ten
//! seconds (every three minutes with `fast-` in the property's name, from 7.8: too old for short
//! steps). The driver reads the property no more often, and so that scans take at most a thousandth
//! of one CPU.
//!
//! Source: [RocksDB source] `include/rocksdb/db.h`, `Properties::kBlockCacheEntryStats`;
//! `db/internal_stats.cc`, `CollectCacheEntryStats`.

use model::{Metric, Readings, metric};

use crate::statistics::human_bytes;

/// The property; absent in 5.18, there in 6.29.
pub(crate) const PROPERTY: &str = "rocksdb.block-cache-entry-stats";

/// Samples, one a second, between two scans: the engine's own interval.
const SAMPLES_MIN: u32 = 10;
/// Samples between two scans, per second a scan takes.
const SAMPLES_PER_SCAN_SECOND: f64 = 1000.0;

/// Metrics with their kinds of entries; other kinds count as [`OTHER`].
///
/// Source: [RocksDB source] `include/rocksdb/cache.h`, `CacheEntryRole`.
const KINDS: [(Metric, &[&str]); 4] = [
    (metric::ENGINE_CACHE_DATA_BYTES, &["DataBlock"]),
    (metric::ENGINE_CACHE_INDEX_BYTES, &["IndexBlock"]),
    (
        metric::ENGINE_CACHE_FILTER_BYTES,
        &["FilterBlock", "FilterMetaBlock", "DeprecatedFilterBlock"],
    ),
    (metric::ENGINE_CACHE_BLOB_BYTES, &["BlobValue"]),
];
const OTHER: Metric = metric::ENGINE_CACHE_OTHER_BYTES;

/// The last reading, and when to read again.
#[derive(Debug, Default)]
pub(crate) struct CacheEntries {
    readings: Readings,
    samples_left: u32,
}

impl CacheEntries {
    /// Returns the bytes by kind, from `property` when a new reading is due.
    pub(crate) fn sample(&mut self, property: impl FnOnce() -> Option<String>) -> &Readings {
        match self.samples_left.checked_sub(1) {
            Some(left) => self.samples_left = left,
            None => {
                let text = property().unwrap_or_default();
                // The last scan is the one at open, of an empty cache.
                if text.contains(" collections: 1 ") {
                    return &self.readings;
                }
                self.readings = parse(&text).unwrap_or_default();
                self.samples_left = samples_between(scan_s(&text).unwrap_or(0.0)) - 1;
            }
        }
        &self.readings
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
#[expect(clippy::cast_sign_loss, reason = "a scan's time is not negative")]
fn samples_between(scan_s: f64) -> u32 {
    ((scan_s * SAMPLES_PER_SCAN_SECOND) as u32).max(SAMPLES_MIN)
}

/// Returns the time of the last scan.
fn scan_s(text: &str) -> Option<f64> {
    text.split_once(" last_secs: ")?.1.split_whitespace().next()?.parse().ok()
}

/// Parses the number of entries and the bytes of each kind; `None` when the text has none.
///
/// Sizes are printed with three digits or more.
fn parse(text: &str) -> Option<Readings> {
    const LIST: &str = "Block cache entry stats(count,size,portion): ";
    let list = text.lines().find_map(|line| line.strip_prefix(LIST))?;
    let names = KINDS.iter().map(|(name, _)| *name).chain([OTHER, metric::ENGINE_CACHE_ENTRIES]);
    let mut readings: Readings = names.map(|name| (name, 0.0)).collect();
    for part in list.split_terminator(')') {
        let (kind, numbers) = part.trim().split_once('(')?;
        let (count, rest) = numbers.split_once(',')?;
        readings.add(metric::ENGINE_CACHE_ENTRIES, count.parse::<u64>().ok()?);
        let (size, unit) = rest.split(',').next()?.split_once(' ')?;
        let bytes = human_bytes(size, unit)?;
        let name = KINDS.iter().find(|(_, kinds)| kinds.contains(&kind)).map_or(OTHER, |it| it.0);
        readings.add(name, bytes);
    }
    Some(readings)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;

    const OLD: &str = include_str!("../tests/data/cache-entries-6.29.5.txt");
    const NEW: &str = include_str!("../tests/data/cache-entries-11.8.1.txt");

    #[test]
    fn entries_are_summed_by_kind_in_old_and_new_formats() {
        let old = parse(OLD).unwrap();
        assert_eq!((old.len(), old[metric::ENGINE_CACHE_ENTRIES]), (6, 913.0));
        assert_eq!(old[metric::ENGINE_CACHE_DATA_BYTES], 953_436.0);
        assert_eq!(old[metric::ENGINE_CACHE_FILTER_BYTES], 25_078.0);
        let new = parse(NEW).unwrap();
        assert_eq!(new[metric::ENGINE_CACHE_DATA_BYTES], 982_436.0);
        assert_eq!(new[metric::ENGINE_CACHE_BLOB_BYTES], 4_477_420.0);
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn long_scans_are_requested_less_often() {
        let mut entries = CacheEntries::default();
        let mut scans = 0;
        for _sample in 0..40 {
            entries.sample(|| {
                scans += 1;
                Some(NEW.to_owned())
            });
        }
        assert_eq!(scans, 3, "every 17th, since a scan takes 17 ms");
        assert_eq!([0.0, 0.03, 2.0].map(samples_between), [10, 30, 2000]);
        assert!(scan_s(NEW).is_some_and(|seconds| seconds < 1.0));
        let opening = NEW.replace("collections: 2", "collections: 1");
        let mut early = CacheEntries::default();
        assert!(early.sample(|| Some(opening)).is_empty());
        assert_eq!(early.sample(|| Some(NEW.to_owned())).len(), 6, "read again at once");
        assert!(entries.sample(|| None).has(OTHER), "the last reading is repeated");
    }
}
