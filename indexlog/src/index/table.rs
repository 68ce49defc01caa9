//! A table: blocks of tuples in a file; its filter and the places of its blocks stay in memory.

use std::ops::Bound;
use std::sync::Arc;

use super::Tuple;
use super::block::Block;
use super::bloom::{Bloom, hash};
use super::merge::Item;
use crate::caches::Caches;
use crate::codec::{self, u32_at, u64_at};
use crate::error::Result;
use crate::files::StoredFile;
use crate::manifest::TableRecord;

/// Last key and place of a block.
struct BlockPlace {
    last: Box<[u8]>,
    offset: u64,
    bytes: u32,
}

/// A table.
pub(crate) struct Table {
    pub(crate) file: StoredFile,
    pub(crate) record: TableRecord,
    filter: Bloom,
    blocks: Vec<BlockPlace>,
}

impl Table {
    /// Returns the name of the file of table `id`.
    pub(crate) fn name(id: u64) -> String {
        format!("{id:08}.table")
    }

    /// Reads filter and places of blocks.
    pub(crate) fn open(file: StoredFile, record: TableRecord) -> Result<Self> {
        let bytes = u32::try_from(record.bytes.saturating_sub(record.footer));
        let bytes = bytes.map_err(|_too_long| file.damaged("its footer is too long"))?;
        let footer = codec::block(&file, record.footer, bytes)?;
        let parsed =
            footer.split_at_checked(record.filter_bytes as usize).and_then(|(filter, places)| {
                Some((Bloom::parse(filter, record.filter_bits)?, block_places(places)?))
            });
        let Some((filter, blocks)) = parsed else {
            return Err(file.damaged("its footer cannot be read"));
        };
        Ok(Self { file, record, filter, blocks })
    }

    /// Returns the memory of filter and places of blocks, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.record.bytes - self.record.footer
    }

    /// Returns whether keys of the table may lie between `first` and `last`.
    pub(crate) fn overlaps(&self, first: &[u8], last: &[u8]) -> bool {
        *self.record.first <= *last && *first <= *self.record.last
    }

    /// Returns the tuple of a key.
    pub(crate) fn get(&self, key: &[u8], caches: &Caches) -> Result<Option<Tuple>> {
        if !self.filter.may_hold(hash(key)) {
            return Ok(None);
        }
        let at = self.blocks.partition_point(|block| *block.last < *key);
        if at == self.blocks.len() {
            return Ok(None);
        }
        let block = self.block(at, caches)?;
        let (position, is_there) = block.search(key);
        Ok(is_there.then(|| block.tuple(position)))
    }

    fn block(&self, at: usize, caches: &Caches) -> Result<Arc<Block>> {
        let place = &self.blocks[at];
        caches.index_block((self.record.id, place.offset), || {
            let content = codec::block(&self.file, place.offset, place.bytes)?;
            Block::parse(content)
                .ok_or_else(|| self.file.damaged("a block of tuples cannot be read"))
        })
    }
}

fn block_places(mut bytes: &[u8]) -> Option<Vec<BlockPlace>> {
    let mut places = Vec::new();
    while !bytes.is_empty() {
        let key = u32_at(bytes, 12)? as usize;
        let last = bytes.get(16..16 + key)?.into();
        places.push(BlockPlace { last, offset: u64_at(bytes, 0)?, bytes: u32_at(bytes, 8)? });
        bytes = &bytes[16 + key..];
    }
    Some(places)
}

/// Walks a table's tuples up or down.
pub(super) struct TableCursor {
    table: Arc<Table>,
    caches: Arc<Caches>,
    is_forward: bool,
    /// The block at hand, and what of it comes next; `None` after the last.
    block: Option<(usize, Arc<Block>)>,
    /// Tuples of the block that were passed, counted from the side where the walk begins.
    passed: usize,
}

impl TableCursor {
    /// Returns a cursor at the first tuple within the bound.
    pub(super) fn new(
        table: Arc<Table>,
        caches: Arc<Caches>,
        bound: Bound<&[u8]>,
        is_forward: bool,
    ) -> Result<Self> {
        let blocks = table.blocks.len();
        let at = match bound {
            Bound::Unbounded if is_forward => 0,
            Bound::Unbounded => blocks - 1,
            Bound::Included(key) | Bound::Excluded(key) => {
                let at = table.blocks.partition_point(|block| *block.last < *key);
                if is_forward { at } else { at.min(blocks - 1) }
            }
        };
        let mut cursor = Self { table, caches, is_forward, block: None, passed: 0 };
        cursor.enter(at)?;
        if let (Some((_, block)), Bound::Included(key) | Bound::Excluded(key)) =
            (&cursor.block, bound)
        {
            let (position, is_there) = block.search(key);
            let is_excluded = matches!(bound, Bound::Excluded(_));
            cursor.passed = if is_forward {
                position + usize::from(is_there && is_excluded)
            } else {
                block.len() - position - usize::from(is_there && !is_excluded)
            };
        }
        Ok(cursor)
    }

    fn enter(&mut self, at: usize) -> Result<()> {
        self.passed = 0;
        self.block = if at < self.table.blocks.len() {
            Some((at, self.table.block(at, &self.caches)?))
        } else {
            None
        };
        Ok(())
    }

    fn advance(&mut self) -> Result<Option<Item>> {
        loop {
            let Some((at, block)) = &self.block else { return Ok(None) };
            if self.passed < block.len() {
                self.passed += 1;
                let from_end = block.len() - self.passed;
                let position = if self.is_forward { self.passed - 1 } else { from_end };
                let tuple = block.tuple(position);
                return Ok(Some(Item { tuple, document: None, table: self.table.record.id }));
            }
            // Below block 0 there is none either.
            let next = if self.is_forward { at + 1 } else { at.wrapping_sub(1) };
            self.enter(next)?;
        }
    }
}

impl Iterator for TableCursor {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}
