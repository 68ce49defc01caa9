//! Capabilities of a library, derived from its functions.

use model::Capabilities;
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
};

use crate::ffi::Api;

/// Functions, the first release that has each, oldest first, and the capability it marks, if any.
///
/// Source: [RocksDB source] `include/rocksdb/c.h`, release tags v5.18.4 to v11.8.1.
const MARKS: &[(&str, &str, &str)] = &[
    ("rocksdb_options_set_unordered_write", "6.3", "unordered_write"),
    ("rocksdb_options_set_enable_blob_files", "6.20", "blob"),
    ("rocksdb_flush_wal", "6.22", ""),
    ("rocksdb_filterpolicy_create_ribbon", "6.23", ""),
    ("rocksdb_options_set_wal_compression", "7.0", "wal_compression"),
    ("rocksdb_batched_multi_get_cf", "7.3", "batched_multi_get"),
    (BLOB_CACHE, "7.4", "blob_cache"),
    ("rocksdb_suggest_compact_range", "7.5", ""),
    (LOW_PRIORITY_MARK, "7.6", ""),
    (BLOB_COUNTS_MARK, "7.7", ""),
    ("rocksdb_cache_create_hyper_clock_opts", "8.1", "hyper_clock"),
    ("rocksdb_wait_for_compact", "8.7", "wait_for_compact"),
    (AUTO_HYPER_CLOCK_MARK, "8.9", ""),
    ("rocksdb_iter_refresh", "9.4", ""),
    ("rocksdb_eventlistener_create", "10.4", ""),
    ("rocksdb_get_into_buffer", "10.9", ""),
    ("rocksdb_compact_files", "11.8", ""),
];

/// The oldest release the driver takes.
const OLDEST: &str = "5.18";
/// Marks the auto-sized HyperClock cache, which has no function of its own.
///
/// This function is of the same age or younger.
pub(crate) const AUTO_HYPER_CLOCK_MARK: &str = "rocksdb_write_buffer_manager_create";

pub(crate) const BLOB_CACHE: &str = "rocksdb_options_set_blob_cache";
/// Marks the low-priority pool, which has no C function; of the same age.
pub(crate) const LOW_PRIORITY_MARK: &str = "rocksdb_options_set_prepopulate_blob_cache";
/// Marks blob counts in the perf context; of the same age.
pub(crate) const BLOB_COUNTS_MARK: &str = "rocksdb_block_based_options_set_checksum";
/// The LRU constructor of the official libraries' Java part.
pub(crate) const JAVA_LRU: &str = "Java_org_rocksdb_LRUCache_newLRUCache";

/// Returns the capabilities of a library.
pub(crate) fn capabilities(api: &Api) -> Capabilities {
    let common = [CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS];
    let mut capabilities = Capabilities::whole(common.map(|name| (name, Feature::Yes)));
    for (symbol, since, name) in MARKS.iter().filter(|(.., name)| !name.is_empty()) {
        let capability =
            if api.has(symbol) { Feature::Yes } else { Feature::No(format!("needs {since}")) };
        capabilities.features.insert((*name).to_owned(), capability);
    }
    capabilities
}

/// Returns the range of releases of a library.
///
/// Only an open database reports the exact one.
pub(crate) fn version_range(has: impl Fn(&str) -> bool) -> String {
    let newest = MARKS.iter().rposition(|(symbol, ..)| has(symbol));
    let low = newest.map_or(OLDEST, |index| MARKS[index].1);
    match MARKS.get(newest.map_or(0, |index| index + 1)) {
        Some((_, high, _)) => format!(">={low} <{high}"),
        None => format!(">={low}"),
    }
}

/// Returns a release's known defect that can falsify a measurement.
pub(crate) fn known_defect(version: &str) -> Option<&'static str> {
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    let (major, minor) = (parts.next()?, parts.next()?);
    ((major, minor) < (6, 12)).then_some(
        "a range read that begins while a memtable is flushed may miss a row being overwritten \
         (RocksDB pull request 6973, June 2020)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_bound_the_version_from_both_sides() {
        assert_eq!(version_range(|_| false), ">=5.18 <6.3");
        assert_eq!(version_range(|symbol| symbol != "rocksdb_compact_files"), ">=10.9 <11.8");
        assert_eq!(version_range(|_| true), ">=11.8");
    }

    #[test]
    fn defect_of_old_iterators_is_reported() {
        assert!(known_defect("5.18.4").is_some() && known_defect("6.4.6").is_some());
        assert!(known_defect("6.29.5").is_none() && known_defect("user-1a2b").is_none());
    }
}
