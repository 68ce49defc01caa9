//! Cache counters of all connections, which SQLite keeps per connection.

use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use crate::ffi::{CACHE_HIT, CACHE_MISS, CACHE_USED, CACHE_WRITE, db_status};

/// Counters of one connection, or of all.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Page requests answered by the cache.
    pub(crate) hits: u64,
    /// Page requests that read the file.
    pub(crate) misses: u64,
    /// Pages written.
    pub(crate) pages_written: u64,
    /// Bytes held by caches, now.
    pub(crate) cache_bytes: u64,
}

/// The sum over all connections, as far as they have published.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    hits: AtomicU64,
    misses: AtomicU64,
    pages_written: AtomicU64,
    cache_bytes: AtomicU64,
}

impl Tally {
    /// Returns the sum.
    pub(crate) fn sum(&self) -> Counters {
        Counters {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            pages_written: self.pages_written.load(Ordering::Relaxed),
            cache_bytes: self.cache_bytes.load(Ordering::Relaxed),
        }
    }

    /// Replaces what one connection has published before by what it has counted now.
    pub(crate) fn replace(&self, before: Counters, now: Counters) {
        let move_by = |sum: &AtomicU64, before: u64, now: u64| {
            sum.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
        };
        move_by(&self.hits, before.hits, now.hits);
        move_by(&self.misses, before.misses, now.misses);
        move_by(&self.pages_written, before.pages_written, now.pages_written);
        move_by(&self.cache_bytes, before.cache_bytes, now.cache_bytes);
    }
}

/// Returns what `connection` has counted since it was opened.
pub(crate) fn counters(connection: &Connection) -> Counters {
    let counter = |name| db_status(connection, name).unwrap_or_default();
    Counters {
        hits: counter(CACHE_HIT),
        misses: counter(CACHE_MISS),
        pages_written: counter(CACHE_WRITE),
        cache_bytes: counter(CACHE_USED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_publishes_twice_is_counted_once() {
        let tally = Tally::default();
        let first = Counters { hits: 10, misses: 2, pages_written: 1, cache_bytes: 8192 };
        let second = Counters { hits: 15, misses: 2, pages_written: 4, cache_bytes: 4096 };
        tally.replace(Counters::default(), first);
        tally.replace(first, second);
        assert_eq!(tally.sum(), second);
        tally.replace(second, Counters { cache_bytes: 0, ..second });
        assert_eq!(tally.sum(), Counters { cache_bytes: 0, ..second });
    }
}
