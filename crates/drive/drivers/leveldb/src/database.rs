//! An open LevelDB: its state, its upkeep and its end.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{Engine, EngineError, Maintenance, OpenSpec, Session};
use model::metric::Readings;
use model::{Durability, EngineState, Identity, Options};

use crate::events::Events;
use crate::ffi_db::Db;
use crate::ffi_session::LevelSession;
use crate::logged::Logged;
use crate::request::Request;
use crate::statistics::Statistics;

/// An open database.
pub(crate) struct LevelEngine {
    db: Db,
    dir: PathBuf,
    durability: Durability,
    request: Request,
    identity: Identity,
    events: Mutex<Events>,
    sessions: Mutex<Vec<Arc<Logged>>>,
}

impl LevelEngine {
    /// Takes over a database that was just opened for `request`.
    ///
    /// # Errors
    /// When its LOG cannot be read.
    pub(crate) fn new(
        db: Db,
        spec: &OpenSpec,
        request: Request,
        identity: Identity,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            db,
            dir: spec.dir.clone(),
            durability: spec.settings.durability,
            request,
            identity,
            events: Mutex::new(Events::open(&spec.dir).map_err(unreadable)?),
            sessions: Mutex::new(Vec::new()),
        })
    }

    /// Returns one of the engine's properties; empty when the library has none of that name.
    fn property(&self, name: &str) -> String {
        let name = CString::new(format!("leveldb.{name}")).unwrap_or_default();
        self.db.property(&name).unwrap_or_default()
    }

    fn logged_bytes(&self) -> u64 {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().map(|logged| logged.bytes()).sum()
    }
}

impl Engine for LevelEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        let logged = Arc::new(Logged::default());
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(Arc::clone(&logged));
        Ok(Box::new(LevelSession::new(&self.db, self.durability, &self.request, logged)))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        Ok(self.request.effective())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        match work {
            Maintenance::Flush => self.db.flush(),
            Maintenance::CompactAll => self.db.compact_all(),
            // The C API compacts ranges of keys, through all levels.
            Maintenance::CompactLevel0 | Maintenance::Clean => return Ok(false),
        }
        Ok(true)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let statistics = Statistics::parse(&self.property("stats"));
        let look = {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.look().map_err(unreadable)?
        };
        let totals = look.totals;
        let mut readings = named(&[
            ("engine_flush_write_bytes", totals.flush_write),
            ("engine_compaction_write_bytes", totals.compaction_write),
            ("engine_compaction_read_bytes", statistics.read_bytes),
            ("engine_wal_write_bytes", self.logged_bytes()),
            ("engine_disk_bytes", self.db.table_bytes()),
            ("engine_background_jobs", look.running),
        ]);
        if let Ok(files) = self.property("num-files-at-level0").parse() {
            readings.extend(named(&[("engine_l0_files", files)]));
        }
        let own_counters = named(&[
            ("flushes", totals.flushes),
            ("compactions", totals.compactions),
            ("moves", totals.moves),
            ("compaction_seconds", statistics.compaction_seconds),
            ("waits.memtable_full", totals.memtable_waits),
            ("waits.level0_files", totals.level0_waits),
        ]);
        Ok(EngineState {
            readings,
            own_counters,
            levels: Some(statistics.levels),
            tree_height: None,
            is_idle: Some(look.is_quiet),
        })
    }

    fn statistics_text(&self) -> Option<String> {
        let memory = self.property("approximate-memory-usage");
        Some(format!("{}approximate-memory-usage {memory}\n", self.property("stats")))
    }

    fn own_files(&self) -> Vec<PathBuf> {
        vec![self.dir.join("LOG")]
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        // What is in the memtable is in the log, which the library closes when it is dropped.
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes and counts stay far below 2^53")]
fn named(values: &[(&str, u64)]) -> Readings {
    values.iter().map(|&(name, value)| (name.to_owned(), value as f64)).collect()
}

/// Returns the error for the engine's LOG.
fn unreadable(error: std::io::Error) -> EngineError {
    EngineError::Fatal(format!("LevelDB's LOG cannot be read: {error}"))
}
