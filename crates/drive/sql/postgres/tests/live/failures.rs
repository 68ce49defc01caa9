//! Failed statements and lost connections.

use engine::conformance::wait_until;
use engine::{Engine, EngineError, Rows, Session};
use model::{Call, Op, OpKind, Outcome};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::application::{application, procedure};
use crate::calls::{call, first_column, foreign, just_call, open_error, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

const INSERT: u16 = 0;
const DIVIDE: u16 = 1;
const SLOW: u16 = 2;
const END: u16 = 3;
const BROKEN: u16 = 4;
const WHO: u16 = 5;

fn procedures() -> Vec<model::sql::Procedure> {
    let plain = |kind, text: &str| procedure(kind, &[text], (0, 0, 0));
    vec![
        plain(OpKind::Insert, "INSERT INTO {table} VALUES (1)"),
        plain(OpKind::Get, "SELECT 1 / (count(*) - count(*)) FROM {table}"),
        procedure(
            OpKind::Transaction,
            &["SET LOCAL statement_timeout = '200ms'", "SELECT pg_sleep(600)"],
            (0, 0, 0),
        ),
        plain(OpKind::Get, "SELECT pg_terminate_backend(pg_backend_pid())"),
        procedure(
            OpKind::Transaction,
            &["INSERT INTO {table} VALUES (7)", "INSERT INTO {table} VALUES (1)"],
            (0, 0, 0),
        ),
        plain(OpKind::Get, "SELECT pg_backend_pid()::text"),
    ]
}

/// Goal: failures are classified, leave no transaction open, and a lost connection is replaced
/// without repeating its statement. Method: statements that fail in each of these ways,
/// prepared and as text; a server process is killed, so that the whole server restarts.
#[test]
fn failures_are_classified_and_lost_connections_reconnected() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[("restart_after_crash", "on")]);
    for protocol in ["prepared", "text"] {
        let dir = tempfile::tempdir().unwrap();
        let create = "CREATE TABLE {table} (id BIGINT PRIMARY KEY)";
        let setup = application(create, procedures());
        let mut spec = spec(dir.path(), foreign(&server, "postgres"), Some(setup));
        spec.options.set("assay.protocol", protocol);
        let engine = open(&spec).unwrap();
        let mut session = engine.session().unwrap();
        statements_fail(&*engine, &mut *session);
        connections_are_lost(&*engine, &mut *session);
        failures_in_flight(&*engine, &mut *session);
        drop(session);
        engine.close().unwrap();
    }
    server.stop();
}

fn statements_fail(engine: &dyn Engine, session: &mut dyn Session) {
    assert_eq!(just_call(session, INSERT), Ok(Outcome::Done));
    assert!(matches!(just_call(session, INSERT), Err(EngineError::Constraint(_))));
    assert!(matches!(just_call(session, BROKEN), Err(EngineError::Constraint(_))));
    assert_eq!(engine.server().unwrap().count_rows(0, 0), Ok(Some(1)), "rolled back");
    assert!(matches!(just_call(session, DIVIDE), Err(EngineError::Fatal(_))));
    assert!(matches!(just_call(session, SLOW), Err(EngineError::Timeout(_))));
    assert!(matches!(just_call(session, 99), Err(EngineError::Fatal(_))));
    let get = session.execute(&Op::Get { key: b"k" }, &mut Rows::new());
    let gone = get.unwrap_err().to_string();
    assert!(gone.contains("relation \"assay_kv\" does not exist"), "{gone}");
    assert_eq!(reconnects(engine), "0");
}

fn connections_are_lost(engine: &dyn Engine, session: &mut dyn Session) {
    let lost = just_call(session, END).unwrap_err();
    assert!(matches!(&lost, EngineError::LostConnection(text) if text.contains("lost")), "{lost}");
    assert_eq!(just_call(session, WHO), Ok(Outcome::Done));
    assert_eq!(reconnects(engine), "1");

    // When one server process is killed, the server ends the others, then restarts.
    let mut other_session = engine.session().unwrap();
    let other = process_of(&mut *other_session);
    kill_process(process_of(session), Signal::KILL).unwrap();
    wait_for_end(other);
    assert!(wait_until(|| engine.session().is_ok()));
    let lost = just_call(session, WHO).unwrap_err();
    assert!(matches!(&lost, EngineError::LostConnection(_)), "{lost}");
    assert_eq!(just_call(session, WHO), Ok(Outcome::Done));
    assert_eq!(reconnects(engine), "2");
}

