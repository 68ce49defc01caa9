//! Poolers in front of a server: refused where connections share sessions, else a fact.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use engine::conformance::wait_until;
use engine::{Engine, EngineError};
use model::{Address, Endpoint};
use tempfile::TempDir;

use crate::calls::{foreign, just_call, statements};
use crate::newest::newest;
use crate::pooler::{Pool, Pooler};
use crate::test_server::{TestServer, open, spec};

/// Runs `body` with an engine opened at an endpoint, or its error.
fn opened<T>(endpoint: Endpoint, body: impl FnOnce(Result<&dyn Engine, EngineError>) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&spec(dir.path(), endpoint, Some(statements(&["SELECT 1"]))));
    match opened {
        Err(error) => body(Err(error)),
        Ok(engine) => {
            let done = body(Ok(&*engine));
            engine.close().unwrap();
            done
        }
    }
}

/// Checks that a run is refused by the pooler's name, and that no lock of it stays.
fn is_refused(pooler: &Endpoint, direct: &Endpoint, reason: &str) {
    let error = opened(pooler.clone(), |it| it.err().expect("it is refused").to_string());
    let start = format!("postgres: a pooler answers at {}", pooler.address);
    assert!(error.starts_with(&start) && error.contains(reason), "{error}");
    assert!(error.contains("name the server itself") || error.contains("Name the server itself"));
    opened(direct.clone(), |it| assert!(it.is_ok(), "{:?}", it.err()));
}

/// Checks that a run behind a pooler has the lock, and that the record names the pooler.
fn is_a_fact(pooler: &Endpoint, direct: &Endpoint) {
    opened(pooler.clone(), |engine| {
        let engine = engine.unwrap();
        assert!(engine.identity().facts["pooler"].contains("response times include the pooler"));
        let notes = engine.durability().unwrap().notes;
        assert!(notes.iter().any(|note| note.starts_with("a pooler answers")), "{notes:?}");
        let mut sessions: Vec<_> = (0..3).map(|_| engine.session().unwrap()).collect();
        for session in &mut sessions {
            just_call(&mut **session, 0).unwrap();
        }
        for second in [direct, pooler] {
            let error = opened(second.clone(), |it| it.err().expect("it is locked").to_string());
            assert!(error.contains("another run of Assay uses database `postgres`"), "{error}");
        }
    });
    for next in [direct, pooler] {
        opened(next.clone(), |it| assert!(it.is_ok(), "{:?}", it.err()));
    }
}

#[test]
fn poolers_that_share_sessions_are_refused_and_leave_no_lock() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let direct = foreign(&server, "postgres");
    for pool in [Pool::UsedLast, Pool::WaitsLongest] {
        let pooler = Pooler::before(&server, pool);
        is_refused(&pooler, &direct, "pool_mode = transaction or statement");
    }
    server.stop();
}

/// Goal: a lock left in a session that the next connection gets is no lock of this run.
#[test]
fn a_pooler_that_clears_no_session_is_refused() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let pooler = Pooler::before(&server, Pool::SessionAsItIs);
    is_refused(&pooler, &foreign(&server, "postgres"), "server_reset_query = DISCARD ALL");
    server.stop();
}

#[test]
fn a_pooler_with_a_session_for_each_connection_is_a_fact() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    is_a_fact(&Pooler::before(&server, Pool::Session), &foreign(&server, "postgres"));
    server.stop();
}

/// A running `PgBouncer` with its directory; killed when dropped.
struct PgBouncer {
    child: Child,
    endpoint: Endpoint,
    _dir: TempDir,
}

impl PgBouncer {
    /// Starts it in front of a server that listens at the loopback address.
    fn before(server: &TestServer, settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = foreign(server, "postgres");
        let Address::Tcp { port: of_server, .. } = endpoint.address else { panic!("{endpoint:?}") };
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let password = &endpoint.password.as_ref().unwrap().0;
        let ini = format!(
            "[databases]\n* = host=127.0.0.1 port={of_server} user=postgres password={password}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\nignore_startup_parameters = synchronous_commit, \
             bytea_output, standard_conforming_strings\n{settings}\n"
        );
        let file = dir.path().join("pgbouncer.ini");
        fs::write(&file, ini).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(PGBOUNCER);
        command.arg("-q").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        if rustix::process::geteuid().is_root() {
            // It does not run as root.
            command.uid(UNPRIVILEGED);
        }
        let child = command.spawn().unwrap();
        let is_there = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(wait_until(is_there), "PgBouncer listens");
        let endpoint = Endpoint { address: Address::tcp("127.0.0.1", port), ..endpoint };
        Self { child, endpoint, _dir: dir }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The program, as Debian installs it.
const PGBOUNCER: &str = "/usr/sbin/pgbouncer";
/// The account of no user.
const UNPRIVILEGED: u32 = 65_534;

/// Goal: the scripted pooler does what a real one does.
#[test]
fn pgbouncer_is_refused_unless_in_session_mode() {
    let Some(program) = newest() else { return };
    if !Path::new(PGBOUNCER).exists() {
        println!("skipped: no {PGBOUNCER}: apt-get install pgbouncer");
        return;
    }
    let server = TestServer::new(&program, &[("assay.transport", "tcp")]);
    let direct = foreign(&server, "postgres");
    for settings in [
        "pool_mode = transaction",
        "pool_mode = transaction\nserver_round_robin = 1",
        "pool_mode = transaction\ndefault_pool_size = 1",
        "pool_mode = statement",
    ] {
        let pooler = PgBouncer::before(&server, settings);
        is_refused(&pooler.endpoint, &direct, "pool_mode = transaction or statement");
    }
    let pooler = PgBouncer::before(&server, "pool_mode = session\nserver_reset_query =");
    is_refused(&pooler.endpoint, &direct, "server_reset_query = DISCARD ALL");
    drop(pooler);
    let pooler = PgBouncer::before(&server, "pool_mode = session");
    is_a_fact(&pooler.endpoint, &direct);
    drop(pooler);
    let pooler = PgBouncer::before(&server, "pool_mode = session\ndefault_pool_size = 1");
    let error = opened(pooler.endpoint.clone(), |it| it.err().unwrap().to_string());
    assert!(error.contains("has no second session") && error.contains("enlarge"), "{error}");
    drop(pooler);
    let pooler = PgBouncer::before(&server, "ignore_startup_parameters = timezone");
    let error = opened(pooler.endpoint.clone(), |it| it.err().unwrap().to_string());
    assert!(error.contains("a pooler answers: name the server itself"), "{error}");
    server.stop();
}
