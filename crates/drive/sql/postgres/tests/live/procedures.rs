//! Procedure calls, prepared and as text.

use engine::{Engine, EngineError, Rows, Session};
use model::sql::{Procedure, Protocol};
use model::{Argument, Bounds, OpKind, Outcome};

use crate::application::{application, procedure};
use crate::calls::{call, first_column, just_call};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

const CREATE: &str = "CREATE TABLE {table} (id BIGSERIAL PRIMARY KEY, at TIMESTAMP NOT NULL, \
                      small SMALLINT NOT NULL, price REAL NOT NULL, ratio FLOAT8 NOT NULL, \
                      code CHAR(4) NOT NULL, amount INT NOT NULL, note VARCHAR(100) NOT NULL, \
                      exact NUMERIC(12, 2) NOT NULL, raw BYTEA NOT NULL, day DATE NOT NULL)";

const INSERT: u16 = 0;
const TAKE: u16 = 1;
const FIND: u16 = 2;
const MOVE: u16 = 3;
const SHOW: u16 = 4;
const INDEX: u16 = 5;
const ABSENT: u16 = 6;

/// Rows of one insert.
const BATCH: u32 = 5;

fn procedures() -> Vec<Procedure> {
    let insert = "INSERT INTO {table} (at, small, price, ratio, code, amount, note, exact, raw, \
                  day) VALUES {rows:({0}, {r0}, {r1}, {r1}, {r2}, {r0}, {r2}, {r1}, {r2}, {0}):}";
    let take = "DELETE FROM {table} WHERE id IN \
                (SELECT id FROM {table} WHERE id >= {0} ORDER BY id LIMIT 3)";
    let find = "SELECT id::text AS shown, note, amount FROM {table} WHERE id IN ({rows:{r0}:}) ORDER BY id";
    let moved = "UPDATE {table} SET amount = amount + {0} WHERE id = {1}";
    let selected = "SELECT amount::text FROM {table} WHERE id = {1}";
    let show = "SELECT * FROM {table} ORDER BY id";
    vec![
        procedure(OpKind::Insert, &[insert], (1, 3, BATCH)),
        procedure(OpKind::Delete, &[take], (1, 0, 3)),
        procedure(OpKind::MultiGet, &[find], (0, 1, 3)),
        procedure(OpKind::Transaction, &[moved, selected], (2, 0, 0)),
        procedure(OpKind::Scan, &[show], (0, 0, 0)),
        procedure(OpKind::Define, &["CREATE INDEX {table}_at ON {table} (at)"], (0, 0, 0)),
        procedure(OpKind::Get, &["SELECT id FROM {table} WHERE id = {0}"], (1, 0, 0)),
    ]
}

/// Inserts a batch of distinct rows.
fn insert(session: &mut dyn Session, table: u32) -> Result<(), EngineError> {
    let bytes = b"it's";
    let mut arguments = vec![Argument::Moment(1_700_000_000)];
    for row in 0..BATCH {
        let text = Argument::Text { start: row.min(3), end: 4 };
        arguments.extend([
            Argument::Integer(row.into()),
            Argument::Real(f64::from(row) + 0.25),
            text,
        ]);
    }
    let mut rows = Rows::new();
    let outcome = call(session, (INSERT, table), (&arguments, bytes), &mut rows)?;
    assert_eq!((outcome, rows.count(), rows.stored().count()), (Outcome::Done, BATCH.into(), 0));
    assert!(rows.bytes() > 100, "{} bytes written", rows.bytes());
    Ok(())
}

/// Returns the first columns of an answer.
fn keys(rows: &Rows) -> Vec<String> {
    rows.stored().map(|(_, row)| first_column(row)).collect()
}

