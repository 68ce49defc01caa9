//! The server of a comparison.

use model::{BuildRef, Bytes, Durability, Endpoint, Options, Settings};
use server::{READY_WITHIN, Running, STOP_WITHIN, ServerPlacement, Start};
use supply::{Artifact, Engines, MARIADB, MYSQL, POSTGRES, Store, default_cache_dir};
use tempfile::TempDir;

use super::comparison::{Build, Comparison};
use super::cpu::Tree;

/// Bytes of the server's cache: it holds the table ten times over.
const CACHE_BYTES: u64 = 256 << 20;

/// A running server; killed when dropped, its data removed.
pub(super) struct Host {
    name: String,
    tree: Tree,
    running: Running,
    _dir: TempDir,
}

impl Host {
    /// Starts the first available server of a comparison, on the caller's CPUs.
    ///
    /// The inner error names why there is none.
    ///
    /// # Errors
    /// When the server does not start.
    pub(super) fn start(comparison: &Comparison) -> Result<Result<Self, String>, String> {
        let (build, artifact) = match obtain(comparison.builds) {
            Ok(found) => found,
            Err(lack) => return Ok(Err(lack)),
        };
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let settings = settings();
        let mut options = Options::new();
        for (name, value) in comparison.options {
            options.set(*name, *value);
        }
        let start = Start {
            kind: (build.kind)(),
            program: &artifact.library,
            fingerprint: &artifact.sha256,
            dir: dir.path(),
            settings: &settings,
            options: &options,
            user: None,
            // It inherits the one CPU of the process that starts it.
            placement: ServerPlacement::default(),
            templates: None,
            ready_within: READY_WITHIN,
        };
        let running = Running::start(&start, &|| false).map_err(|error| error.to_string())?;
        let tree = Tree::of(running.pid());
        Ok(Ok(Self { name: artifact.build.to_string(), tree, running, _dir: dir }))
    }

    /// Returns the server's name and version: `postgres@15.10`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it listens.
    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.running.endpoint
    }

    /// Returns its CPU time, us.
    ///
    /// # Errors
    /// When it died.
    pub(super) fn cpu_us(&self) -> Result<f64, String> {
        self.tree.cpu_us()
    }

    /// Stops it.
    ///
    /// # Errors
    /// When it died before, or had to be killed.
    pub(super) fn stop(mut self) -> Result<(), String> {
        self.running.stop(STOP_WITHIN).map_err(|error| error.to_string())
    }
}

/// Returns the settings of the server and of our driver, whose sessions could request another
/// durability.
pub(super) fn settings() -> Settings {
    Settings {
        durability: Durability::None,
        cache_bytes: Some(Bytes(CACHE_BYTES)),
        ..Settings::default()
    }
}

/// Returns the first build that is cached or can be fetched.
fn obtain(builds: &[Build]) -> Result<(Build, Artifact), String> {
    let (home, xdg) = (variable("HOME"), variable("XDG_CACHE_HOME"));
    let dir = default_cache_dir(home.as_deref(), xdg.as_deref());
    let dir = dir.ok_or("no directory for a cache: HOME is not set")?;
    let engines = Engines { servers: vec![POSTGRES, MYSQL, MARIADB], ..Engines::default() };
    let store = Store::open(dir).map_err(|error| error.to_string())?.with_engines(engines);
    let mut lacks = Vec::new();
    for build in builds {
        let named: BuildRef = build.name.parse()?;
        match store.get(&named, &mut |_| {}) {
            Ok(artifact) => return Ok((*build, artifact)),
            Err(error) => lacks.push(format!("{}: {error}", build.name)),
        }
    }
    Err(lacks.join("; "))
}

#[expect(clippy::disallowed_methods, reason = "the program's only read of the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
