//! Bytes written to the log, counted in the driver.
//!
//! LevelDB does not report them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes one session wrote, aligned against false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Written(AtomicU64);

/// Bytes before the first entry of a batch: sequence number and count.
///
/// Source: [LevelDB source] `db/write_batch.cc`, `kHeader`.
const BATCH_HEADER_BYTES: usize = 12;
/// Bytes before each piece of a record: checksum, length and type.
///
/// Source: [LevelDB source] `db/log_format.h`, `kHeaderSize`.
const PIECE_HEADER_BYTES: usize = 7;
/// Bytes of a record that fit into one block of the log.
///
/// Source: [LevelDB source] `db/log_format.h`, `kBlockSize`.
const PIECE_BYTES: usize = 32_768 - PIECE_HEADER_BYTES;

impl Written {
    /// Counts an acknowledged put.
    #[inline]
    pub(crate) fn put(&self, key: usize, value: usize) {
        self.add(1 + varint(key) + key + varint(value) + value);
    }

    /// Counts an acknowledged delete.
    #[inline]
    pub(crate) fn delete(&self, key: usize) {
        self.add(1 + varint(key) + key);
    }

    /// Returns the bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    fn add(&self, entry: usize) {
        let record = BATCH_HEADER_BYTES + entry;
        let bytes = record + PIECE_HEADER_BYTES * record.div_ceil(PIECE_BYTES);
        // One writer: a plain store is enough, and costs less than an atomic addition.
        self.0.store(self.bytes() + bytes as u64, Ordering::Relaxed);
    }
}

/// Returns the bytes of a varint, seven bits per byte.
#[inline]
const fn varint(value: usize) -> usize {
    let bits = usize::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_counted_as_leveldb_lays_it_out() {
        let written = Written::default();
        written.put(20, 100);
        assert_eq!(written.bytes(), 7 + 12 + 1 + 1 + 20 + 1 + 100);
        written.delete(20);
        assert_eq!(written.bytes(), 142 + 7 + 12 + 1 + 1 + 20);
        assert_eq!([0, 127, 128, 16_383, 16_384].map(varint), [1, 1, 2, 2, 3]);
    }
}
