//! What sessions wrote to the log, counted in the driver, since LevelDB does not.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes one session wrote; on a cache line of its own, since only its session writes to it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Logged(AtomicU64);

/// Bytes before the first entry of a batch: sequence number and count.
///
/// Source: LevelDB `write_batch.cc`, `kHeader`.
const BATCH_HEADER_BYTES: usize = 12;
/// Bytes before each piece of a record: checksum, length and type.
///
/// Source: LevelDB `log_format.h`, `kHeaderSize`.
const PIECE_HEADER_BYTES: usize = 7;
/// Bytes of a record that fit into one block of the log.
///
/// Source: LevelDB `log_format.h`, `kBlockSize`.
const PIECE_BYTES: usize = 32_768 - PIECE_HEADER_BYTES;

impl Logged {
    /// Counts a put that was acknowledged.
    #[inline]
    pub(crate) fn put(&self, key: usize, value: usize) {
        self.add(1 + varint(key) + key + varint(value) + value);
    }

    /// Counts a delete that was acknowledged.
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

/// Returns the bytes of a length as LevelDB writes it, seven bits to the byte.
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
        let logged = Logged::default();
        logged.put(20, 100);
        assert_eq!(logged.bytes(), 7 + 12 + 1 + 1 + 20 + 1 + 100);
        logged.delete(20);
        assert_eq!(logged.bytes(), 142 + 7 + 12 + 1 + 1 + 20);
        assert_eq!([0, 127, 128, 16_383, 16_384].map(varint), [1, 1, 2, 2, 3]);
    }
}
