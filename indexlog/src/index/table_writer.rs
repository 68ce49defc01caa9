//! Writes a table of tuples in the order of their keys.

use std::sync::Arc;

use super::Tuple;
use super::block::BlockWriter;
use super::bloom::{Bloom, hash};
use super::table::Table;
use crate::codec::{length, put_block};
use crate::error::Result;
use crate::files::Directory;
use crate::manifest::TableRecord;
use crate::options::Compression;

/// A table under construction, in memory: tables are small.
pub(crate) struct TableWriter {
    content: Vec<u8>,
    block: BlockWriter,
    /// Last key, offset and bytes of each block.
    blocks: Vec<u8>,
    hashes: Vec<u64>,
    first: Option<Box<[u8]>>,
    last: Box<[u8]>,
}

impl TableWriter {
    /// Returns a table without tuples.
    pub(crate) fn new() -> Self {
        Self {
            content: Vec::new(),
            block: BlockWriter::default(),
            blocks: Vec::new(),
            hashes: Vec::new(),
            first: None,
            last: Box::default(),
        }
    }

    /// Appends a tuple; keys ascend.
    pub(crate) fn push(&mut self, tuple: &Tuple) {
        self.hashes.push(hash(&tuple.key));
        self.first.get_or_insert_with(|| tuple.key.clone());
        self.last.clone_from(&tuple.key);
        if self.block.push(tuple) {
            self.end_block();
        }
    }

    /// Returns the bytes of the complete blocks.
    pub(crate) const fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    /// Writes and syncs the table; `None` without a tuple.
    pub(crate) fn finish(
        mut self,
        directory: &Arc<Directory>,
        id: u64,
        bloom_bits: u32,
    ) -> Result<Option<Arc<Table>>> {
        self.end_block();
        let Some(first) = self.first else { return Ok(None) };
        let offset = self.content.len() as u64;
        let mut footer = Bloom::new(&self.hashes, bloom_bits).bytes();
        let filter_bytes = length(footer.len());
        footer.append(&mut self.blocks);
        put_block(&mut self.content, &footer, Compression::None);
        let record = TableRecord {
            id,
            first: first.into(),
            last: self.last.into(),
            tuples: self.hashes.len() as u64,
            bytes: self.content.len() as u64,
            footer: offset,
            filter_bytes,
            filter_bits: bloom_bits,
        };
        let file = directory.create(Table::name(id))?;
        file.write_at(&self.content, 0)?;
        file.sync()?;
        Ok(Some(Arc::new(Table::open(file, record)?)))
    }

    fn end_block(&mut self) {
        let offset = self.content.len() as u64;
        if let Some(block) = self.block.finish() {
            let bytes = put_block(&mut self.content, &block, Compression::None);
            self.blocks.extend(offset.to_le_bytes());
            self.blocks.extend(bytes.to_le_bytes());
            self.blocks.extend(length(self.last.len()).to_le_bytes());
            self.blocks.extend(&self.last);
        }
    }
}
