//! The encoding of a row id as a key.
//!
//! Eight bytes, big-endian, then the character `0` up to the key's length: ids and keys sort
//! alike. Source: RocksDB, tools/db_bench_tool.cc, `GenerateKeyFromInt` (no prefix, one key per
//! id). An absent key has another last byte, so it lies between present ones.

use std::fmt::Write as _;

/// Bytes of the id at the start of a key.
pub(crate) const ID_BYTES: usize = 8;
/// Fills a key behind its id.
const PADDING: u8 = b'0';
/// Last byte of a key that is never written.
const ABSENT: u8 = b'.';

/// One key, rewritten in place for each operation.
#[derive(Debug)]
pub(crate) struct KeyBuffer {
    bytes: Box<[u8]>,
}

impl KeyBuffer {
    /// Returns a buffer for keys that are written; `key_bytes >= 8`.
    pub(crate) fn new(key_bytes: u32) -> Self {
        let key_bytes = length(key_bytes).max(ID_BYTES);
        Self { bytes: vec![PADDING; key_bytes].into_boxed_slice() }
    }

    /// Returns a buffer for keys that are never written; `key_bytes >= 9`.
    pub(crate) fn absent(key_bytes: u32) -> Self {
        let mut buffer = Self::new(key_bytes);
        debug_assert!(buffer.bytes.len() > ID_BYTES, "no padding to differ in");
        if let Some(last) = buffer.bytes.last_mut() {
            *last = ABSENT;
        }
        buffer
    }

    /// Writes the key of `id` and returns it.
    #[inline]
    pub(crate) fn set(&mut self, id: u64) -> &[u8] {
        let bytes = &mut *self.bytes;
        write_id(bytes, id);
        bytes
    }

    /// Returns the id of a key that differs from this one in its id alone; `None` for any other.
    pub(crate) fn id_of(&self, key: &[u8]) -> Option<u64> {
        let (id, padding) = key.split_first_chunk()?;
        (*padding == self.bytes[ID_BYTES..]).then(|| u64::from_be_bytes(*id))
    }

    /// Returns the key as last written.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns a length in bytes as an index.
pub(crate) fn length(bytes: u32) -> usize {
    usize::try_from(bytes).expect("an address is at least 32 bits wide")
}

/// Writes `id` at the start of `key`.
#[inline]
pub(crate) fn write_id(key: &mut [u8], id: u64) {
    if let Some(place) = key.first_chunk_mut() {
        *place = id.to_be_bytes();
    }
}

/// Returns a key as text: its id in decimal and its bytes in hex.
pub(crate) fn describe(key: &[u8]) -> String {
    let mut text = match key.first_chunk() {
        Some(id) => format!("id {} (0x", u64::from_be_bytes(*id)),
        None => "no id (0x".to_owned(),
    };
    for byte in key {
        write!(text, "{byte:02x}").expect("a String grows");
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_laid_out_like_db_bench_s() {
        let mut key = KeyBuffer::new(20);
        assert_eq!(key.set(0x0102), b"\0\0\0\0\0\0\x01\x02000000000000");
        assert_eq!(key.id_of(key.bytes()), Some(0x0102));
        assert_eq!(KeyBuffer::new(8).set(1), 1u64.to_be_bytes());
    }

    #[test]
    fn keys_sort_as_their_ids() {
        let mut keys = (KeyBuffer::new(12), KeyBuffer::new(12));
        for (low, high) in [(0, 1), (255, 256), (1 << 40, (1 << 40) + 1)] {
            assert!(keys.0.set(low) < keys.1.set(high));
        }
    }

    #[test]
    fn an_absent_key_is_no_row_s_and_lies_among_them() {
        let mut absent = KeyBuffer::absent(9);
        assert_eq!(KeyBuffer::new(9).id_of(absent.set(7)), None);
        assert!(KeyBuffer::new(9).set(6) < absent.bytes());
        assert!(absent.bytes() < KeyBuffer::new(9).set(8));
    }

    #[test]
    fn other_strings_have_no_id() {
        assert_eq!(KeyBuffer::new(8).id_of(b"short"), None);
        assert_eq!(KeyBuffer::new(20).id_of(&[0; 20]), None);
        assert_eq!(KeyBuffer::new(21).id_of(KeyBuffer::new(20).set(1)), None);
        assert_eq!(describe(b"ab"), "no id (0x6162)");
        assert_eq!(describe(KeyBuffer::new(9).set(258)), "id 258 (0x000000000000010230)");
    }
}
