//! An open fjall database: state, maintenance and close.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::settings_check::{check_dir, refused};
use engine::{Engine, EngineError, Maintenance, Result, Session};
use fjall::{AbstractTree, Database, Keyspace, PersistMode};
use model::state::LevelShape;
use model::{Durability, EngineState, Identity, Options, Readings, metric};

use crate::config::Config;
use crate::describe::describe;
use crate::session::{FjallSession, failed};

/// Name of a keyspace that passes each write to the operating system.
///
/// fjall stores `manual_journal_persist` with the keyspace and does not return it, so the name
/// records it.
const AUTOMATIC: &str = "kv";
/// Name of a keyspace that leaves this to the driver.
const MANUAL: &str = "kv-manual";
/// Unit of `st_blocks`, whatever the file system's block size.
///
/// Source: [Linux stat(2)].
const STAT_BLOCK_BYTES: u64 = 512;
/// Poll interval while waiting for background work: fjall's own.
const IDLE_POLL: Duration = Duration::from_millis(10);
/// Polls before the timeout of one hour.
///
/// Our choice: longer than any backlog of an experiment.
const IDLE_POLLS_MAX: u32 = 360_000;

/// An open database.
pub(crate) struct FjallEngine {
    dir: PathBuf,
    /// Options of the database, which fjall does not return.
    database_options: Options,
    identity: Identity,
    keyspace: Keyspace,
    persist: Option<PersistMode>,
    /// Compactions completed at the last call of `state`.
    compactions_before: AtomicUsize,
    // Last: its threads end when it is dropped, after the handle above.
    database: Database,
}

impl FjallEngine {
    /// Opens the database in `dir`, creating it when absent.
    pub(crate) fn open(dir: &Path, config: Config, identity: Identity) -> Result<Self> {
        check_dir(dir)?;
        let requested = config.keyspace();
        let database = config.database.open().map_err(failed)?;
        let is_manual = !database.keyspace_exists(AUTOMATIC)
            && (database.keyspace_exists(MANUAL) || config.durability != Durability::Os);
        let name = if is_manual { MANUAL } else { AUTOMATIC };
        let requested = requested.manual_journal_persist(is_manual);
        let keyspace = database.keyspace(name, || requested.clone()).map_err(failed)?;
        let (requested, found) = (describe(&requested), describe(&keyspace.config));
        for name in &config.named {
            if requested.get(name) != found.get(name) {
                let found = found.get(name).unwrap_or("another value");
                return Err(refused(name, format!("the data was created with `{found}`")));
            }
        }
        let persist = match config.durability {
            Durability::None => None,
            Durability::Os => is_manual.then_some(PersistMode::Buffer),
            Durability::Sync => Some(PersistMode::SyncData),
        };
        let (dir, compactions_before) = (dir.to_owned(), AtomicUsize::new(0));
        let database_options = config.database_options;
        Ok(Self {
            dir,
            database_options,
            identity,
            keyspace,
            persist,
            compactions_before,
            database,
        })
    }

    /// Returns the disk space of the journal, whose files are preallocated.
    fn journal_bytes(&self) -> Option<u64> {
        let mut blocks = 0;
        for entry in fs::read_dir(&self.dir).ok()? {
            let entry = entry.ok()?;
            if entry.path().extension().is_some_and(|extension| extension == "jnl") {
                // A journal may be removed between the listing and this call.
                blocks += entry.metadata().map_or(0, |file| file.blocks());
            }
        }
        Some(blocks * STAT_BLOCK_BYTES)
    }

    fn levels(&self) -> Vec<LevelShape> {
        let version = self.keyspace.tree.current_version();
        (0..)
            .zip(version.iter_levels())
            .map(|(level, files)| LevelShape {
                level,
                files: files.iter().map(|run| run.len() as u64).sum(),
                bytes: files.size(),
            })
            .collect()
    }

    /// Adds the number, bytes and garbage bytes of blob files, if any.
    fn take_blobs(&self, levels: &[LevelShape], readings: &mut Readings) {
        if self.keyspace.config.kv_separation_opts.is_none() {
            return;
        }
        let tables: u64 = levels.iter().map(|level| level.bytes).sum();
        readings.extend([
            (metric::ENGINE_BLOB_FILES, self.keyspace.blob_file_count() as u64),
            // A flush between the two calls may make the difference too large, never negative.
            (metric::ENGINE_BLOB_BYTES, self.keyspace.disk_space().saturating_sub(tables)),
            (metric::ENGINE_BLOB_GARBAGE_BYTES, self.keyspace.fragmented_blob_bytes()),
        ]);
    }

