//! A document in memory, and its stored form.

use crate::codec::{length, u32_at, u64_at};

/// Bytes of a stored document before its key.
const HEADER: usize = 16;

/// One version of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) seqno: u64,
    pub(crate) key: Box<[u8]>,
    /// `None` when the document was deleted.
    pub(crate) value: Option<Box<[u8]>>,
}

impl Document {
    /// Returns the bytes of key and value.
    pub(crate) fn bytes(&self) -> u32 {
        length(self.key.len() + self.value.as_ref().map_or(0, |value| value.len()))
    }
}

/// Appends a document's stored form.
pub(crate) fn put(to: &mut Vec<u8>, seqno: u64, key: &[u8], value: &[u8]) {
    to.extend(seqno.to_le_bytes());
    to.extend(length(key.len()).to_le_bytes());
    to.extend(length(value.len()).to_le_bytes());
    to.extend(key);
    to.extend(value);
}

/// A document in a data block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredDocument<'a> {
    pub(crate) seqno: u64,
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
}

/// Returns the documents of a data block, in the order of their sequence numbers.
///
/// It ends at the first that is incomplete; blocks have checksums.
pub(crate) fn documents(mut block: &[u8]) -> impl Iterator<Item = StoredDocument<'_>> {
    std::iter::from_fn(move || {
        let seqno = u64_at(block, 0)?;
        let (key, value) = (u32_at(block, 8)? as usize, u32_at(block, 12)? as usize);
        let content = block.get(HEADER..HEADER + key + value)?;
        block = &block[HEADER + key + value..];
        let (key, value) = content.split_at(key);
        Some(StoredDocument { seqno, key, value })
    })
}
