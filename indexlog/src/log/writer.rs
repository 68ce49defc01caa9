//! Writes a log segment: data blocks, and the tree that finds them.

use std::sync::Arc;

use super::node::{Child, RightEdge};
use super::reader::Segment;
use crate::codec::put_block;
use crate::document;
use crate::error::Result;
use crate::files::{Directory, StoredFile};
use crate::manifest::SegmentRecord;
use crate::options::Compression;

/// Bytes of documents from which a data block is complete; a longer document has a block alone.
const BLOCK_BYTES: usize = 4096;
/// Bytes that are written in one call.
const WRITE_BYTES: usize = 1 << 20;

/// A growing segment.
pub(crate) struct SegmentWriter {
    file: Arc<StoredFile>,
    compression: Compression,
    /// What the last commit recorded.
    record: SegmentRecord,
    edge: RightEdge,
    block: Vec<u8>,
    block_first: u64,
    /// Not yet written, at the end of the file.
    pending: Vec<u8>,
    end: u64,
}

impl SegmentWriter {
    /// Creates a segment for sequence numbers from `min_seqno` on.
    pub(crate) fn create(
        directory: &Arc<Directory>,
        id: u64,
        min_seqno: u64,
        compression: Compression,
    ) -> Result<Self> {
        Ok(Self {
            file: Arc::new(directory.create(Segment::name(id))?),
            compression,
            record: SegmentRecord { id, min_seqno, max_seqno: min_seqno, ..Default::default() },
            edge: RightEdge::default(),
            block: Vec::new(),
            block_first: 0,
            pending: Vec::new(),
            end: 0,
        })
    }

    /// Appends a document; sequence numbers ascend.
    pub(crate) fn push(&mut self, seqno: u64, key: &[u8], value: &[u8]) -> Result<()> {
        if self.block.is_empty() {
            self.block_first = seqno;
        }
        document::put(&mut self.block, seqno, key, value);
        self.record.documents += 1;
        self.record.document_bytes += (key.len() + value.len()) as u64;
        self.record.max_seqno = self.record.max_seqno.max(seqno);
        if self.block.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    /// Completes the blocks, writes the tree's right edge, syncs, and returns the new record.
    ///
    /// The segment covers sequence numbers up to `max_seqno`, whichever were written.
    pub(crate) fn commit(&mut self, max_seqno: u64) -> Result<Segment> {
        self.end_block()?;
        self.record.root = self.edge.commit(&mut self.pending, self.end).map(Into::into);
        self.write()?;
        self.file.sync()?;
        self.record.max_seqno = max_seqno;
        self.record.bytes = self.end;
        Ok(Segment { file: Arc::clone(&self.file), record: self.record.clone() })
    }

    /// Returns the segment's number.
    pub(crate) const fn id(&self) -> u64 {
        self.record.id
    }

    /// Returns the bytes written.
    pub(crate) const fn bytes(&self) -> u64 {
        self.end
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let offset = self.end + self.pending.len() as u64;
        let bytes = put_block(&mut self.pending, &self.block, self.compression);
        self.block.clear();
        let child = Child { first: self.block_first, offset, bytes };
        self.edge.push(child, &mut self.pending, self.end);
        if self.pending.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.file.write_at(&self.pending, self.end)?;
        self.end += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}
