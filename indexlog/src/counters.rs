//! Counters of a database since it was opened.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that any thread may increase.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter.
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Returns the sum.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters of a database; bytes are those written to or read from files.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) fsyncs: Counter,
    pub(crate) wal_bytes: Counter,
    /// Bytes of keys and values that were written by clients.
    pub(crate) ingest_bytes: Counter,
    pub(crate) flush_bytes: Counter,
    /// Of index and delete list.
    pub(crate) compaction_read_bytes: Counter,
    pub(crate) compaction_write_bytes: Counter,
    pub(crate) collection_read_bytes: Counter,
    pub(crate) collection_write_bytes: Counter,
    pub(crate) segments_collected: Counter,
    /// Times a writer waited for a flush.
    pub(crate) stalls: Counter,
    /// Lookups and scans of the index: collections make none.
    pub(crate) index_reads: Counter,
}
