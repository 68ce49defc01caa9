//! The durability class that sessions and tables have, next to the one claimed.

use engine::OpenSpec;
use model::sql::PerDialect;
use model::{Durability, DurabilityRecord, OpKind};
use tempfile::TempDir;

use crate::application::{procedure, sales, statement};
use crate::fixture::{Fixture, call};
use crate::test_server::Build;

/// Returns the spec of a table that this statement creates, with a procedure of this one.
fn table(fixture: &Fixture, create: &str, define: &str) -> (OpenSpec, TempDir) {
    let mut application = sales();
    application.tables[0].create =
        PerDialect { postgres: Vec::new(), mysql: vec![statement(create)] };
    application.tables[0].id = None;
    application.procedures = vec![procedure(OpKind::Define, &[define])];
    application.steps.clear();
    application.checks.clear();
    fixture.fresh(Some(application))
}

/// Returns what a table of this kind rests on.
fn of_kind(fixture: &Fixture, kind: &str) -> DurabilityRecord {
    let create = format!("CREATE TABLE {{}} (id BIGINT PRIMARY KEY) {kind}");
    let (spec, _dir) = table(fixture, &create, "SELECT 1");
    let engine = fixture.driver.open(&spec).expect("the server is good");
    engine.durability().expect("it is read back")
}

/// Returns what does not allow a class.
fn violation(had: &DurabilityRecord, class: Durability) -> String {
    had.violation(class).map(ToString::to_string).unwrap_or_default()
}

/// Goal: a server of class `none` is not taken for more, by a session neither.
pub(crate) fn a_server_s_variables_limit_the_class(fixture: &Fixture) {
    let (mut spec, _dir) = fixture.fresh(Some(sales()));
    spec.settings.durability = Durability::Os;
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let found = violation(&engine.durability().expect("it is read back"), Durability::Os);
    let reason = "_flush_log_at_trx_commit = 0 allows class `none` at most";
    assert!(found.contains(reason), "{found}");
    let error = engine.session().err().expect("the class is not had").to_string();
    assert!(error.contains("durability `os`: ") && error.contains(reason), "{error}");
}

/// Goal: tables whose rows a crash loses are named, also after a step that makes them so.
pub(crate) fn tables_without_a_log_have_no_class(fixture: &Fixture) {
    for engine in ["MEMORY", "MyISAM"] {
        let found = violation(&of_kind(fixture, &format!("ENGINE={engine}")), Durability::Os);
        let table = format!("of storage engine {} allows class `none`", engine.to_lowercase());
        assert!(found.starts_with("table `") && found.contains(&table), "{found}");
    }
    let create = "CREATE TABLE {} (id BIGINT PRIMARY KEY)";
    let (spec, _dir) = table(fixture, create, "ALTER TABLE {} ENGINE=MEMORY");
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let found = || violation(&engine.durability().expect("it is read back"), Durability::Os);
    assert!(!found().contains("memory"), "{}", found());
    let mut session = engine.session().expect("there is room");
    call(&mut *session, (0, OpKind::Define), &[], &[]).expect("the table is changed");
    assert!(found().contains("of storage engine memory"), "{}", found());
}

/// Goal: an Aria table has a class when it is transactional, and none otherwise. Its syncs are
/// counted: class `sync` without any is blocked.
pub(crate) fn aria_tables_are_safe_when_transactional(fixture: &Fixture) {
    let create = "CREATE TABLE {} (id BIGINT PRIMARY KEY) ENGINE=Aria";
    let (spec, _dir) = table(fixture, create, "INSERT INTO {} VALUES (1)");
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let syncs = || engine.state().expect("it is read").readings.get("engine_fsyncs").copied();
    let before = syncs().expect("they are counted");
    let mut session = engine.session().expect("there is room");
    call(&mut *session, (0, OpKind::Define), &[], &[]).expect("the row is inserted");
    assert!(syncs().expect("they are counted") > before, "{before}");
    drop(session);
    let found = |kind| violation(&of_kind(fixture, kind), Durability::Sync);
    assert_eq!(found("ENGINE=Aria"), "");
    let unsafe_table = "of storage engine aria, not transactional, allows class `none`";
    for kind in ["ENGINE=Aria TRANSACTIONAL=0", "ENGINE=Aria ROW_FORMAT=DYNAMIC"] {
        assert!(found(kind).contains(unsafe_table), "{kind}: {}", found(kind));
    }
}

/// Goal: a server of class `sync` has it, the settings that give up protection of pages are notes,
/// and tables of its default engine are read as they are.
pub(crate) fn a_synced_server_has_its_class(build: &Build) {
    let started = |options: &[(&str, &str)]| {
        let dir = tempfile::tempdir_in(engine::conformance::scratch_dir()).expect("a directory");
        build.start_in(dir, Durability::Sync, options).expect("the server starts")
    };
    let server = started(&[("innodb_doublewrite", "OFF")]);
    let fixture = Fixture::new(&server, build.driver());
    let had = of_kind(&fixture, "");
    assert_eq!(had.violation(Durability::Sync), None, "{had:?}");
    let level = had.bases.iter().any(|it| it.evidence == "innodb_flush_log_at_trx_commit = 1");
    assert!(level, "{had:?}");
    let torn = "innodb_doublewrite = OFF: pages torn in a crash of the machine are not restored";
    assert_eq!(had.notes, [torn]);
    drop(server);
    let server = started(&[("default_storage_engine", "MEMORY")]);
    let fixture = Fixture::new(&server, build.driver());
    let create = "CREATE TABLE {} (id BIGINT PRIMARY KEY)";
    let (spec, _dir) = table(&fixture, create, "SELECT 1");
    let error = fixture.driver.open(&spec).err().expect("its tables lose rows").to_string();
    assert!(error.contains("default_storage_engine = MEMORY"), "{error}");
}
