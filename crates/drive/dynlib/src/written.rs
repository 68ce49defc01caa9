//! Bytes written through LevelDB or RocksDB, counted per session.
//!
//! LevelDB reports none. RocksDB prints its totals with two decimals of a GB, too coarse for short
//! steps, and its exact counters cost speed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes one session wrote, aligned against false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Written {
    ingest: AtomicU64,
    logged: AtomicU64,
}

/// Bytes before the first record of a batch: sequence number and count.
///
/// Source: [RocksDB source] `db/write_batch.cc`, layout of `WriteBatch::rep_`; [LevelDB source]
/// `db/write_batch.cc`, `kHeader`.
const BATCH_HEADER_BYTES: usize = 12;

impl Written {
    /// Counts an acknowledged write of so many bytes of key and value, and of the log.
    ///
    /// The session that owns it is the only writer.
    #[inline]
    pub fn add(&self, ingest: usize, logged: usize) {
        // One writer: a plain store is enough, and costs less than an atomic addition.
        self.ingest.store(self.ingest() + ingest as u64, Ordering::Relaxed);
        self.logged.store(self.logged() + logged as u64, Ordering::Relaxed);
    }

    /// Returns the bytes of keys and values.
    #[inline]
    pub fn ingest(&self) -> u64 {
        self.ingest.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the log, if there is one.
    #[inline]
    pub fn logged(&self) -> u64 {
        self.logged.load(Ordering::Relaxed)
    }
}

/// Returns the bytes of a batch with one put, or with one delete when there is no value.
#[inline]
pub fn batch_bytes(key: usize, value: Option<usize>) -> usize {
    let value = value.map_or(0, |value| varint(value) + value);
    BATCH_HEADER_BYTES + 1 + varint(key) + key + value
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
    fn a_batch_is_counted_as_the_engines_lay_it_out() {
        assert_eq!((batch_bytes(20, Some(100)), batch_bytes(20, None)), (135, 34));
        assert_eq!([0, 127, 128, 16_383, 16_384].map(varint), [1, 1, 2, 2, 3]);
    }
}
