//! What the block cache is made of, by kind of entry.
//!
//! The engine tells it from a scan of the whole cache, which holds each shard's lock for a part of
//! it at a time; it scans at most every ten seconds, however often it is asked (`fast-` in the
//! property's name, from 7.8, makes that three minutes: too old for short steps). Here it is asked
//! at most that often too, and so that scans take a thousandth of one CPU at most.
//!
//! Source: RocksDB `include/rocksdb/db.h`, `Properties::kBlockCacheEntryStats`;
//! `db/internal_stats.cc`, `CollectCacheEntryStats`.

use model::metric::Readings;

use crate::statistics::human_bytes;

/// The property; absent in 5.18, there in 6.29.
pub(crate) const PROPERTY: &str = "rocksdb.block-cache-entry-stats";

/// Looks, one a second, from one scan to the next: as often as the engine scans.
const LOOKS_MIN: u32 = 10;
/// Looks to wait for each second a scan takes.
const LOOKS_PER_SCAN_SECOND: f64 = 1000.0;

/// The metrics, and the kinds of entries that count as each; every other kind is the last.
///
/// Source: RocksDB `include/rocksdb/cache.h`, `CacheEntryRole`.
const KINDS: [(&str, &[&str]); 4] = [
    ("engine_cache_data_bytes", &["DataBlock"]),
    ("engine_cache_index_bytes", &["IndexBlock"]),
    ("engine_cache_filter_bytes", &["FilterBlock", "FilterMetaBlock", "DeprecatedFilterBlock"]),
    ("engine_cache_blob_bytes", &["BlobValue"]),
];
const OTHER: &str = "engine_cache_other_bytes";

/// The last answer, and when to ask again.
#[derive(Debug, Default)]
pub(crate) struct Makeup {
    readings: Readings,
    looks_left: u32,
}

impl Makeup {
    /// Returns the make-up, asking `property` for it when it is time.
    pub(crate) fn look(&mut self, property: impl FnOnce() -> Option<String>) -> &Readings {
        match self.looks_left.checked_sub(1) {
            Some(left) => self.looks_left = left,
            None => {
                let text = property().unwrap_or_default();
                if is_of_opening(&text) {
                    return &self.readings;
                }
                self.readings = parse(&text).unwrap_or_default();
                self.looks_left = looks_between(scan_s(&text).unwrap_or(0.0)) - 1;
            }
        }
        &self.readings
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
#[expect(clippy::cast_sign_loss, reason = "a scan's time is not negative")]
fn looks_between(scan_s: f64) -> u32 {
    ((scan_s * LOOKS_PER_SCAN_SECOND) as u32).max(LOOKS_MIN)
}

/// Returns whether the last scan is the one at opening, of an empty cache: it tells nothing of now.
fn is_of_opening(text: &str) -> bool {
    text.contains(" collections: 1 ")
}

/// Returns the time of the last scan.
fn scan_s(text: &str) -> Option<f64> {
    text.split_once(" last_secs: ")?.1.split_whitespace().next()?.parse().ok()
}

/// Returns the bytes of each kind out of the property's text; `None` when it tells none.
///
/// Sizes are as exact as they are printed, three digits or more.
fn parse(text: &str) -> Option<Readings> {
    const LIST: &str = "Block cache entry stats(count,size,portion): ";
    let list = text.lines().find_map(|line| line.strip_prefix(LIST))?;
    let names = KINDS.iter().map(|(name, _)| *name).chain([OTHER]);
    let mut readings: Readings = names.map(|name| (name.to_owned(), 0.0)).collect();
    for part in list.split_terminator(')') {
        let (kind, numbers) = part.trim().split_once('(')?;
        let (size, unit) = numbers.split(',').nth(1)?.split_once(' ')?;
        let bytes = human_bytes(size, unit)?;
        let name = KINDS.iter().find(|(_, kinds)| kinds.contains(&kind)).map_or(OTHER, |it| it.0);
        #[expect(clippy::cast_precision_loss, reason = "bytes of a cache are below 2^53")]
        let bytes = bytes as f64;
        *readings.entry(name.to_owned()).or_default() += bytes;
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
    fn entries_are_summed_by_kind_in_the_words_of_old_and_new_releases() {
        let old = parse(OLD).unwrap();
        assert_eq!(old.len(), 5);
        assert_eq!(old["engine_cache_data_bytes"], 953_436.0);
        assert_eq!(old["engine_cache_filter_bytes"], 25_078.0);
        let new = parse(NEW).unwrap();
        assert_eq!(new["engine_cache_data_bytes"], 982_436.0);
        assert_eq!(new["engine_cache_blob_bytes"], 4_477_420.0);
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn a_scan_is_asked_for_seldom_and_more_seldom_the_longer_it_takes() {
        let mut makeup = Makeup::default();
        let mut asked = 0;
        for _look in 0..40 {
            makeup.look(|| {
                asked += 1;
                Some(NEW.to_owned())
            });
        }
        assert_eq!(asked, 3, "every 17th, since a scan takes 17 ms");
        assert_eq!([0.0, 0.03, 2.0].map(looks_between), [10, 30, 2000]);
        assert!(scan_s(NEW).is_some_and(|seconds| seconds < 1.0));
        let opening = NEW.replace("collections: 2", "collections: 1");
        let mut early = Makeup::default();
        assert!(early.look(|| Some(opening)).is_empty());
        assert_eq!(early.look(|| Some(NEW.to_owned())).len(), 5, "asked again at once");
        assert!(makeup.look(|| None).contains_key(OTHER), "the last answer is repeated");
    }
}
