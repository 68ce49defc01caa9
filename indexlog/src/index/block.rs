//! A block of tuples in the order of their keys.
//!
//! Stored: the tuples, the offset of each as 16 bits, and their number. A key is found by binary
//! search over the offsets.

use super::Tuple;
use crate::codec::{length, u32_at, u64_at};

/// Bytes of a tuple before its key: sequence number, bytes with a flag, length of the key.
const HEADER: usize = 16;
/// Bit of the bytes: the tuple is a deletion.
const IS_DELETION: u32 = 1 << 31;
/// Bytes of tuples from which a block is complete.
pub(super) const BLOCK_BYTES: usize = 4096;

/// A block under construction.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    tuples: Vec<u8>,
    offsets: Vec<u8>,
    count: u32,
}

impl BlockWriter {
    /// Appends a tuple; returns whether the block is complete.
    pub(super) fn push(&mut self, tuple: &Tuple) -> bool {
        // Blocks begin tuples within 4 KiB, so 16 bits are enough.
        self.offsets.extend(&length(self.tuples.len()).to_le_bytes()[..2]);
        self.tuples.extend(tuple.seqno.to_le_bytes());
        let flag = if tuple.is_deletion { IS_DELETION } else { 0 };
        self.tuples.extend((tuple.bytes | flag).to_le_bytes());
        self.tuples.extend(length(tuple.key.len()).to_le_bytes());
        self.tuples.extend(&tuple.key);
        self.count += 1;
        self.tuples.len() >= BLOCK_BYTES
    }

    /// Returns the content of the block and begins the next one; `None` without a tuple.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        if self.count == 0 {
            return None;
        }
        let mut content = std::mem::take(&mut self.tuples);
        content.append(&mut self.offsets);
        content.extend(self.count.to_le_bytes());
        self.count = 0;
        Some(content)
    }
}

/// A block.
#[derive(Debug)]
pub(crate) struct Block {
    content: Box<[u8]>,
    offsets: Box<[u16]>,
}

impl Block {
    /// Reads a block's content; `None` when it is none.
    pub(super) fn parse(content: Vec<u8>) -> Option<Self> {
        let count_at = content.len().checked_sub(4)?;
        let count = u32_at(&content, count_at)? as usize;
        let offsets_at = count_at.checked_sub(count * 2)?;
        let offset = |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]);
        let offsets: Box<[u16]> =
            content[offsets_at..count_at].chunks_exact(2).map(offset).collect();
        let ends_before = |at: usize| {
            let key = u32_at(&content, at + 12)? as usize;
            (at + HEADER + key <= offsets_at).then_some(())
        };
        offsets.iter().try_for_each(|at| ends_before(usize::from(*at)))?;
        Some(Self { content: content.into(), offsets })
    }

    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.content.len() + self.offsets.len() * 2) as u64
    }

    /// Returns the number of tuples.
    pub(super) const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the tuple at a position below [`Block::len`].
    pub(super) fn tuple(&self, position: usize) -> Tuple {
        let at = usize::from(self.offsets[position]);
        // `parse` has checked the places.
        let seqno = u64_at(&self.content, at).unwrap_or_default();
        let bytes = u32_at(&self.content, at + 8).unwrap_or_default();
        Tuple {
            key: self.key(position).into(),
            seqno,
            bytes: bytes & !IS_DELETION,
            is_deletion: bytes & IS_DELETION != 0,
        }
    }

    /// Returns the position of the first key that is not before `key`, and whether it is `key`.
    pub(super) fn search(&self, key: &[u8]) -> (usize, bool) {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            match self.key(middle).cmp(key) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return (middle, true),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        (from, false)
    }

    fn key(&self, position: usize) -> &[u8] {
        let at = usize::from(self.offsets[position]);
        let key = u32_at(&self.content, at + 12).unwrap_or_default() as usize;
        &self.content[at + HEADER..at + HEADER + key]
    }
}
