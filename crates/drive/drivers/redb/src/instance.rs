//! An open redb file: state, maintenance and close.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, RwLock, TryLockError};

use engine::{Engine, EngineError, Maintenance, Result, Session};
use model::{Durability, EngineState, Identity, Options, metric};
use redb::{Builder, Database, ReadableDatabase, ReadableTableMetadata, StorageBackend};

use crate::backend::{Backend, CountedFile};
use crate::config::{Config, QUICK_REPAIR, TWO_PHASE};
use crate::session::{RedbSession, TABLE, begin_write, failed};

/// The database file's name in the data directory.
const NAME: &str = "data.redb";

/// An open database file.
pub(crate) struct RedbEngine {
    /// Read-locked by each session for its lifetime, write-locked by a compaction.
    database: RwLock<Database>,
    file: Arc<CountedFile>,
    config: Config,
    identity: Identity,
    /// Height at the last statistics; 0 before the first.
    tree_height: AtomicU32,
}

impl RedbEngine {
    /// Opens the database in `dir`, creating it when absent.
    pub(crate) fn open(dir: &Path, config: Config, identity: Identity) -> Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join(NAME));
        let file = CountedFile::new(io(NAME, file)?, config.drops_syncs()).map_err(failed)?;
        let database = Builder::new()
            .set_cache_size(config.cache_bytes)
            .create_with_backend(Backend(Arc::clone(&file)))
            .map_err(failed)?;
        let txn = database.begin_write().map_err(failed)?;
        txn.open_table(TABLE).map_err(failed)?;
        txn.commit().map_err(failed)?;
        let (database, tree_height) = (RwLock::new(database), AtomicU32::new(0));
        Ok(Self { database, file, config, identity, tree_height })
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
}

/// Makes all earlier commits durable.
fn commit_durably(database: &Database, config: &Config) -> Result<()> {
    begin_write(database, config, redb::Durability::Immediate)?.commit().map_err(failed)
}

/// Converts the error of a call that concerns the file.
fn io<T>(what: &str, done: std::io::Result<T>) -> Result<T> {
    done.map_err(|error| EngineError::Fatal(format!("redb: {what}: {error}")))
}

#[cold]
fn poisoned() -> EngineError {
    EngineError::Fatal("redb: a client panicked".to_owned())
}

impl Engine for RedbEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let database = self.database.read().map_err(|_poisoned| poisoned())?;
        Ok(Box::new(RedbSession::new(database, self.config)))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        // redb has no way to read options back: these are the given ones, defaults included.
        let Config { cache_bytes, is_two_phase, is_quick_repair, .. } = self.config;
        let durability = format!("{:?}", self.config.durability()).to_lowercase();
        let options = [
            ("cache_size", cache_bytes.to_string()),
            (TWO_PHASE, (is_two_phase || is_quick_repair).to_string()),
            (QUICK_REPAIR, is_quick_repair.to_string()),
            ("durability", durability),
            ("assay.backend_syncs", (!self.config.drops_syncs()).to_string()),
        ];
        Ok(options.into_iter().collect())
    }

    /// Compacts only while no session is open: redb needs exclusive access.
    fn maintain(&self, work: Maintenance) -> Result<bool> {
        match (work, self.config.class) {
            (Maintenance::Flush, Durability::None) => {
                let database = self.database.read().map_err(|_poisoned| poisoned())?;
                commit_durably(&database, &self.config).map(|()| true)
            }
            (Maintenance::Flush, Durability::Os) => io("sync", self.file.sync()).map(|()| true),
            (Maintenance::Flush | Maintenance::CompactLevel0 | Maintenance::Clean, _) => Ok(false),
            (Maintenance::CompactAll, _) => match self.database.try_write() {
                Ok(mut database) => database.compact().map(|_moved| true).map_err(failed),
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Poisoned(_)) => Err(poisoned()),
            },
        }
    }

    fn state(&self) -> Result<EngineState> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let readings = [
            (metric::ENGINE_DISK_BYTES, io("file length", self.file.file.len())?),
            (metric::ENGINE_PAGE_WRITE_BYTES, count(&self.file.written_bytes)),
            (metric::ENGINE_FSYNCS, count(&self.file.synced)),
        ];
        let height = self.tree_height.load(Ordering::Relaxed);
        let mut state = EngineState {
            readings: readings.into(),
            tree_height: (height > 0).then_some(height),
            is_idle: Some(true),
            ..EngineState::default()
        };
        self.take_cache(&mut state);
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        let bytes = self.file.file.len().ok()?;
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
        Some(format!("file_bytes {bytes}\n{stats:#?}\n"))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { database, file, config, .. } = *self;
        let database = database.into_inner().map_err(|_poisoned| poisoned())?;
        commit_durably(&database, &config)?;
        drop(database);
        // redb writes during its drop, and class `os` has synced nothing so far.
        io("sync on close", file.sync())
    }
}
