//! Settings of roles and limits of the server, found before anything is loaded.

use engine::EngineError;
use model::{Endpoint, OpKind};

use crate::application::{application, procedure};
use crate::calls::{foreign, just_call, open_error, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

/// Settings that a role may have and a run not, each with what the error names.
const SETTINGS: [(&str, &str); 6] = [
    ("default_transaction_isolation = 'serializable'", "default_transaction_isolation"),
    ("default_transaction_read_only = on", "default_transaction_read_only"),
    ("statement_timeout = '8s'", "statement_timeout"),
    ("idle_in_transaction_session_timeout = '5s'", "idle_in_transaction_session_timeout"),
    ("session_replication_role = replica", "session_replication_role"),
    ("search_path = pg_temp, public", "search_path = pg_temp, public"),
];

/// Opens the server as a foreign one; returns the error of so many clients, if any.
fn with_clients(endpoint: Endpoint, clients: u64) -> Result<(), EngineError> {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&spec(dir.path(), endpoint, None))?;
    engine.check_clients(clients)?;
    engine.close()
}

/// Goal: a role's settings and limits are named with the need and the remedy.
/// Method: one server; a setting is given to a role, found, and taken away again.
#[test]
fn settings_and_limits_of_a_role_are_found_before_the_load() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let password = server.endpoint().password.expect("it has one").0;
    let create = format!("CREATE ROLE bench LOGIN PASSWORD '{password}'");
    let mut made = vec![create, "CREATE SCHEMA bench AUTHORIZATION bench".to_owned()];
    made.extend(SETTINGS.iter().map(|(setting, _)| format!("ALTER ROLE bench SET {setting}")));
    made.extend(
        ["ALTER ROLE bench RESET ALL", "ALTER ROLE bench CONNECTION LIMIT 8"].map(Into::into),
    );
    let made: Vec<_> = made.iter().map(String::as_str).collect();
    let dir = tempfile::tempdir().unwrap();
    let owner = open(&spec(dir.path(), server.endpoint(), Some(statements(&made)))).unwrap();
    let mut session = owner.session().unwrap();
    let [first, reset, limit] = [2, 8, 9];
    for number in 0..first {
        just_call(&mut *session, number).unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    // The database is the owner's until its engine is closed, and the check comes before its lock.
    for (number, (_, name)) in (first..).zip(SETTINGS) {
        just_call(&mut *session, number).unwrap();
        let error =
            open_error(&spec(elsewhere.path(), foreign(&server, "bench"), None)).to_string();
        assert!(error.contains("`bench` at ") && error.contains(name), "{error}");
        let place = name.contains(" = ") || error.contains("(set for the role)");
        assert!(place && error.contains("ALTER ROLE"), "{error}");
        just_call(&mut *session, reset).unwrap();
    }
    just_call(&mut *session, limit).unwrap();
    drop(session);
    owner.close().unwrap();
    let error = with_clients(foreign(&server, "bench"), 4).unwrap_err().to_string();
    assert!(error.contains("CONNECTION LIMIT of the role = 8"), "{error}");
    assert!(error.contains("need 9 connections"), "{error}");
    assert_eq!(with_clients(foreign(&server, "bench"), 1), Ok(()));
    assert_eq!(with_clients(foreign(&server, "postgres"), 8), Ok(()), "a superuser has no limit");
    let error = with_clients(foreign(&server, "postgres"), 100_000).unwrap_err().to_string();
    assert!(error.contains("max_connections"), "{error}");
    deferred_constraints_pass(&server);
    server.stop();
}

/// A call without values.
const CALL: model::Call<'_> = model::Call {
    procedure: 0,
    kind: OpKind::Transaction,
    table: 0,
    arguments: &[],
    bytes: b"",
    pause: model::Nanos(0),
};

/// Goal: a commit that violates a deferred constraint passes the check, as the guide states.
fn deferred_constraints_pass(server: &TestServer) {
    let create = "CREATE TABLE {table} (id BIGINT PRIMARY KEY, parent BIGINT REFERENCES {table} \
                  DEFERRABLE INITIALLY DEFERRED)";
    let orphan = ["INSERT INTO {table} VALUES (1, 2)"];
    let setup = application(create, vec![procedure(OpKind::Transaction, &orphan, (0, 0, 0))]);
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&spec(dir.path(), server.endpoint(), Some(setup))).unwrap();
    let call = CALL;
    assert_eq!(engine.server().unwrap().check_call(&call), Ok(()));
    let failed = just_call(&mut *engine.session().unwrap(), 0);
    let Err(EngineError::Constraint(text)) = failed else { panic!("{failed:?}") };
    assert!(text.contains("_parent_fkey"), "{text}");
    assert!(
        text.contains("the commit of procedure `INSERT INTO {table} VALUES (1, 2)` violates"),
        "{text}"
    );
    assert!(text.contains("load the rows that it refers to first"), "{text}");
    engine.close().unwrap();
    values_are_checked(server);
}

/// Goal: an insert whose own values violate a CHECK or NOT NULL is refused before the run.
fn values_are_checked(server: &TestServer) {
    let create = "CREATE TABLE {table} (id BIGINT NOT NULL CHECK (id > 100))";
    for (insert, is_right) in [("(101)", true), ("(1)", false), ("(NULL)", false)] {
        let insert = format!("INSERT INTO {{table}} VALUES {insert}");
        let setup = application(create, vec![procedure(OpKind::Insert, &[&insert], (0, 0, 0))]);
        let dir = tempfile::tempdir().unwrap();
        let engine = open(&spec(dir.path(), server.endpoint(), Some(setup))).unwrap();
        let call = model::Call { kind: OpKind::Insert, ..CALL };
        let checked = engine.server().unwrap().check_call(&call);
        assert_eq!(checked.is_ok(), is_right, "{insert}: {checked:?}");
        engine.close().unwrap();
    }
}
