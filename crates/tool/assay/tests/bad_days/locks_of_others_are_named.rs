//! Locks that other users of a server hold before a run.

use std::fs;
use std::sync::Arc;

use engine::{ApplicationSetup, OpenSpec, Rows};
use model::sql::{Copies, Part, PerDialect, Procedure, Statement, Table};
use model::{
    Application, Call, DataShape, Durability, Endpoint, Nanos, Op, OpKind, Options, Settings,
};

use crate::sandbox::{Sandbox, note, output_text};

const BUILD: &str = "postgres@15.10";
/// Ends the session that has the lock of a run, and with it the lock.
const END_LOCK: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
const LOCK: &str = "LOCK TABLE public.assay_kv IN ACCESS EXCLUSIVE MODE";

fn statement(text: &str) -> Statement {
    Statement { parts: vec![Part::Text(text.to_owned())], ..Statement::default() }
}

/// Returns a user's statements, with a table of theirs.
fn statements(texts: &[&str]) -> ApplicationSetup {
    let sql = |text: &str| PerDialect { postgres: vec![statement(text)], mysql: Vec::new() };
    let define =
        |text: &&str| Procedure { statements: sql(text), ..Procedure::new(*text, OpKind::Define) };
    let table = Table {
        name: "mine".to_owned(),
        copies: Copies::Fixed(1),
        create: sql("CREATE TABLE mine1 (id BIGINT)"),
        id: None,
    };
    let application = Application {
        tables: vec![table],
        procedures: texts.iter().map(define).collect(),
        ..Application::new("other user")
    };
    ApplicationSetup { application: Arc::new(application), clients: 1 }
}

/// Goal: a run that waits for a lock reports whom it waits for, and ends within its watchdog; it
/// begins when the lock is free. Method: another user of a running server locks the run's table.
#[test]
fn run_names_the_session_that_holds_a_lock_and_ends_within_its_watchdog() {
    let program = match supply::testing::build(BUILD) {
        Ok(artifact) => artifact.library,
        Err(reason) => return note(&format!("skipped: {reason}")),
    };
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let kind = &driver_postgres::KIND;
    let server = server::testing::started(kind, &program, place.path(), &Options::new());
    let sandbox = Sandbox::reading("1s", &[("pg", BUILD, "")]);
    let Endpoint { address, user, database, password, .. } = &server.endpoint;
    let password = password.as_ref().expect("it requires one").0.clone();
    let dsn = format!("postgres://{user}:${{ASSAY_PASSWORD_PG}}@/{database}?socket={address}");
    let file = sandbox.path("experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    let named = format!("engine = \"postgres\"\ndsn = \"{dsn}\"");
    fs::write(&file, text.replace(&format!("engine = \"{BUILD}\""), &named)).unwrap();
    let run = || {
        let mut command = sandbox.run(&["--watchdog", "6s"]);
        command.env("ASSAY_PASSWORD_PG", &password).output().unwrap()
    };

    let dir = tempfile::tempdir().unwrap();
    let data = DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 };
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let spec = OpenSpec {
        endpoint: Some(Endpoint { is_foreign: true, ..server.endpoint.clone() }),
        application: Some(statements(&[
            "CREATE SCHEMA others",
            END_LOCK,
            "BEGIN",
            LOCK,
            "ROLLBACK",
        ])),
        options: [("search_path", "others"), ("application_name", "nightly dump")]
            .into_iter()
            .collect(),
        ..OpenSpec::embedded(dir.path().to_owned(), settings, data)
    };
    let without_schema = OpenSpec { options: Options::new(), ..spec.clone() };
    let call = |session: &mut dyn engine::Session, procedure: u16| {
        let (kind, pause) = (OpKind::Define, Nanos(0));
        let call = Call { procedure, kind, table: 0, arguments: &[], bytes: b"", pause };
        session.execute(&Op::Call(call), &mut Rows::new()).unwrap();
    };
    let first = driver_postgres::driver().open(&without_schema).unwrap();
    call(&mut *first.session().unwrap(), 0);
    first.close().unwrap();
    assert!(run().status.success());
    let fresh = tempfile::tempdir().unwrap();
    let spec = OpenSpec { dir: fresh.path().to_owned(), ..spec };
    let others = driver_postgres::driver().open(&spec).unwrap();
    let mut session = others.session().unwrap();
    (1..4).for_each(|procedure| call(&mut *session, procedure));

    let output = run();
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in ["waits     variant `pg`", "waits for session", "nightly dump", "lock timeout"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("LOCK TABLE public.assay_kv") && text.contains("nothing was run"));
    call(&mut *session, 4);
    assert!(run().status.success());
}
