//! An open database: state, maintenance and close.

use std::path::Path;

use engine::settings_check::check_dir;
use engine::{Engine, Maintenance, Result, Session};
use indexlog::Database;
use model::{EngineState, Identity, Options, metric};

use crate::config::describe;
use crate::session::{IndexlogSession, failed};

/// An open database.
pub(crate) struct IndexlogEngine {
    database: Database,
    options: indexlog::Options,
    identity: Identity,
}

impl IndexlogEngine {
    /// Opens the database in `dir`, creating it when absent.
    pub(crate) fn open(dir: &Path, options: indexlog::Options, identity: Identity) -> Result<Self> {
        check_dir(dir)?;
        let database = Database::open(dir, options.clone()).map_err(failed)?;
        Ok(Self { database, options, identity })
    }
}

impl Engine for IndexlogEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(IndexlogSession(&self.database)))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        Ok(describe(&self.options))
    }

    /// All work is done when the call returns.
    fn maintain(&self, work: Maintenance) -> Result<bool> {
        let database = &self.database;
        let done = match work {
            Maintenance::Flush => database.flush(),
            Maintenance::CompactLevel0 => database.compact_level0(),
            Maintenance::CompactAll => database.compact_all(),
            Maintenance::Clean => return Ok(false),
        };
        done.map(|()| true).map_err(failed)
    }

    fn state(&self) -> Result<EngineState> {
        let state = self.database.state();
        let caches = state.document_cache.bytes + state.block_cache.bytes;
        let entries = state.document_cache.entries + state.block_cache.entries;
        let (hits, misses) =
            (state.document_hits + state.block_hits, state.document_misses + state.block_misses);
        let readings = [
            (metric::ENGINE_INGEST_BYTES, state.ingest_bytes),
            (metric::ENGINE_FLUSH_WRITE_BYTES, state.flush_bytes),
            (
                metric::ENGINE_COMPACTION_WRITE_BYTES,
                state.compaction_write_bytes + state.collection_write_bytes,
            ),
            (
                metric::ENGINE_COMPACTION_READ_BYTES,
                state.compaction_read_bytes + state.collection_read_bytes,
            ),
            (metric::ENGINE_WAL_WRITE_BYTES, state.wal_bytes),
            (metric::ENGINE_FSYNCS, state.fsyncs),
            (metric::ENGINE_STALLS, state.stalls),
            (metric::ENGINE_CACHE_HITS, hits),
            (metric::ENGINE_CACHE_MISSES, misses),
            (metric::ENGINE_CACHE_BYTES, caches),
            (metric::ENGINE_CACHE_ENTRIES, entries),
            (metric::ENGINE_CACHE_DATA_BYTES, state.document_cache.bytes),
            (metric::ENGINE_CACHE_INDEX_BYTES, state.block_cache.bytes),
            (metric::ENGINE_MEMTABLE_BYTES, state.write_cache_bytes),
            (metric::ENGINE_BLOB_FILES, state.segments),
            (metric::ENGINE_BLOB_BYTES, state.segment_bytes),
            (metric::ENGINE_BLOB_GARBAGE_BYTES, state.garbage_bytes),
            (metric::ENGINE_BLOCK_LOOKUPS, hits + misses),
            (metric::ENGINE_BLOCK_READS, misses),
            (metric::ENGINE_L0_FILES, state.index_level0_tables),
            (metric::ENGINE_LIVE_BYTES, state.document_bytes - state.garbage_bytes),
            (
                metric::ENGINE_DISK_BYTES,
                state.index_bytes + state.delete_list_bytes + state.segment_bytes,
            ),
        ];
        let own = [
            ("collection_read_bytes", state.collection_read_bytes),
            ("collection_write_bytes", state.collection_write_bytes),
            ("segments_collected", state.segments_collected),
            ("delete_list_entries", state.delete_list_entries),
            ("delete_list_bytes", state.delete_list_bytes),
            ("garbage_documents", state.garbage_documents),
            ("index_bytes", state.index_bytes),
            ("index_memory_bytes", state.index_memory_bytes),
            ("document_cache_entries", state.document_cache.entries),
            ("document_hits", state.document_hits),
            ("document_misses", state.document_misses),
            ("block_cache_entries", state.block_cache.entries),
            ("block_hits", state.block_hits),
            ("block_misses", state.block_misses),
            ("index_reads", state.index_reads),
        ];
        Ok(EngineState {
            readings: readings.into(),
            own_counters: own.into(),
            is_idle: Some(self.database.is_idle()),
            ..EngineState::default()
        })
    }

    fn statistics_text(&self) -> Option<String> {
        Some(format!("{:#?}\n", self.database.state()))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.database.close().map_err(failed)
    }
}
