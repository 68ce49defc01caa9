//! What a database reports of itself.

use crate::caches::CacheUse;
use crate::shared::Shared;

/// State and counters of an open database; counters count from the open, bytes unless noted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct State {
    /// Keys and values written by clients.
    pub ingest_bytes: u64,
    /// Written to the write-ahead log.
    pub wal_bytes: u64,
    /// Written by flushes, to log and index.
    pub flush_bytes: u64,
    /// Read by compactions of index and delete list.
    pub compaction_read_bytes: u64,
    /// Written by compactions of index and delete list.
    pub compaction_write_bytes: u64,
    /// Read by garbage collections.
    pub collection_read_bytes: u64,
    /// Written by garbage collections.
    pub collection_write_bytes: u64,
    /// Segments that were collected.
    pub segments_collected: u64,
    /// Syncs of files and of the directory.
    pub fsyncs: u64,
    /// Times a writer waited for a flush.
    pub stalls: u64,
    /// Held by write caches.
    pub write_cache_bytes: u64,
    /// Tables of the index.
    pub index_bytes: u64,
    /// Tables in level 0 of the index.
    pub index_level0_tables: u64,
    /// Filters and places of blocks of the index and the delete list, in memory.
    pub index_memory_bytes: u64,
    /// Tables of the delete list.
    pub delete_list_bytes: u64,
    /// Documents on the delete list, those used up included until they are compacted away.
    pub delete_list_entries: u64,
    /// Segments.
    pub segments: u64,
    /// Files of the segments.
    pub segment_bytes: u64,
    /// Keys and values in the segments, garbage included.
    pub document_bytes: u64,
    /// Keys and values in the segments that the delete list names.
    pub garbage_bytes: u64,
    /// Documents in the segments that the delete list names.
    pub garbage_documents: u64,
    /// The cache of documents.
    pub document_cache: CacheUse,
    /// Reads of documents that were cached.
    pub document_hits: u64,
    /// Reads of documents from a segment.
    pub document_misses: u64,
    /// The cache of blocks of the index and nodes of trees.
    pub block_cache: CacheUse,
    /// Reads of blocks that were cached.
    pub block_hits: u64,
    /// Reads of blocks from a file.
    pub block_misses: u64,
    /// Lookups and scans of the index; garbage collections make none.
    pub index_reads: u64,
}

impl Shared {
    /// Returns state and counters.
    pub(crate) fn state(&self) -> State {
        let view = self.view();
        let (counters, caches, version) = (&self.directory.counters, &self.caches, &view.version);
        let (document_cache, block_cache) = caches.usage();
        let segment_sum = |of: fn(&crate::manifest::SegmentRecord) -> u64| {
            version.segments.iter().map(|segment| of(&segment.record)).sum()
        };
        let tables = || version.index.tables().chain(version.deletes.tables());
        let immutable = view.immutable.as_ref().map_or(0, |cache| cache.bytes());
        let garbage = version.garbage();
        State {
            ingest_bytes: counters.ingest_bytes.get(),
            wal_bytes: counters.wal_bytes.get(),
            flush_bytes: counters.flush_bytes.get(),
            compaction_read_bytes: counters.compaction_read_bytes.get(),
            compaction_write_bytes: counters.compaction_write_bytes.get(),
            collection_read_bytes: counters.collection_read_bytes.get(),
            collection_write_bytes: counters.collection_write_bytes.get(),
            segments_collected: counters.segments_collected.get(),
            fsyncs: counters.fsyncs.get(),
            stalls: counters.stalls.get(),
            write_cache_bytes: (view.active.bytes() + immutable) as u64,
            index_bytes: version.index.bytes(),
            index_level0_tables: version.index.level0() as u64,
            index_memory_bytes: tables().map(|(_, table)| table.memory_bytes()).sum(),
            delete_list_bytes: version.deletes.bytes(),
            delete_list_entries: version.deletes.tables().map(|(_, it)| it.record.tuples).sum(),
            segments: version.segments.len() as u64,
            segment_bytes: segment_sum(|record| record.bytes),
            document_bytes: segment_sum(|record| record.document_bytes),
            garbage_bytes: garbage.bytes,
            garbage_documents: garbage.documents,
            document_cache,
            document_hits: caches.document_hits.get(),
            document_misses: caches.document_misses.get(),
            block_cache,
            block_hits: caches.block_hits.get(),
            block_misses: caches.block_misses.get(),
            index_reads: counters.index_reads.get(),
        }
    }
}
