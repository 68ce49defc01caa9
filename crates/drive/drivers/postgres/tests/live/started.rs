//! A server that a file's tests share.

use std::path::{Path, PathBuf};

use driver_postgres::{KIND, PostgresDriver};
use engine::{Asked, Driver, Engine, EngineError, OpenSpec};
use model::{DataShape, Durability, Endpoint, Options, Settings};
use server::{Quarters, READY_WITHIN, Running, STOP_WITHIN, Start};
use tempfile::TempDir;

/// A running server and its directory.
pub(crate) struct Started {
    running: Running,
    dir: TempDir,
}

impl Started {
    /// Starts `program` on a fresh directory.
    pub(crate) fn new(program: &Path) -> Self {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let running = start(program, dir.path(), &Options::new()).expect("the server starts");
        Self { running, dir }
    }

    /// Returns how to log in to `database` as a server's superuser, as to a server of our own.
    pub(crate) fn endpoint(&self, database: &str) -> Endpoint {
        Endpoint { database: database.to_owned(), ..self.running.endpoint().clone() }
    }

    /// Returns the server's data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.running.site().data.clone()
    }

    /// Ends every process of it, and starts it again on its data and its socket.
    pub(crate) fn restart(&mut self, program: &Path) {
        self.running.kill();
        self.running = start(program, self.dir.path(), &Options::new()).expect("the server starts");
    }

    /// Stops it.
    pub(crate) fn stop(mut self) {
        self.running.stop(STOP_WITHIN).expect("the server stops");
    }
}

/// Starts a server on what `dir` holds.
pub(crate) fn start(program: &Path, dir: &Path, options: &Options) -> Result<Running, EngineError> {
    let start = Start {
        kind: &KIND,
        program,
        fingerprint: "",
        dir,
        settings: &settings(),
        options,
        user: None,
        quarters: Quarters::default(),
        templates: None,
        ready_within: READY_WITHIN,
    };
    Ok(Running::start(&start, &|| false)?)
}

/// Returns settings that make tests quick.
pub(crate) fn settings() -> Settings {
    Settings { durability: Durability::None, ..Settings::default() }
}

/// Returns what opens `dir` on the server at `endpoint`.
pub(crate) fn spec(dir: &Path, endpoint: Endpoint, application: Option<Asked>) -> OpenSpec {
    let data = DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 };
    OpenSpec {
        endpoint: Some(endpoint),
        application,
        ..OpenSpec::embedded(dir.to_owned(), settings(), data)
    }
}

/// Opens `spec`.
pub(crate) fn open(spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
    PostgresDriver.open(spec)
}