/// Does some work on table `table` and checks every answer.
fn work(engine: &dyn Engine, table: u32) {
    let mut session = engine.session().unwrap();
    let session = &mut *session;
    assert_eq!(engine.server().unwrap().bounds(0, table), Ok(Some(Bounds { first: 0, next: 0 })));
    for _ in 0..3 {
        insert(session, table).unwrap();
    }
    assert_eq!(engine.server().unwrap().bounds(0, table), Ok(Some(Bounds { first: 1, next: 16 })));
    let mut rows = Rows::new();
    let mut call_with = |procedure, arguments: &[i64]| {
        let arguments: Vec<_> = arguments.iter().map(|value| Argument::Integer(*value)).collect();
        let outcome = call(session, (procedure, table), (&arguments, b""), &mut rows).unwrap();
        (outcome, rows.count(), keys(&rows))
    };
    assert_eq!(call_with(TAKE, &[1]), (Outcome::Done, 3, vec![]));
    let found: Vec<_> = ["4", "15"].map(str::to_owned).into();
    assert_eq!(call_with(FIND, &[4, 2, 15]), (Outcome::Done, 2, found));
    assert_eq!(call_with(FIND, &[1, 2, 3]), (Outcome::NotFound, 0, vec![]));
    assert_eq!(call_with(MOVE, &[100, 4]), (Outcome::Done, 2, vec!["103".to_owned()]));
    assert_eq!(call_with(ABSENT, &[99]), (Outcome::NotFound, 0, vec![]));
    assert_eq!(call_with(INDEX, &[]), (Outcome::Done, 0, vec![]));
    assert_eq!(engine.server().unwrap().count_rows(0, table), Ok(Some(12)));
    assert_eq!(engine.server().unwrap().bounds(0, table), Ok(Some(Bounds { first: 4, next: 16 })));
    assert_eq!(
        (engine.server().unwrap().bounds(7, 0), engine.server().unwrap().count_rows(7, 0)),
        (Ok(None), Ok(None))
    );
}

/// Goal: procedures have the same effects and results, prepared or as text.
/// Method: the same work on one table each, then both tables are read alike.
#[test]
fn prepared_and_text_leave_the_same_rows() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    for (protocol, table) in [("prepared", 0), ("text", 1)] {
        let setup = application(CREATE, procedures());
        let mut spec = spec(dir.path(), server.endpoint(), Some(setup));
        spec.options.set("assay.protocol", protocol);
        let engine = open(&spec).unwrap();
        work(&*engine, table);
        if protocol == "text" {
            assert_eq!(shown(&*engine, 0), shown(&*engine, 1));
        }
        engine.close().unwrap();
    }
    values_that_do_not_fit_are_rejected(&server);
    server.stop();
}

/// Returns the rows of a table as the server sends them.
fn shown(engine: &dyn Engine, table: u32) -> Vec<Vec<u8>> {
    let mut session = engine.session().unwrap();
    let mut rows = Rows::new();
    call(&mut *session, (SHOW, table), (&[], b""), &mut rows).unwrap();
    assert_eq!(rows.count(), 12);
    rows.stored().map(|(_, row)| row.to_vec()).collect()
}

/// A value too large for its column, and a procedure without an application.
fn values_that_do_not_fit_are_rejected(server: &TestServer) {
    let dir = tempfile::tempdir().unwrap();
    let setup = application(CREATE, procedures());
    let engine = open(&spec(dir.path(), server.endpoint(), Some(setup))).unwrap();
    let mut session = engine.session().unwrap();
    let mut rows = Rows::new();
    let large = [Argument::Integer(1 << 40), Argument::Integer(4)];
    let error = call(&mut *session, (MOVE, 0), (&large, b""), &mut rows).unwrap_err();
    assert!(error.to_string().contains("1099511627776 does not fit"), "{error}");
    assert_eq!(insert(&mut *session, 0), Ok(()), "the session goes on");
    drop(session);
    engine.close().unwrap();
    let engine = open(&spec(dir.path(), server.endpoint(), None)).unwrap();
    let error = just_call(&mut *engine.session().unwrap(), TAKE).unwrap_err();
    assert!(error.to_string().contains("no application was opened"), "{error}");
}

/// Goal: a procedure's protocol holds unless the variant states one.
/// Method: the options in force name those that differ; both leave the same rows.
#[test]
fn protocol_of_a_procedure_yields_to_the_option() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    let mut all = procedures();
    (all[usize::from(INSERT)].protocol.postgres, all[usize::from(INSERT)].name) =
        (Some(Protocol::Text), "insert".to_owned());
    let setup = application(CREATE, all);
    for (option, in_force) in
        [(None, "prepared; text: insert"), (Some("prepared"), "prepared"), (Some("text"), "text")]
    {
        let mut spec = spec(dir.path(), server.endpoint(), Some(setup.clone()));
        option.into_iter().for_each(|option| spec.options.set("assay.protocol", option));
        let engine = open(&spec).unwrap();
        let options = engine.effective_options().unwrap();
        assert_eq!(options.get("assay.protocol"), Some(in_force));
        insert(&mut *engine.session().unwrap(), 0).unwrap();
        engine.close().unwrap();
    }
    server.stop();
}