/// A failed statement fails alone; a lost connection takes everything in flight.
fn failures_in_flight(engine: &dyn Engine, session: &mut dyn Session) {
    // The row may have been lost in the restart: insert it again; then everything is prepared.
    just_call(session, INSERT).ok();
    assert!(just_call(session, WHO).is_ok() && just_call(session, DIVIDE).is_err());
    let ends = pipelined(session, &[WHO, INSERT, WHO, DIVIDE, WHO]);
    assert!(matches!(
        &ends[..],
        [Ok(_), Err(EngineError::Constraint(_)), Ok(_), Err(EngineError::Fatal(_)), Ok(_)]
    ));
    assert!(just_call(session, END).is_err() && just_call(session, WHO).is_ok());
    let before: u32 = reconnects(engine).parse().unwrap();
    // On the new connection only this is prepared.
    assert_eq!(pipelined(session, &[WHO]), [Ok(Outcome::Done)]);
    let process = process_of(session);
    kill_process(process, Signal::TERM).unwrap();
    wait_for_end(process);
    let ends = pipelined(session, &[WHO, WHO, WHO]);
    let is_lost = |end: &Result<_, _>| matches!(end, Err(EngineError::LostConnection(_)));
    assert!(ends.len() == 3 && ends.iter().all(is_lost), "{ends:?}");
    assert_eq!(just_call(session, WHO), Ok(Outcome::Done));
    assert_eq!(reconnects(engine), (before + 1).to_string());
}

/// Pipelines calls and returns their results.
fn pipelined(session: &mut dyn Session, procedures: &[u16]) -> Vec<Result<Outcome, EngineError>> {
    let pipeline = session.pipeline().expect("sessions are pipelined");
    for &procedure in procedures {
        let kind = OpKind::Get;
        let call =
            Call { procedure, kind, table: 0, arguments: &[], bytes: b"", pause: model::Nanos(0) };
        assert_eq!(pipeline.submit(&Op::Call(call)), Ok(true), "it is prepared");
    }
    let mut rows = Rows::new();
    procedures.iter().map(|_| pipeline.complete(&mut rows)).collect()
}

fn reconnects(engine: &dyn Engine) -> String {
    engine.state().unwrap().readings["client_reconnects"].to_string()
}

/// Returns the server process of a session.
fn process_of(session: &mut dyn Session) -> Pid {
    let mut rows = Rows::new();
    call(session, (WHO, 0), (&[], b""), &mut rows).unwrap();
    let (_, row) = rows.stored().next().unwrap();
    Pid::from_raw(first_column(row).parse().unwrap()).unwrap()
}

fn wait_for_end(process: Pid) {
    assert!(wait_until(|| test_kill_process(process).is_err()));
}

/// Goal: a run has its lock also after a loss. Method: the server ends the connection that
/// holds it, and the next control query makes a new one.
#[test]
fn lost_lock_of_a_run_is_taken_again() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let locks = "FROM pg_locks WHERE locktype = 'advisory'";
    let (end, find) =
        (format!("SELECT pg_terminate_backend(pid) {locks}"), format!("SELECT pid {locks}"));
    let setup = || Some(statements(&[&end, &find]));
    let engine = open(&spec(first.path(), server.endpoint(), setup())).unwrap();
    let mut session = engine.session().unwrap();
    let mut lock_count = |procedure| {
        let mut rows = Rows::new();
        call(&mut *session, (procedure, 0), (&[], b""), &mut rows).unwrap();
        rows.count()
    };
    assert_eq!(lock_count(0), 1);
    assert!(wait_until(|| lock_count(1) == 0));
    assert_eq!(engine.server().unwrap().count_rows(0, 0), Ok(Some(0)));
    assert_eq!(lock_count(1), 1);
    let error = open_error(&spec(second.path(), server.endpoint(), setup())).to_string();
    assert!(error.contains("another run of Assay uses database"), "{error}");
    drop(session);
    engine.close().unwrap();
    server.stop();
}

/// Goal: clients of a server that does not come back end with an error.
#[test]
fn unreachable_server_ends_the_client() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&spec(dir.path(), server.endpoint(), None)).unwrap();
    let mut session = engine.session().unwrap();
    let put = Op::Put { key: b"k", value: b"v" };
    assert_eq!(session.execute(&put, &mut Rows::new()), Ok(Outcome::Done));
    server.stop();
    let error = session.execute(&put, &mut Rows::new()).unwrap_err();
    assert!(
        matches!(&error, EngineError::Fatal(text) if text.contains("4 attempts to connect again")),
        "{error}"
    );
    assert!(engine.state().is_err());
}
