//! A server shared by the tests of a file.

use std::path::Path;

use driver_postgres::{DRIVER, KIND};
use engine::conformance::scratch_dir;
use engine::{ApplicationSetup, Driver, Engine, EngineError, OpenSpec};
use model::{DataShape, Durability, Endpoint, Options, Settings};
use server::{READY_WITHIN, Running, STOP_WITHIN, ServerPlacement, Start};
use tempfile::TempDir;

/// A running server and its directory; killed when dropped.
pub(crate) struct TestServer {
    pub(crate) running: Running,
    _dir: TempDir,
}

impl TestServer {
    /// Starts `program` on a fresh directory.
    pub(crate) fn new(program: &Path, options: &[(&str, &str)]) -> Self {
        Self::new_in(&scratch_dir(), program, options)
    }

    /// Starts `program` on a fresh directory below `parent`.
    pub(crate) fn new_in(parent: &Path, program: &Path, options: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir_in(parent).expect("a directory can be made");
        let options: Options = options.iter().copied().collect();
        let running = started(program, dir.path(), &settings(), &options);
        Self { running, _dir: dir }
    }

    /// Returns the superuser's endpoint.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.running.endpoint.clone()
    }

    /// Stops it.
    pub(crate) fn stop(mut self) {
        self.running.stop(STOP_WITHIN).expect("the server stops");
    }
}

/// Starts `program` on a directory; a new one is a copy of the first that was set up.
pub(crate) fn started(
    program: &Path,
    dir: &Path,
    settings: &Settings,
    options: &Options,
) -> Running {
    let start = start(program, dir, settings, options);
    Running::start(&start, &|| false).expect("the server starts")
}

/// Returns what starts `program` on a directory.
pub(crate) fn start<'a>(
    program: &'a Path,
    dir: &'a Path,
    settings: &'a Settings,
    options: &'a Options,
) -> Start<'a> {
    Start {
        kind: &KIND,
        program,
        fingerprint: "",
        dir,
        settings,
        options,
        address: None,
        user: None,
        placement: ServerPlacement::default(),
        templates: Some(Path::new(env!("CARGO_TARGET_TMPDIR"))),
        ready_within: READY_WITHIN,
    }
}

/// Returns settings for fast tests.
pub(crate) fn settings() -> Settings {
    Settings { durability: Durability::None, ..Settings::default() }
}

/// Returns the spec of `dir` on the server at `endpoint`.
pub(crate) fn spec(
    dir: &Path,
    endpoint: Endpoint,
    application: Option<ApplicationSetup>,
) -> OpenSpec {
    let data = DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 };
    OpenSpec {
        endpoint: Some(endpoint),
        application,
        ..OpenSpec::embedded(dir.to_owned(), settings(), data)
    }
}

/// Opens `spec`.
pub(crate) fn open(spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
    DRIVER.open(spec)
}
