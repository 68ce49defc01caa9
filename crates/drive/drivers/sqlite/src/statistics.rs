//! Cache counters, summed over all connections.

use std::sync::atomic::{AtomicU64, Ordering};

use libsqlite3_sys::{
    SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS, SQLITE_DBSTATUS_CACHE_USED,
    SQLITE_DBSTATUS_CACHE_WRITE,
};

use crate::ffi_connection::Connection;

/// Page requests answered by the cache, those that read the file, pages written to the WAL where
/// there is one, else to the database file, and bytes held by caches now.
pub(crate) type Counters = [u64; 4];

/// The sum over all connections, as far as they have published.
#[derive(Debug, Default)]
pub(crate) struct Statistics([AtomicU64; 4]);

impl Statistics {
    /// Returns the sum.
    pub(crate) fn sum(&self) -> Counters {
        self.0.each_ref().map(|counter| counter.load(Ordering::Relaxed))
    }

    /// Adds one connection's counters; its cache held `cache_bytes_before` at the last call.
    pub(crate) fn add(&self, mut counted: Counters, cache_bytes_before: u64) {
        counted[3] = counted[3].wrapping_sub(cache_bytes_before);
        for (sum, count) in self.0.iter().zip(counted) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// Returns and resets the counters of `connection`.
///
/// They are reset because older releases have counters of 31 bits.
pub(crate) fn take_counters(connection: &Connection) -> Counters {
    [
        SQLITE_DBSTATUS_CACHE_HIT,
        SQLITE_DBSTATUS_CACHE_MISS,
        SQLITE_DBSTATUS_CACHE_WRITE,
        SQLITE_DBSTATUS_CACHE_USED,
    ]
    .map(|counter| connection.take_counter(counter).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_cache_bytes_are_current() {
        let statistics = Statistics::default();
        statistics.add([10, 2, 1, 8192], 0);
        statistics.add([5, 0, 3, 4096], 8192);
        assert_eq!(statistics.sum(), [15, 2, 4, 4096]);
        statistics.add(Counters::default(), 4096);
        assert_eq!(statistics.sum(), [15, 2, 4, 0]);
    }
}
