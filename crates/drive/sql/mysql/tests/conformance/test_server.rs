//! Servers started by tests.

use std::path::{Path, PathBuf};

use driver_mysql::{KIND_MARIADB, KIND_MYSQL};
use engine::Driver;
use engine::conformance::scratch_dir;
use model::{Durability, Endpoint, Options, Settings};
use server::{Kind, READY_WITHIN, Running, ServerError, ServerPlacement, Start};
use tempfile::TempDir;

/// Builds of 300 MB and more, which no test fetches.
const LARGE: [&str; 2] = ["mysql@5.6.24", "mysql@5.7.22"];

/// A server, stopped when dropped.
pub(crate) struct Server {
    running: Running,
    /// Removed with it.
    dir: TempDir,
    kind: &'static dyn Kind,
}

/// A build of a server, in the cache.
pub(crate) struct Build {
    program: PathBuf,
    sha256: String,
    kind: &'static dyn Kind,
    /// Where clients on other machines reach its servers.
    address: Option<&'static str>,
}

impl Build {
    /// Returns the build, or prints why it is missing.
    pub(crate) fn get(name: &str) -> Option<Self> {
        Self::all(&[name]).pop()
    }

    /// Returns the builds that can be had; prints why others are missing.
    #[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
    pub(crate) fn all(names: &[&str]) -> Vec<Self> {
        let found: Vec<_> = names.iter().map(|name| Self::find(name)).collect();
        let part = if found.iter().any(Result::is_ok) { " in part" } else { "" };
        let print = |reason: &String| println!("skipped{part}: {reason}");
        found.into_iter().filter_map(|build| build.inspect_err(print).ok()).collect()
    }

    /// Returns the build; the large ones only from the cache.
    fn find(name: &str) -> Result<Self, String> {
        let home = std::env::home_dir().unwrap_or_default();
        let note = home.join(".cache/assay/engines").join(name.replace('@', "/"));
        if LARGE.contains(&name) && !note.join("artifact.json").is_file() {
            return Err(format!("{name} is not in the cache: assay engine get {name}"));
        }
        let kind = if name.starts_with("mariadb") { KIND_MARIADB } else { KIND_MYSQL };
        let found = supply::testing::build(name)?;
        Ok(Self { program: found.library, sha256: found.sha256, kind, address: None })
    }

    /// Returns the build of servers that clients on other machines reach at an address.
    pub(crate) fn reached_at(self, address: &'static str) -> Self {
        Self { address: Some(address), ..self }
    }

    /// Returns its driver.
    pub(crate) fn driver(&self) -> Box<dyn Driver> {
        if self.kind.engine() == "mariadb" {
            driver_mysql::mariadb()
        } else {
            driver_mysql::driver()
        }
    }

    /// Starts it with these options, its data in a directory of its own.
    ///
    /// Set-up templates are stored with the tests' programs: set-up takes MySQL seconds.
    pub(crate) fn start(&self, options: &[(&str, &str)]) -> Result<Server, ServerError> {
        let dir = tempfile::tempdir_in(scratch_dir()).expect("a directory can be made");
        self.start_in(dir, Durability::None, options)
    }

    /// Starts it on an existing directory.
    pub(crate) fn start_in(
        &self,
        dir: TempDir,
        durability: Durability,
        options: &[(&str, &str)],
    ) -> Result<Server, ServerError> {
        let settings = Settings { durability, ..Settings::default() };
        let options: Options = options.iter().copied().collect();
        let start = Start {
            kind: self.kind,
            program: &self.program,
            fingerprint: &self.sha256,
            dir: dir.path(),
            settings: &settings,
            options: &options,
            address: self.address,
            user: None,
            placement: ServerPlacement::default(),
            templates: Some(Path::new(env!("CARGO_TARGET_TMPDIR"))),
            ready_within: READY_WITHIN,
        };
        let running = Running::start(&start, &|| false)?;
        Ok(Server { running, dir, kind: self.kind })
    }
}

impl Server {
    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// Returns it and its directory.
    pub(crate) fn into_parts(self) -> (Running, TempDir) {
        (self.running, self.dir)
    }

    /// Returns its kind.
    pub(crate) fn kind(&self) -> &'static dyn Kind {
        self.kind
    }

    /// Kills it and restarts it on the same directory.
    pub(crate) fn crash(
        self,
        build: &Build,
        durability: Durability,
        options: &[(&str, &str)],
    ) -> Self {
        let Self { mut running, dir, .. } = self;
        running.kill();
        drop(running);
        build.start_in(dir, durability, options).expect("the server recovers")
    }

    /// Returns where it listens.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.running.endpoint.clone()
    }
}
