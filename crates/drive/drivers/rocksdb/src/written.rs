//! Bytes written by sessions, counted in the driver.
//!
//! RocksDB prints its own totals with two decimals of a GB, too coarse for short steps, and its
//! exact counters cost speed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes one session wrote, aligned against false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Written {
    ingest: AtomicU64,
    batch: AtomicU64,
}

/// Bytes before the first record of a batch: sequence number and count.
///
/// Source: [RocksDB source] `db/write_batch.cc`, layout of `WriteBatch::rep_`.
const BATCH_HEADER_BYTES: usize = 12;

impl Written {
    /// Counts an acknowledged put.
    #[inline]
    pub(crate) fn put(&self, key: usize, value: usize) {
        let record = 1 + varint(key) + key + varint(value) + value;
        self.add(key + value, BATCH_HEADER_BYTES + record);
    }

    /// Counts an acknowledged delete.
    #[inline]
    pub(crate) fn delete(&self, key: usize) {
        self.add(key, BATCH_HEADER_BYTES + 1 + varint(key) + key);
    }

    /// Returns bytes of keys and values.
    pub(crate) fn ingest(&self) -> u64 {
        self.ingest.load(Ordering::Relaxed)
    }

    /// Returns bytes of batches, which go to the WAL if there is one.
    pub(crate) fn batch(&self) -> u64 {
        self.batch.load(Ordering::Relaxed)
    }

    #[inline]
    fn add(&self, ingest: usize, batch: usize) {
        // One writer: a plain store is enough, and costs less than an atomic addition.
        self.ingest.store(self.ingest() + ingest as u64, Ordering::Relaxed);
        self.batch.store(self.batch() + batch as u64, Ordering::Relaxed);
    }
}

/// Returns the bytes of a varint, seven bits per byte.
#[inline]
const fn varint(value: usize) -> usize {
    // Most lengths: two instructions instead of ten.
    if value < 1 << 7 {
        return 1;
    }
    let bits = usize::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_counted_as_rocksdb_lays_it_out() {
        let written = Written::default();
        written.put(20, 100);
        assert_eq!((written.ingest(), written.batch()), (120, 135));
        written.delete(20);
        assert_eq!((written.ingest(), written.batch()), (140, 169));
        assert_eq!([0, 127, 128, 16_383, 16_384].map(varint), [1, 1, 2, 2, 3]);
    }
}
