//! A server for the tests of one file.

use std::path::Path;
use std::time::Duration;

use driver_mysql::{KIND_MARIADB, KIND_MYSQL};
use model::{DataShape, Durability, Endpoint, Options, Settings};
use server::{Kind, Quarters, Running, Start};
use tempfile::TempDir;

/// A server, stopped when dropped.
pub(crate) struct Server {
    running: Running,
    /// Removed with it.
    pub(crate) dir: TempDir,
    pub(crate) kind: &'static dyn Kind,
}

/// Starts a server of that build with these options, or prints why not and returns nothing.
///
/// What a set-up yields is kept with the tests' programs: it takes MySQL some seconds.
pub(crate) fn start(build: &str, options: &[(&str, &str)]) -> Option<Server> {
    let artifact = match supply::testing::server(build) {
        Ok(artifact) => artifact,
        Err(reason) => {
            println!("skipped: {reason}");
            return None;
        }
    };
    let kind = if build.starts_with("mariadb") { KIND_MARIADB } else { KIND_MYSQL };
    let dir = tempfile::tempdir().expect("a directory can be made");
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let options: Options = options.iter().copied().collect();
    let start = Start {
        kind,
        program: &artifact.library,
        fingerprint: &artifact.sha256,
        dir: dir.path(),
        settings: &settings,
        options: &options,
        user: None,
        quarters: Quarters::default(),
        templates: Some(Path::new(env!("CARGO_TARGET_TMPDIR"))),
        ready_within: Duration::from_secs(60),
    };
    let running = Running::start(&start, &|| false).expect("the server starts");
    Some(Server { running, dir, kind })
}

impl Server {
    /// Returns where it listens.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.running.endpoint().clone()
    }

    /// Returns the running server.
    pub(crate) fn running(&mut self) -> &mut Running {
        &mut self.running
    }
}

/// Returns the shape of data of tests that have none to speak of.
pub(crate) fn data() -> DataShape {
    DataShape { rows: 100, key_bytes: 20, value_bytes: 1_000, compressible_to: 0.5 }
}
