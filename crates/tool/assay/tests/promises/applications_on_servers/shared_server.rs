//! Servers that the tests of applications share.
//!
//! A server starts for the first test that uses it and ends after the last one: starts took most of
//! the CPU time of these tests. They are one module, so that they follow each other.

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use engine::conformance::scratch_dir;
use model::{Endpoint, Options};
use server::Kind;
use server::testing::started;

/// The servers on which applications are tried.
pub(super) const SERVERS: [&str; 3] = ["postgres@15.10", "mysql@8.0.31", "mariadb@10.11"];
/// Each of them while a test uses it.
static RUNNING: [Mutex<Weak<SharedServer>>; SERVERS.len()] =
    [const { Mutex::new(Weak::new()) }; SERVERS.len()];

/// Postgres searches for deadlocks after a second, which transactions of tests would wait for.
const SOON: (&str, &str) = ("deadlock_timeout", "10ms");

/// A server with one database.
pub(super) struct SharedServer {
    /// The lines of a variant that name it.
    pub(super) variant: String,
    turn: Mutex<()>,
    /// Keeps the server running until the sender is dropped: a server ends with its thread.
    keeper: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl SharedServer {
    /// Returns one of [`SERVERS`], started if no other test uses it; prints why it is missing.
    #[expect(clippy::print_stdout, reason = "a skipped test prints why")]
    pub(super) fn of(build: &'static str) -> Option<Arc<Self>> {
        let program = match supply::testing::build(build) {
            Ok(artifact) => artifact.library,
            Err(reason) => {
                println!("skipped: {reason}");
                return None;
            }
        };
        let at = SERVERS.iter().position(|one| *one == build).expect("one of the list");
        let mut running = RUNNING[at].lock().unwrap_or_else(PoisonError::into_inner);
        Some(running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::start(build, program));
            *running = Arc::downgrade(&started);
            started
        }))
    }

    fn start(build: &'static str, program: PathBuf) -> Self {
        let engine = build.split('@').next().expect("a name");
        let (kind, option): (&'static dyn Kind, _) = match engine {
            "postgres" => (&driver_postgres::KIND, Some(SOON)),
            "mariadb" => (driver_mysql::KIND_MARIADB, None),
            _ => (driver_mysql::KIND_MYSQL, None),
        };
        let (is_ready, ready) = sync_channel(1);
        let (keep, is_over) = sync_channel::<()>(1);
        let keeper = thread::spawn(move || {
            let place = tempfile::tempdir_in(scratch_dir()).expect("a directory");
            let options: Options = option.into_iter().collect();
            let server = started(kind, &program, place.path(), &options);
            is_ready.send(server.endpoint.clone()).expect("a test waits for it");
            is_over.recv().expect_err("the sender is dropped after the last test");
        });
        let endpoint = ready.recv().expect("the server starts");
        let variant = variant_at(engine, &endpoint);
        Self { variant, turn: Mutex::default(), keeper: Some((keep, keeper)) }
    }

    /// Waits until no other test uses the database: it has one run at a time.
    pub(super) fn take_turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharedServer {
    fn drop(&mut self) {
        let Some((keep, keeper)) = self.keeper.take() else { return };
        drop(keep);
        // A panic of it was printed.
        drop(keeper.join());
    }
}

/// Returns the lines of a variant on a running server.
pub(crate) fn variant_at(engine: &str, endpoint: &Endpoint) -> String {
    let Endpoint { address, user, database, password, .. } = endpoint;
    let password = &password.as_ref().expect("it requires one").0;
    let scheme = if engine == "postgres" { "postgres" } else { "mysql" };
    format!(
        "engine = \"{engine}\"\n\
         dsn = \"{scheme}://{user}:{password}@/{database}?socket={address}\""
    )
}
