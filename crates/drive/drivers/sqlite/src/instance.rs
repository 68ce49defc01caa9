//! An open SQLite file: state, maintenance and close.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use engine::{Engine, EngineError, Maintenance, Result, Session};
use model::{EngineState, Identity, Options, Readings, metric};

use crate::config::{Config, PRAGMAS, TABLE};
use crate::connection::{self, pragma};
use crate::ffi::Api;
use crate::ffi_connection::Connection;
use crate::session::SqliteSession;
use crate::statistics::Statistics;

/// The database file's name in the data directory.
const NAME: &str = "data.sqlite";
/// Bytes of a frame header in the WAL, one per page written.
///
/// Source: [SQLite WAL format], section 4.1.
const WAL_FRAME_HEADER_BYTES: u64 = 24;

/// An open database file.
pub(crate) struct SqliteEngine {
    api: Api,
    identity: Identity,
    path: PathBuf,
    config: Config,
    table: &'static str,
    page_bytes: u64,
    /// Connection for state queries; never waits for a lock.
    probe: Mutex<Connection>,
    statistics: Statistics,
}

impl SqliteEngine {
    /// Opens the database in `dir`, creating it when absent.
    pub(crate) fn open(api: Api, dir: &Path, config: Config, identity: Identity) -> Result<Self> {
        let path = dir.join(NAME);
        let probe = connection::open(api, &path, &config)?;
        let table = connection::ensure_table(&probe, config.table.as_deref())?;
        let page_bytes = pragma(&probe, "page_size")?
            .and_then(|bytes| bytes.parse().ok())
            .ok_or_else(|| EngineError::Fatal("sqlite: reports no page_size".to_owned()))?;
        connection::run(&probe, "PRAGMA busy_timeout = 0")?;
        let (probe, statistics) = (Mutex::new(probe), Statistics::default());
        Ok(Self { api, identity, path, config, table, page_bytes, probe, statistics })
    }

    /// Opens a connection like the clients'.
    fn connect(&self) -> Result<Connection> {
        connection::open(self.api, &self.path, &self.config)
    }

    fn wal_bytes(&self) -> u64 {
        let mut path = self.path.clone();
        path.as_mut_os_string().push("-wal");
        file_bytes(&path).unwrap_or_default()
    }

    /// Checkpoints and truncates the WAL, when there is one.
    fn checkpoint(&self, connection: &Connection) -> Result<bool> {
        if !self.config.has_wal() {
            return Ok(false);
        }
        let is_busy = connection::first(connection, "PRAGMA wal_checkpoint(TRUNCATE)")?;
        if is_busy.as_deref() == Some("0") {
            return Ok(true);
        }
        let text = "sqlite: clients used the WAL for longer than `busy_timeout`";
        Err(EngineError::Timeout(text.to_owned()))
    }
}

impl Engine for SqliteEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(SqliteSession::new(self.connect()?, &self.statistics)?))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        // A connection like the clients': some pragmas belong to the connection.
        let connection = self.connect()?;
        let mut options = Options::new();
        for name in PRAGMAS {
            if let Some(value) = pragma(&connection, name)? {
                options.set(name, value);
            }
        }
        options.set(TABLE, self.table);
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        // A separate connection, so that `state` is not blocked.
        match work {
            Maintenance::Flush => self.checkpoint(&self.connect()?),
            Maintenance::CompactLevel0 | Maintenance::Clean => Ok(false),
            Maintenance::CompactAll => {
                let connection = self.connect()?;
                connection::run(&connection, "VACUUM")?;
                self.checkpoint(&connection)?;
                Ok(true)
            }
        }
    }

    fn state(&self) -> Result<EngineState> {
        let [hits, misses, pages_written, cache_bytes] = self.statistics.sum();
        let mut readings = Readings::from([
            (metric::ENGINE_CACHE_HITS, hits),
            (metric::ENGINE_CACHE_MISSES, misses),
            (metric::ENGINE_CACHE_BYTES, cache_bytes),
        ]);
        if self.config.has_wal() {
            let frame_bytes = self.page_bytes + WAL_FRAME_HEADER_BYTES;
            readings.set(metric::ENGINE_WAL_WRITE_BYTES, pages_written * frame_bytes);
            readings.set(metric::LOG_BYTES, self.wal_bytes());
        } else {
            readings.set(metric::ENGINE_PAGE_WRITE_BYTES, pages_written * self.page_bytes);
        }
        readings.set(metric::ENGINE_DISK_BYTES, file_bytes(&self.path));
        let probe = self.probe.lock().map_err(|_poisoned| poisoned())?;
        Ok(EngineState {
            readings,
            tree_height: connection::tree_height(&probe),
            is_idle: Some(true),
            ..EngineState::default()
        })
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { path, probe, .. } = *self;
        // The last connection checkpoints the WAL and removes it.
        drop(probe.into_inner().map_err(|_poisoned| poisoned())?);
        // After the close: closing any handle to the file drops this process's locks on it.
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(|error| EngineError::Fatal(format!("sqlite: sync on close: {error}")))
    }
}

fn poisoned() -> EngineError {
    EngineError::Fatal("sqlite: a thread panicked while it read the state".to_owned())
}

/// Returns the length of the file at `path` without opening it; `None` when it is absent.
fn file_bytes(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|file| file.len())
}
