//! Locks of other users: waits outside of measured spans end, and name who holds the lock.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use engine::{Engine, EngineError, LockWaits, Maintenance, OpenSpec};
use model::OpKind;
use model::sql::Application;

use crate::application::{procedure, sales};
use crate::fixture::{Fixture, call};

/// What another user executes, with `DB` for the database of a run, and what ends it.
const HOLDS: [(&[&str], &str); 4] = [
    (&["LOCK TABLES DB.`sale1` WRITE"], "UNLOCK TABLES"),
    (&["START TRANSACTION", "SELECT COUNT(*) FROM DB.`sale1`"], "ROLLBACK"),
    (&["START TRANSACTION", "UPDATE DB.`assay_tables` SET token = CONCAT(token, 'x')"], "ROLLBACK"),
    (&["FLUSH TABLES WITH READ LOCK"], "UNLOCK TABLES"),
];

/// Opens a run with waits of four seconds; returns it, or its error, and what was reported.
fn open_soon(
    fixture: &Fixture,
    spec: &OpenSpec,
) -> (Result<Box<dyn Engine>, EngineError>, Vec<String>) {
    let (reports, reported) = sync_channel(16);
    let waits = LockWaits::within(Duration::from_secs(8), reports);
    let opened = fixture.driver.open_shared(spec, &waits);
    (opened, reported.try_iter().collect())
}

/// Runs `body` while another user's session has executed `sql` on the database of `spec`.
fn while_held(
    fixture: &Fixture,
    spec: &OpenSpec,
    (sql, end): (&[&str], &str),
    body: impl FnOnce(),
) {
    let endpoint = spec.endpoint.as_ref().expect("it is a server");
    let database = format!("`{}`", endpoint.database);
    let define = |text: &str| procedure(OpKind::Define, &[text.replace("DB", &database).as_str()]);
    let procedures = sql.iter().chain([&end]).map(|text| define(text)).collect();
    let (engine, _dir) = fixture.open(Application { procedures, ..sales() });
    let mut session = engine.session().expect("there is room");
    let mut execute = |number: usize| {
        let number = u16::try_from(number).expect("a few");
        call(&mut *session, (number, OpKind::Define), &[], &[]).expect("the server executes it");
    };
    (0..sql.len()).for_each(&mut execute);
    body();
    execute(sql.len());
}

/// Returns the same database in a directory of its own: a run that finds another's tables.
fn next_run(fixture: &Fixture, spec: &OpenSpec) -> (OpenSpec, tempfile::TempDir) {
    let (mut next, dir) = fixture.fresh(Some(sales()));
    next.endpoint.clone_from(&spec.endpoint);
    (next, dir)
}

pub(crate) fn set_up_that_waits_for_a_lock_ends_and_names_the_holder(fixture: &Fixture) {
    let (first, _dir) = fixture.fresh(Some(sales()));
    open_soon(fixture, &first).0.expect("it is free").close().expect("it closes");
    for hold in HOLDS {
        let (next, _dir) = next_run(fixture, &first);
        while_held(fixture, &first, hold, || {
            let (opened, reported) = open_soon(fixture, &next);
            let error = opened.err().unwrap_or_else(|| panic!("{hold:?} holds a lock"));
            assert!(matches!(error, EngineError::Timeout(_)), "{hold:?}: {error:?}");
            let text = error.to_string();
            for part in ["Lock wait timeout", "` waits for ", "session ", "of user `root`"] {
                assert!(text.contains(part), "{part}: {hold:?}: {text}");
            }
            assert!(reported.iter().any(|report| text.contains(report)), "{reported:?}: {text}");
        });
    }
    let (next, _dir) = next_run(fixture, &first);
    open_soon(fixture, &next).0.expect("it is free again").close().expect("it closes");
}

pub(crate) fn statements_after_the_set_up_end_and_name_the_holder(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(Some(sales()));
    let engine = open_soon(fixture, &spec).0.expect("it is free");
    while_held(fixture, &spec, HOLDS[0], || {
        for (what, error) in [
            ("count", engine.server().expect("a server").count_rows(0, 0).map(drop)),
            ("bounds", engine.server().expect("a server").bounds(0, 0).map(drop)),
            ("clean", engine.maintain(Maintenance::Clean).map(drop)),
        ] {
            let error = error.err().unwrap_or_else(|| panic!("{what}: the table is locked"));
            let text = error.to_string();
            assert!(text.contains("Lock wait timeout") && text.contains("session "), "{text}");
        }
    });
    assert_eq!(engine.server().expect("a server").count_rows(0, 0), Ok(Some(0)));
    engine.close().expect("it closes");
}

pub(crate) fn second_run_names_the_session_of_the_first(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(Some(sales()));
    let engine = open_soon(fixture, &spec).0.expect("it is free");
    let (next, _dir) = next_run(fixture, &spec);
    let (opened, reported) = open_soon(fixture, &next);
    let error = opened.err().expect("the first run has the lock").to_string();
    assert!(error.contains("another run of Assay") && error.contains("session "), "{error}");
    assert!(reported.iter().any(|report| report.contains("GET_LOCK")), "{reported:?}");
    engine.close().expect("it closes");
}
