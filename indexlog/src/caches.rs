//! The two caches: documents, and blocks of the index and of the segments' trees.
//!
//! An entry never becomes wrong: a sequence number names one document for ever, and blocks are
//! never changed in their place. Data blocks are not cached: documents are, one by one, which is
//! what this structure's need for cache memory comes from.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::counters::Counter;
use crate::document::Document;
use crate::error::Result;
use crate::index::Block;
use crate::log::node::{Child, Node};

/// Memory of an entry next to its content: cache, allocator and counts, estimated.
const ENTRY_BYTES: u64 = 96;
/// A document of about this size is expected, to size the cache's tables.
const DOCUMENT_BYTES: u64 = 512;
/// The same of a block.
const BLOCK_BYTES: u64 = 4096;

/// File and offset of a block.
type Place = (u64, u64);

/// A cached block.
#[derive(Clone)]
enum Cached {
    Index(Arc<Block>),
    Node(Arc<Node>),
}

#[derive(Clone)]
struct Weight;

impl Weighter<u64, Arc<Document>> for Weight {
    fn weight(&self, _seqno: &u64, document: &Arc<Document>) -> u64 {
        ENTRY_BYTES + u64::from(document.bytes())
    }
}

impl Weighter<Place, Cached> for Weight {
    fn weight(&self, _place: &Place, block: &Cached) -> u64 {
        ENTRY_BYTES
            + match block {
                Cached::Index(block) => block.bytes(),
                Cached::Node(node) => (node.children.len() * size_of::<Child>()) as u64,
            }
    }
}

/// Entries and bytes of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Entries.
    pub entries: u64,
    /// Bytes of memory, estimated.
    pub bytes: u64,
}

/// The caches of a database.
pub(crate) struct Caches {
    documents: Cache<u64, Arc<Document>, Weight>,
    blocks: Cache<Place, Cached, Weight>,
    pub(crate) document_hits: Counter,
    pub(crate) document_misses: Counter,
    pub(crate) block_hits: Counter,
    pub(crate) block_misses: Counter,
}

impl Caches {
    /// Returns empty caches of these sizes in bytes.
    pub(crate) fn new(document_bytes: u64, block_bytes: u64) -> Self {
        let entries = |bytes: u64, each: u64| usize::try_from(bytes / each).unwrap_or(usize::MAX);
        let documents = entries(document_bytes, DOCUMENT_BYTES);
        let blocks = entries(block_bytes, BLOCK_BYTES);
        Self {
            documents: Cache::with_weighter(documents, document_bytes, Weight),
            blocks: Cache::with_weighter(blocks, block_bytes, Weight),
            document_hits: Counter::default(),
            document_misses: Counter::default(),
            block_hits: Counter::default(),
            block_misses: Counter::default(),
        }
    }

    /// Returns the document of a sequence number, cached or read.
    pub(crate) fn document(
        &self,
        seqno: u64,
        read: impl FnOnce() -> Result<Arc<Document>>,
    ) -> Result<Arc<Document>> {
        if let Some(document) = self.documents.get(&seqno) {
            self.document_hits.add(1);
            return Ok(document);
        }
        self.document_misses.add(1);
        let document = read()?;
        self.documents.insert(seqno, Arc::clone(&document));
        Ok(document)
    }

    /// Returns a block of an index table, cached or read.
    pub(crate) fn index_block(
        &self,
        place: Place,
        read: impl FnOnce() -> Result<Block>,
    ) -> Result<Arc<Block>> {
        if let Some(Cached::Index(block)) = self.cached(place) {
            return Ok(block);
        }
        let block = Arc::new(read()?);
        self.blocks.insert(place, Cached::Index(Arc::clone(&block)));
        Ok(block)
    }

    /// Returns a node of a segment's tree, cached or read.
    pub(crate) fn node(
        &self,
        place: Place,
        read: impl FnOnce() -> Result<Node>,
    ) -> Result<Arc<Node>> {
        if let Some(Cached::Node(node)) = self.cached(place) {
            return Ok(node);
        }
        let node = Arc::new(read()?);
        self.blocks.insert(place, Cached::Node(Arc::clone(&node)));
        Ok(node)
    }

    /// Returns what documents and blocks take.
    pub(crate) fn usage(&self) -> (CacheUse, CacheUse) {
        let of = |entries: usize, bytes| CacheUse { entries: entries as u64, bytes };
        (
            of(self.documents.len(), self.documents.weight()),
            of(self.blocks.len(), self.blocks.weight()),
        )
    }

    fn cached(&self, place: Place) -> Option<Cached> {
        let found = self.blocks.get(&place);
        if found.is_some() { &self.block_hits } else { &self.block_misses }.add(1);
        found
    }
}