    /// Returns the flushes and compactions that run or wait.
    fn jobs(&self) -> usize {
        self.database.outstanding_flushes() + self.database.active_compactions()
    }

    /// Waits for flushes and compactions, in the way fjall itself waits for a flush.
    fn wait_until_idle(&self) -> Result<()> {
        for _ in 0..IDLE_POLLS_MAX {
            std::thread::park_timeout(IDLE_POLL);
            if self.is_idle(self.jobs()) {
                return Ok(());
            }
        }
        Err(EngineError::Timeout("fjall: background work does not end".to_owned()))
    }

    /// Returns whether nothing runs or waits.
    ///
    /// A flush ends before the compactions it triggers begin, so idle requires that no compaction
    /// completed since the last call.
    fn is_idle(&self, jobs: usize) -> bool {
        let completed = self.database.compactions_completed();
        let before = self.compactions_before.swap(completed, Ordering::Relaxed);
        jobs == 0 && self.keyspace.sealed_memtable_count() == 0 && before == completed
    }
}

impl Engine for FjallEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let Self { database, keyspace, persist, .. } = self;
        Ok(Box::new(FjallSession { database, keyspace, persist: *persist }))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        let mut options = self.database_options.clone();
        options.set("cache_size", self.database.cache_capacity().to_string());
        options.overlay(&describe(&self.keyspace.config));
        let is_manual = **self.keyspace.name() == *MANUAL;
        options.set("manual_journal_persist", is_manual.to_string());
        let persist = self.persist.map_or("none".to_owned(), |mode| format!("{mode:?}"));
        options.set("assay.persist_after_write", persist);
        Ok(options)
    }

    /// Flushes in the background; compacts everything before it returns.
    fn maintain(&self, work: Maintenance) -> Result<bool> {
        match work {
            Maintenance::Flush => self.keyspace.rotate_memtable().map_err(failed),
            // fjall decides on its own, after each flush.
            Maintenance::CompactLevel0 | Maintenance::Clean => Ok(false),
            Maintenance::CompactAll => {
                self.keyspace.rotate_memtable().map_err(failed)?;
                // A compaction skips tables of a running flush or compaction.
                self.wait_until_idle()?;
                self.keyspace.major_compact().map(|()| true).map_err(failed)
            }
        }
    }

    fn state(&self) -> Result<EngineState> {
        let jobs = self.jobs();
        let levels = self.levels();
        let mut readings = Readings::from([
            (metric::ENGINE_DISK_BYTES, self.keyspace.disk_space()),
            (metric::ENGINE_MEMTABLE_BYTES, self.database.write_buffer_size()),
            (metric::ENGINE_CACHE_BYTES, self.database.cache_size()),
            (metric::ENGINE_BACKGROUND_JOBS, jobs as u64),
            (metric::ENGINE_L0_FILES, levels.first().map_or(0, |level| level.files)),
        ]);
        readings.set(metric::LOG_BYTES, self.journal_bytes());
        self.take_blobs(&levels, &mut readings);
        let micros = u64::try_from(self.database.time_compacting().as_micros()).unwrap_or(u64::MAX);
        let own_counters = Readings::from([
            ("compactions_completed", self.database.compactions_completed() as u64),
            ("time_compacting_us", micros),
            ("active_compactions", self.database.active_compactions() as u64),
            ("outstanding_flushes", self.database.outstanding_flushes() as u64),
            ("sealed_memtable_count", self.keyspace.sealed_memtable_count() as u64),
            ("table_count", self.keyspace.table_count() as u64),
            ("journal_count", self.database.journal_count() as u64),
            ("cache_capacity", self.database.cache_capacity()),
        ]);
        let is_idle = Some(self.is_idle(jobs));
        let levels = Some(levels);
        Ok(EngineState { readings, own_counters, levels, is_idle, ..EngineState::default() })
    }

    fn statistics_text(&self) -> Option<String> {
        let (files, filters) = (self.keyspace.blob_file_count(), self.keyspace.tree.filter_size());
        let levels = self.levels();
        Some(format!("blob_file_count {files}\nfilter_bytes {filters}\nlevels {levels:#?}\n"))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.database.persist(PersistMode::SyncAll).map_err(failed)
    }
}
