//! An open redb file: state, maintenance and close.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, RwLock, TryLockError};

use engine::{Engine, EngineError, Maintenance, Session};
use model::{EngineState, Identity, Options, Readings, metric};
use redb::{Builder, Database, Durability, ReadableDatabase, ReadableTableMetadata};

use crate::backend::{Backend, CountedFile, Syncs};
use crate::config::{Commit, Config};
use crate::error::failed;
use crate::session::{RedbSession, TABLE};

/// The database file's name in the data directory.
const NAME: &str = "data.redb";

/// An open database file.
pub(crate) struct RedbEngine {
    /// Read-locked by each session for its lifetime, write-locked by a compaction.
    database: RwLock<Database>,
    file: Arc<CountedFile>,
    config: Config,
    /// Height at the last statistics; 0 before the first.
    tree_height: AtomicU32,
}

impl RedbEngine {
    /// Opens the database in `dir`, creating it when absent.
    pub(crate) fn open(dir: &Path, config: Config) -> Result<Self, EngineError> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join(NAME))
            .map_err(|error| EngineError::Fatal(format!("redb: {NAME}: {error}")))?;
        let file = CountedFile::new(file, config.syncs).map_err(failed)?;
        let database = Builder::new()
            .set_cache_size(config.cache_bytes)
            .create_with_backend(Backend(Arc::clone(&file)))
            .map_err(failed)?;
        let txn = database.begin_write().map_err(failed)?;
        txn.open_table(TABLE).map_err(failed)?;
        txn.commit().map_err(failed)?;
        let (database, tree_height) = (RwLock::new(database), AtomicU32::new(0));
        Ok(Self { database, file, config, tree_height })
    }

    /// Adds the cache's counters, unless a compaction holds the lock.
    fn take_cache(&self, state: &mut EngineState) {
        let Ok(database) = self.database.try_read() else { return };
        let cache = database.cache_stats();
        state.readings.extend([
            (metric::ENGINE_CACHE_HITS, cache.read_hits()),
            (metric::ENGINE_CACHE_MISSES, cache.read_misses()),
            (metric::ENGINE_CACHE_BYTES, cache.used_bytes() as u64),
            (metric::ENGINE_BLOCK_LOOKUPS, cache.read_hits() + cache.read_misses()),
            (metric::ENGINE_BLOCK_READS, cache.read_misses()),
        ]);
        state.own_counters.extend([
            ("evictions", cache.evictions()),
            ("write_hits", cache.write_hits()),
            // Below zero while a write is counted as a hit and not yet as a write.
            ("write_misses", cache.write_misses().cast_signed().max(0).cast_unsigned()),
        ]);
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.file.sync().map_err(|error| EngineError::Fatal(format!("redb: sync: {error}")))
    }
}

/// Makes all earlier commits durable.
fn commit_durably(database: &Database, commit: Commit) -> Result<(), EngineError> {
    let mut txn = database.begin_write().map_err(failed)?;
    Commit { durability: Durability::Immediate, ..commit }.set(&mut txn)?;
    txn.commit().map_err(failed)
}

#[cold]
fn poisoned() -> EngineError {
    EngineError::Fatal("redb: a client panicked".to_owned())
}

impl Engine for RedbEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        let database = self.database.read().map_err(|_poisoned| poisoned())?;
        Ok(Box::new(RedbSession::new(database, self.config.commit)))
    }

    fn identity(&self) -> Identity {
        crate::identity::identity()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        // redb has no way to read options back: these are the given ones, defaults included.
        let Commit { durability, is_two_phase, is_quick_repair } = self.config.commit;
        let mut options = Options::new();
        options.set("cache_size", self.config.cache_bytes.to_string());
        options.set("two_phase_commit", (is_two_phase || is_quick_repair).to_string());
        options.set("quick_repair", is_quick_repair.to_string());
        options.set("durability", format!("{durability:?}").to_lowercase());
        let has_syncs = self.config.syncs == Syncs::Passed;
        options.set("assay.backend_syncs", has_syncs.to_string());
        Ok(options)
    }

    /// Compacts only while no session is open: redb needs exclusive access.
    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        match (work, self.config.commit.durability) {
            (Maintenance::Flush, Durability::None) => {
                let database = self.database.read().map_err(|_poisoned| poisoned())?;
                commit_durably(&database, self.config.commit).map(|()| true)
            }
            (Maintenance::Flush, _) if self.config.syncs == Syncs::Dropped => {
                self.sync().map(|()| true)
            }
            (Maintenance::Flush | Maintenance::CompactLevel0 | Maintenance::Clean, _) => Ok(false),
            (Maintenance::CompactAll, _) => match self.database.try_write() {
                Ok(mut database) => database.compact().map(|_moved| true).map_err(failed),
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Poisoned(_)) => Err(poisoned()),
            },
        }
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let bytes = self
            .file
            .bytes()
            .map_err(|error| EngineError::Fatal(format!("redb: file length: {error}")))?;
        let readings = [
            (metric::ENGINE_DISK_BYTES, bytes),
            (metric::ENGINE_PAGE_WRITE_BYTES, self.file.written_bytes()),
            (metric::ENGINE_FSYNCS, self.file.synced()),
        ];
        let height = self.tree_height.load(Ordering::Relaxed);
        let mut state = EngineState {
            readings: readings.into(),
            own_counters: Readings::new(),
            levels: None,
            tree_height: (height > 0).then_some(height),
            is_idle: Some(true),
        };
        self.take_cache(&mut state);
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        let bytes = self.file.bytes().ok()?;
        if bytes > self.config.cache_bytes as u64 {
            return Some(format!(
                "file_bytes {bytes}\nredb computes statistics by reading the whole tree, which \
                 does not fit in its cache\n"
            ));
        }
        let database = self.database.try_read().ok()?;
        let txn = database.begin_read().ok()?;
        let stats = txn.open_table(TABLE).ok()?.stats().ok()?;
        self.tree_height.store(stats.tree_height(), Ordering::Relaxed);
        Some(format!(
            "file_bytes {bytes}\ntree_height {}\nleaf_pages {}\nbranch_pages {}\nstored_bytes {}\n\
             metadata_bytes {}\nfragmented_bytes {}\n",
            stats.tree_height(),
            stats.leaf_pages(),
            stats.branch_pages(),
            stats.stored_bytes(),
            stats.metadata_bytes(),
            stats.fragmented_bytes(),
        ))
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let Self { database, file, config, .. } = *self;
        let database = database.into_inner().map_err(|_poisoned| poisoned())?;
        commit_durably(&database, config.commit)?;
        drop(database);
        // redb writes during its drop, and class `os` has synced nothing so far.
        file.sync().map_err(|error| EngineError::Fatal(format!("redb: sync on close: {error}")))
    }
}
