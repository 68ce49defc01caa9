//! What sessions wrote, counted in the driver.
//!
//! RocksDB prints its own totals with two decimals of a GB, too coarse for short steps, and its
//! exact counters cost as much as they tell. A session knows what it hands over.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes one session wrote; on a cache line of its own, since only its session writes to it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Written {
    ingest: AtomicU64,
    batch: AtomicU64,
}

/// Bytes before the first record of a batch: sequence number and count.
///
/// Source: RocksDB `write_batch.cc`, layout of `WriteBatch::rep_`.
const BATCH_HEADER_BYTES: usize = 12;

impl Written {
    /// Counts a put that was acknowledged.
    #[inline]
    pub(crate) fn put(&self, key: usize, value: usize) {
        let record = 1 + varint(key) + key + varint(value) + value;
        self.add(key + value, BATCH_HEADER_BYTES + record);
    }

    /// Counts a delete that was acknowledged.
    #[inline]
    pub(crate) fn delete(&self, key: usize) {
        self.add(key, BATCH_HEADER_BYTES + 1 + varint(key) + key);
    }

    /// Returns bytes of keys and values.
    pub(crate) fn ingest(&self) -> u64 {
        self.ingest.load(Ordering::Relaxed)
    }

    /// Returns bytes of batches, which is what goes to the log when there is one.
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

/// Returns the bytes of a length as RocksDB writes it, seven bits to the byte.
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
