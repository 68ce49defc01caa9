//! Locks of other users: waits outside of measured spans end, and name who holds the lock.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use driver_postgres::DRIVER;
use engine::conformance::wait_until;
use engine::{ApplicationSetup, Driver, Engine, EngineError, LockWaits, Maintenance, OpenSpec};
use model::{Call, OpKind};

use crate::calls::{foreign, just_call, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

/// What another user does to the tables of a run, and the statement of the next run that waits.
const HOLDS: [(&str, &str); 3] = [
    ("LOCK TABLE public.item1 IN ACCESS EXCLUSIVE MODE", "DROP TABLE"),
    ("UPDATE public.assay_tables SET token = token", "DELETE FROM"),
    ("LOCK TABLE public.assay_tables IN ACCESS EXCLUSIVE MODE", "SELECT name"),
];

/// Takes the lock of the database away from the run that has it.
const END_LOCK: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";

fn application() -> ApplicationSetup {
    statements(&["SELECT count(*) FROM {table}", END_LOCK])
}

fn spec_of(server: &TestServer, dir: &Path, setup: ApplicationSetup) -> OpenSpec {
    spec(dir, foreign(server, "postgres"), Some(setup))
}

/// Opens a run with waits of four seconds; returns it, or its error, and what was reported.
fn open_soon(
    server: &TestServer,
    dir: &Path,
) -> (Result<Box<dyn Engine>, EngineError>, Vec<String>) {
    let (reports, reported) = sync_channel(16);
    let waits = LockWaits::within(Duration::from_secs(8), reports);
    let opened = DRIVER.open_shared(&spec_of(server, dir, application()), &waits);
    (opened, reported.try_iter().collect())
}

/// Runs `body` while another user's transaction has executed `sql`.
///
/// That user is a run in another schema, whose lock of the database is taken away.
fn while_held(server: &TestServer, sql: &str, body: impl FnOnce()) {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec_of(server, dir.path(), statements(&[END_LOCK, "BEGIN", sql, "ROLLBACK"]));
    spec.options.set("search_path", "audit");
    spec.options.set("application_name", "nightly dump");
    let engine = open(&spec).unwrap();
    let mut session = engine.session().unwrap();
    for number in 0..3 {
        just_call(&mut *session, number).unwrap();
    }
    body();
    just_call(&mut *session, 3).unwrap();
    drop(session);
    engine.close().unwrap();
}

/// Starts a server with the tables of a run that has ended.
fn server() -> Option<TestServer> {
    let server = TestServer::new(&newest()?, &[]);
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&spec_of(&server, dir.path(), statements(&["CREATE SCHEMA audit"]))).unwrap();
    just_call(&mut *engine.session().unwrap(), 0).unwrap();
    engine.close().unwrap();
    Some(server)
}

/// Checks that an error is a timeout that names the other user's session and `sql`.
fn names(error: &EngineError, sql: &str) {
    assert!(matches!(error, EngineError::Timeout(_)), "{error:?}");
    let text = error.to_string();
    for part in ["lock timeout", "` waits for session ", "of user `postgres`", "nightly dump", sql]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn set_up_that_waits_for_a_lock_ends_and_names_the_holder() {
    let Some(server) = server() else { return };
    for (sql, waiting) in HOLDS {
        while_held(&server, sql, || {
            let dir = tempfile::tempdir().unwrap();
            let (opened, reported) = open_soon(&server, dir.path());
            let error = opened.err().expect("a lock is held");
            names(&error, sql);
            assert!(error.to_string().contains(&format!("`{waiting}")), "{error}");
            let [report] = &reported[..] else { panic!("{reported:?}") };
            assert!(report.contains(sql) && report.contains("idle in transaction"), "{report}");
            assert!(error.to_string().contains(report.as_str()), "{error}");
        });
    }
    let dir = tempfile::tempdir().unwrap();
    let (opened, reported) = open_soon(&server, dir.path());
    opened.unwrap().close().unwrap();
    assert_eq!(reported, [""; 0]);
    server.stop();
}

/// Goal: a lock that is taken after the set-up ends counts, checks of calls and maintenance, too.
#[test]
fn statements_before_and_after_steps_end_and_name_the_holder() {
    let Some(server) = server() else { return };
    let dir = tempfile::tempdir().unwrap();
    let engine = open_soon(&server, dir.path()).0.unwrap();
    just_call(&mut *engine.session().unwrap(), 1).unwrap();
    let lock = "LOCK TABLE public.item1 IN ACCESS EXCLUSIVE MODE";
    while_held(&server, lock, || {
        let (kind, pause) = (OpKind::Scan, model::Nanos(0));
        let call = Call { procedure: 0, kind, table: 0, arguments: &[], bytes: b"", pause };
        names(&engine.server().unwrap().count_rows(0, 0).unwrap_err(), lock);
        names(&engine.server().unwrap().bounds(0, 0).unwrap_err(), lock);
        names(&engine.server().unwrap().check_call(&call).unwrap_err(), lock);
        names(&engine.maintain(Maintenance::Clean).unwrap_err(), lock);
    });
    assert_eq!(engine.server().unwrap().count_rows(0, 0), Ok(Some(0)));
    engine.close().unwrap();
    server.stop();
}

/// Goal: clients that wait in a measured step have no limit, and the lock is named meanwhile.
#[test]
fn a_lock_that_clients_wait_for_is_named() {
    let Some(server) = server() else { return };
    let dir = tempfile::tempdir().unwrap();
    let engine = open_soon(&server, dir.path()).0.unwrap();
    just_call(&mut *engine.session().unwrap(), 1).unwrap();
    let lock = "LOCK TABLE public.item1 IN ACCESS EXCLUSIVE MODE";
    thread::scope(|scope| {
        while_held(&server, lock, || {
            scope.spawn(|| just_call(&mut *engine.session().unwrap(), 0).unwrap());
            let mut named = None;
            assert!(wait_until(|| {
                named = engine.lock_wait();
                named.is_some()
            }));
            let named = named.unwrap();
            for part in ["`SELECT count(*)", "` waits for session ", "nightly dump", lock] {
                assert!(named.contains(part), "{part}: {named}");
            }
        });
    });
    assert_eq!(engine.lock_wait(), None);
    engine.close().unwrap();
    server.stop();
}

#[test]
fn second_run_names_the_session_of_the_first() {
    let Some(server) = server() else { return };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = open_soon(&server, first.path()).0.unwrap();
    let (opened, reported) = open_soon(&server, second.path());
    let error = opened.err().expect("it is locked").to_string();
    assert!(error.contains("another run of Assay uses database `postgres`"), "{error}");
    assert!(reported.len() == 1 && reported[0].contains("pg_advisory_lock"), "{reported:?}");
    assert!(error.contains(&reported[0]), "{error}");
    engine.close().unwrap();
    server.stop();
}
