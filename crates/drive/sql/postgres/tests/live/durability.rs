//! The durability class that sessions and tables have, next to the one claimed.

use engine::{Engine, EngineError, OpenSpec, Refusal};
use model::{Call, Durability, DurabilityRecord, Endpoint, OpKind};

use crate::application::{application, procedure};
use crate::calls::{foreign, just_call, statements};
use crate::newest::newest;
use crate::pooler::{Pool, Pooler};
use crate::test_server::{TestServer, open, spec};

/// Starts a server with these options; prints why if there is none.
fn server(options: &[(&str, &str)]) -> Option<TestServer> {
    Some(TestServer::new(&newest()?, options))
}

/// Returns the spec of a run that claims class `sync`.
fn synced(dir: &tempfile::TempDir, endpoint: Endpoint) -> OpenSpec {
    let mut spec = spec(dir.path(), endpoint, None);
    spec.settings.durability = Durability::Sync;
    spec
}

/// Returns what does not allow class `sync`.
fn violation(had: &DurabilityRecord) -> Option<String> {
    had.violation(Durability::Sync).map(ToString::to_string)
}

/// Goal: a pooler that ignores settings is found at the first session, and a server's own setting
/// is overridden with a note. Method: the server's own commits wait for nothing.
#[test]
fn sessions_behind_a_pooler_have_the_class_they_are_found_with() {
    let Some(server) = server(&[]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&synced(&dir, foreign(&server, "postgres"))).unwrap();
    let had = engine.durability().unwrap();
    assert_eq!(violation(&had), None, "{had:?}");
    assert!(engine.session().is_ok());
    let note = "the server's own synchronous_commit = off (configuration file) is overridden: \
                sessions of the run have on";
    assert!(had.notes.contains(&note.to_owned()), "{had:?}");
    engine.close().unwrap();

    let engine = open(&synced(&dir, Pooler::before(&server, Pool::Session))).unwrap();
    let reason = "synchronous_commit = off (configuration file), where the run requests another \
                  value (name the server itself, not a pooler), allows class `none` at most";
    let found = violation(&engine.durability().unwrap()).unwrap();
    assert!(found.starts_with(reason), "{found}");
    let error = engine.session().err().unwrap().to_string();
    assert!(error.contains(&format!("durability `sync`: {reason}")), "{error}");
    engine.close().unwrap();
    server.stop();
}

/// Goal: what a role or a database sets is overridden with a note too, and named with its source.
#[test]
fn settings_of_a_role_are_overridden_with_a_note() {
    let Some(server) = server(&[("full_page_writes", "off")]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let set = [
        "ALTER ROLE postgres SET synchronous_commit = 'local'",
        "ALTER ROLE postgres SET enable_indexscan = off",
        "ALTER DATABASE postgres SET work_mem = '1MB'",
        "ALTER ROLE postgres SET TimeZone = 'UTC'",
    ];
    let spec = spec(dir.path(), foreign(&server, "postgres"), Some(statements(&set)));
    let engine = open(&spec).unwrap();
    let mut session = engine.session().unwrap();
    for statement in 0..4 {
        just_call(&mut *session, statement).unwrap();
    }
    drop(session);
    let notes = engine.durability().unwrap().notes;
    let found = |text: &str| notes.iter().any(|note| note.starts_with(text));
    assert!(found("the server's own synchronous_commit = local (user) is overridden"), "{notes:?}");
    assert!(found("full_page_writes = off (configuration file): pages torn"), "{notes:?}");
    let followed = "sessions of the run have settings of the role or database: enable_indexscan = \
                    off (user), work_mem = 1024 (database)";
    assert!(notes.contains(&followed.to_owned()), "{notes:?}");
    engine.close().unwrap();
    server.stop();
}

#[test]
fn settings_of_the_server_and_its_tables_limit_the_class() {
    let Some(server) = server(&[("fsync", "off")]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&synced(&dir, server.endpoint())).unwrap();
    let had = engine.durability().unwrap();
    assert!(
        violation(&had).unwrap().starts_with("fsync = off (configuration file) allows class `os`")
    );
    assert_eq!(had.violation(Durability::Os), None);
    engine.close().unwrap();
    let unlogged = "CREATE UNLOGGED TABLE {table} (id BIGINT PRIMARY KEY)";
    let mut spec = synced(&dir, server.endpoint());
    spec.application = Some(application(unlogged, Vec::new()));
    let engine = open(&spec).unwrap();
    let had = engine.durability().unwrap();
    let found = had.violation(Durability::Os).unwrap().to_string();
    assert!(found.starts_with("table `item1`, which is unlogged, allows class `none`"), "{found}");
    engine.close().unwrap();
    server.stop();
}

/// Goal: a step that weakens a table is noticed, in a partition too.
#[test]
fn tables_that_a_step_weakens_are_found() {
    let Some(server) = server(&[]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let create = "CREATE TABLE {table} (id BIGINT PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE \
                  {table}_low PARTITION OF {table} FOR VALUES FROM (MINVALUE) TO (MAXVALUE)";
    let weaken = procedure(OpKind::Define, &["ALTER TABLE {table}_low SET UNLOGGED"], (0, 0, 0));
    let mut spec = synced(&dir, server.endpoint());
    spec.application = Some(application(create, vec![weaken]));
    let engine = open(&spec).unwrap();
    assert_eq!(violation(&engine.durability().unwrap()), None);
    just_call(&mut *engine.session().unwrap(), 0).unwrap();
    let found = violation(&engine.durability().unwrap()).unwrap();
    assert!(found.starts_with("table `item1_low`, which is unlogged,"), "{found}");
    assert!(engine.session().is_err());
    engine.close().unwrap();
    server.stop();
}

/// Goal: a statement that sets the class of its session is refused before the run, by its place.
#[test]
fn procedures_that_weaken_their_session_are_refused() {
    let Some(server) = server(&[]) else { return };
    let off = ["SELECT 1", "SET synchronous_commit = off"];
    let local = ["INSERT INTO {table} VALUES (1)", "SET LOCAL synchronous_commit = off"];
    let on = ["SET LOCAL synchronous_commit = local", "SELECT 1"];
    let all = [(off, OpKind::Define), (local, OpKind::Transaction), (on, OpKind::Transaction)];
    let procedures = all.map(|(text, kind)| procedure(kind, &text, (0, 0, 0))).into();
    let dir = tempfile::tempdir().unwrap();
    let mut spec = synced(&dir, server.endpoint());
    spec.application =
        Some(application("CREATE TABLE {table} (id BIGINT PRIMARY KEY)", procedures));
    let engine = open(&spec).unwrap();
    let check = |engine: &dyn Engine, procedure| {
        let (kind, pause) = (OpKind::Transaction, model::Nanos(0));
        engine.server().unwrap().check_call(&Call {
            procedure,
            kind,
            table: 0,
            arguments: &[],
            bytes: b"",
            pause,
        })
    };
    for procedure in 0..2 {
        let Err(EngineError::Refused(Refusal::Statement { index, reason, .. })) =
            check(&*engine, procedure)
        else {
            panic!("procedure {procedure}")
        };
        assert_eq!(index, 1);
        assert!(
            reason.starts_with("durability `sync`: synchronous_commit = off (session)"),
            "{reason}"
        );
    }
    assert_eq!(check(&*engine, 2), Ok(()));
    engine.close().unwrap();
    server.stop();
}
