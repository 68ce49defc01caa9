//! Cache counters, summed over all connections.

use std::sync::atomic::{AtomicU64, Ordering};

use libsqlite3_sys::{
    SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS, SQLITE_DBSTATUS_CACHE_USED,
    SQLITE_DBSTATUS_CACHE_WRITE,
};

use crate::ffi_connection::Connection;

/// Counters of one connection since the last call, or of all since open.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Page requests answered by the cache.
    pub(crate) hits: u64,
    /// Page requests that read the file.
    pub(crate) misses: u64,
    /// Pages written, to the WAL where there is one, else to the database file.
    pub(crate) pages_written: u64,
    /// Bytes held by caches, now.
    pub(crate) cache_bytes: u64,
}

/// The sum over all connections, as far as they have published.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    hits: AtomicU64,
    misses: AtomicU64,
    pages_written: AtomicU64,
    cache_bytes: AtomicU64,
}

impl Statistics {
    /// Returns the sum.
    pub(crate) fn sum(&self) -> Counters {
        Counters {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            pages_written: self.pages_written.load(Ordering::Relaxed),
            cache_bytes: self.cache_bytes.load(Ordering::Relaxed),
        }
    }

    /// Adds one connection's counters; its cache held `cache_bytes_before` at the last call.
    pub(crate) fn add(&self, counted: Counters, cache_bytes_before: u64) {
        self.hits.fetch_add(counted.hits, Ordering::Relaxed);
        self.misses.fetch_add(counted.misses, Ordering::Relaxed);
        self.pages_written.fetch_add(counted.pages_written, Ordering::Relaxed);
        let grown = counted.cache_bytes.wrapping_sub(cache_bytes_before);
        self.cache_bytes.fetch_add(grown, Ordering::Relaxed);
    }
}

/// Returns and resets the counters of `connection`.
///
/// They are reset because older releases have counters of 31 bits.
pub(crate) fn take_counters(connection: &Connection) -> Counters {
    let take = |counter| connection.take_counter(counter).unwrap_or_default();
    Counters {
        hits: take(SQLITE_DBSTATUS_CACHE_HIT),
        misses: take(SQLITE_DBSTATUS_CACHE_MISS),
        pages_written: take(SQLITE_DBSTATUS_CACHE_WRITE),
        cache_bytes: take(SQLITE_DBSTATUS_CACHE_USED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_cache_bytes_are_current() {
        let statistics = Statistics::default();
        let first = Counters { hits: 10, misses: 2, pages_written: 1, cache_bytes: 8192 };
        let second = Counters { hits: 5, misses: 0, pages_written: 3, cache_bytes: 4096 };
        statistics.add(first, 0);
        statistics.add(second, first.cache_bytes);
        let sum = Counters { hits: 15, misses: 2, pages_written: 4, cache_bytes: 4096 };
        assert_eq!(statistics.sum(), sum);
        statistics.add(Counters::default(), second.cache_bytes);
        assert_eq!(statistics.sum(), Counters { cache_bytes: 0, ..sum });
    }
}
