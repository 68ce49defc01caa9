//! An open LevelDB: state, maintenance and close.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dynlib::written::Written;
use engine::{Engine, EngineError, Maintenance, OpenSpec, Result, Session};
use model::{Durability, EngineState, Identity, Options, Readings, metric};

use crate::config::Config;
use crate::events::Events;
use crate::ffi_db::Db;
use crate::ffi_session::LevelSession;
use crate::statistics::Statistics;

/// An open database.
pub(crate) struct LevelEngine {
    db: Db,
    dir: PathBuf,
    durability: Durability,
    config: Config,
    identity: Identity,
    events: Mutex<Events>,
    sessions: Mutex<Vec<Arc<Written>>>,
}

impl LevelEngine {
    /// Wraps a database just opened with `config`.
    pub(crate) fn new(db: Db, spec: &OpenSpec, config: Config, identity: Identity) -> Result<Self> {
        Ok(Self {
            db,
            dir: spec.dir.clone(),
            durability: spec.settings.durability,
            config,
            identity,
            events: Mutex::new(Events::open(&spec.dir).map_err(unreadable)?),
            sessions: Mutex::new(Vec::new()),
        })
    }
}

impl Engine for LevelEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let written = Arc::new(Written::default());
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(Arc::clone(&written));
        Ok(Box::new(LevelSession::new(&self.db, self.durability, &self.config, written)))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        Ok(self.config.0.clone())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        match work {
            Maintenance::Flush => self.db.flush(),
            Maintenance::CompactAll => self.db.compact_all(),
            // The C API compacts ranges of keys, through all levels.
            Maintenance::CompactLevel0 | Maintenance::Clean => return Ok(false),
        }
        Ok(true)
    }

    fn state(&self) -> Result<EngineState> {
        let statistics = Statistics::parse(&self.db.property("stats"));
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = events.sample().map_err(unreadable)?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let logged: u64 = sessions.iter().map(|written| written.logged()).sum();
        let files = self.db.property("num-files-at-level0").parse::<u64>();
        let readings = Readings::from([
            (metric::ENGINE_FLUSH_WRITE_BYTES, Some(sample.flush_write)),
            (metric::ENGINE_COMPACTION_WRITE_BYTES, Some(sample.compaction_write)),
            (metric::ENGINE_COMPACTION_READ_BYTES, Some(statistics.read_bytes)),
            (metric::ENGINE_WAL_WRITE_BYTES, Some(logged)),
            (metric::ENGINE_DISK_BYTES, Some(self.db.table_bytes())),
            (metric::ENGINE_BACKGROUND_JOBS, Some(sample.running)),
            (metric::ENGINE_L0_FILES, files.ok()),
        ]);
        let seconds = [("compaction_seconds", statistics.compaction_seconds)];
        let counts = sample.counts.iter().map(|(name, count)| (*name, *count));
        Ok(EngineState {
            readings,
            own_counters: counts.chain(seconds).collect(),
            levels: Some(statistics.levels),
            is_idle: Some(sample.is_quiet),
            ..EngineState::default()
        })
    }

    fn statistics_text(&self) -> Option<String> {
        let memory = self.db.property("approximate-memory-usage");
        Some(format!("{}approximate-memory-usage {memory}\n", self.db.property("stats")))
    }

    fn own_files(&self) -> Vec<PathBuf> {
        vec![self.dir.join("LOG")]
    }

    fn close(self: Box<Self>) -> Result<()> {
        // The log holds the memtable's rows; the library closes it on drop.
        Ok(())
    }
}

/// Returns the error for the engine's LOG.
fn unreadable(error: std::io::Error) -> EngineError {
    EngineError::Fatal(format!("LevelDB's LOG in the data directory cannot be read: {error}"))
}
