//! Waits of sessions, plans and totals of statements.

use std::thread;

use engine::conformance::wait_until;
use engine::{Engine, Rows, WaitSampler};
use model::{Argument, Call, Durability, OpKind, StatementState, WaitProfile};

use crate::application::{application, procedure};
use crate::calls::{call, just_call};
use crate::newest::newest;
use crate::program::{programs, programs_from_12};
use crate::test_server::{TestServer, open, spec};

const INSERT: u16 = 0;
const HOLD: u16 = 1;
const MOVE: u16 = 2;

fn setup() -> engine::ApplicationSetup {
    let create = "CREATE TABLE {table} (id BIGSERIAL PRIMARY KEY, amount INT NOT NULL)";
    let moved = "UPDATE {table} SET amount = amount + 1 WHERE id = 1";
    // Until there is a second row, or for a minute where the test has failed.
    let hold = "DO $$ BEGIN FOR i IN 1..3000 LOOP \
                EXIT WHEN EXISTS (SELECT FROM {table} WHERE id = 2); \
                PERFORM pg_sleep(0.02); END LOOP; END $$";
    let procedures = vec![
        procedure(OpKind::Insert, &["INSERT INTO {table} (amount) VALUES (7)"], (0, 0, 0)),
        procedure(OpKind::Transaction, &[moved, hold], (0, 0, 0)),
        procedure(OpKind::Transaction, &[moved], (0, 0, 0)),
    ];
    application(create, procedures)
}

/// Samples until an event of a group is found.
fn find(sampler: &mut dyn WaitSampler, is_found: impl Fn(&WaitProfile) -> bool) -> WaitProfile {
    let mut profile = WaitProfile::default();
    let found = wait_until(|| {
        sampler.sample(&mut profile).unwrap();
        is_found(&profile)
    });
    assert!(found, "{profile:?}");
    profile
}

/// Returns whether sessions waited for an event whose name begins so.
fn waits_in(events: &model::SessionWaits, start: &str) -> bool {
    events.events.keys().any(|event| event.to_ascii_lowercase().starts_with(start))
}

/// Goal: a session that waits for a row lock is sampled in it, by the role of its session, in every
/// release. Method: one client holds a row while a background writer updates it.
#[test]
fn a_row_lock_is_sampled_as_a_wait_of_the_session_s_role() {
    for program in programs() {
        let server = TestServer::new(&program, &[]);
        let dir = tempfile::tempdir().unwrap();
        let engine = open(&spec(dir.path(), server.endpoint(), Some(setup()))).unwrap();
        just_call(&mut *engine.session().unwrap(), INSERT).unwrap();
        let profile = thread::scope(|scope| {
            let mut sampler = engine.server().unwrap().wait_sampler().unwrap().unwrap();
            scope.spawn(|| just_call(&mut *engine.session().unwrap(), HOLD).unwrap());
            find(&mut *sampler, |profile| waits_in(&profile.clients, "timeout:pgsleep"));
            let writer = scope.spawn(|| just_call(&mut *engine.writer_session().unwrap(), MOVE));
            let profile =
                find(&mut *sampler, |profile| waits_in(&profile.writers, "lock:transactionid"));
            just_call(&mut *engine.session().unwrap(), INSERT).unwrap();
            writer.join().unwrap().unwrap();
            profile
        });
        assert!(!waits_in(&profile.clients, "lock:"), "{profile:?}");
        assert!(profile.background.events.contains_key("idle"), "{profile:?}");
        let mut sampler = engine.server().unwrap().wait_sampler().unwrap().unwrap();
        // A session's process ends a moment later.
        assert!(wait_until(|| {
            let mut after = WaitProfile::default();
            sampler.sample(&mut after).unwrap();
            after.clients.is_empty() && after.writers.is_empty()
        }));
        drop(sampler);
        engine.close().unwrap();
        server.stop();
    }
}

/// Goal: a client that commits with a sync is sampled in it, on a disk, from 12 on.
#[test]
fn a_sync_of_the_log_is_sampled_as_a_wait() {
    for program in programs_from_12() {
        let server = TestServer::new_in(&std::env::temp_dir(), &program, &[]);
        let dir = tempfile::tempdir().unwrap();
        let mut spec = spec(dir.path(), server.endpoint(), Some(setup()));
        spec.settings.durability = Durability::Sync;
        let engine = open(&spec).unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            let mut sampler = engine.server().unwrap().wait_sampler().unwrap().unwrap();
            scope.spawn(|| {
                let mut session = engine.session().unwrap();
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    just_call(&mut *session, INSERT).unwrap();
                }
            });
            let mut profile = WaitProfile::default();
            let found = wait_until(|| {
                sampler.sample(&mut profile).unwrap();
                waits_in(&profile.clients, "io:walsync")
            });
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(found, "{profile:?}");
        });
        engine.close().unwrap();
        server.stop();
    }
}

#[test]
fn sampling_is_switched_off_by_an_own_option() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), server.endpoint(), Some(setup()));
    spec.options.set("assay.waits", "off");
    let engine = open(&spec).unwrap();
    assert!(engine.server().unwrap().wait_sampler().unwrap().is_none());
    assert_eq!(engine.effective_options().unwrap().get("assay.waits"), Some("off"));
    engine.close().unwrap();
    server.stop();
}

/// Goal: each statement has its plan, an executed one where it only reads, and its totals, in every
/// release, prepared and as text. Method: statements with numbers in their text, alike, on two
/// tables and with values of several types are executed so many times.
#[test]
fn statements_have_plans_and_totals() {
    for program in programs() {
        let options = [("shared_preload_libraries", "pg_stat_statements")];
        let server = TestServer::new(&program, &options);
        for protocol in ["prepared", "text"] {
            let dir = tempfile::tempdir().unwrap();
            let mut spec = spec(dir.path(), server.endpoint(), Some(counted()));
            spec.options.set("assay.protocol", protocol);
            let engine = open(&spec).unwrap();
            check_statements(&*engine, protocol);
            engine.close().unwrap();
        }
        server.stop();
    }
}

/// Returns the statements of a procedure.
fn statements_of(engine: &dyn Engine, procedure: u16, executes: bool) -> Vec<StatementState> {
    let arguments = [Argument::Integer(1), Argument::Integer(2)];
    let kind = OpKind::Get;
    let pause = model::Nanos(0);
    let call = Call { procedure, kind, table: 0, arguments: &arguments, bytes: b"", pause };
    engine.server().unwrap().statements(&call, executes).unwrap()
}

fn check_statements(engine: &dyn Engine, protocol: &str) {
    let all = |executes| -> Vec<_> {
        (0..4).map(|procedure| statements_of(engine, procedure, executes)).collect()
    };
    let before = all(false);
    let mut session = engine.session().unwrap();
    for (procedure, value, table, times) in
        [(0, 1, 0, 10), (0, 2, 1, 5), (0, 1 << 40, 0, 3), (1, 1, 0, 4), (2, 1, 0, 2), (3, 1, 0, 7)]
    {
        let arguments = [Argument::Integer(value), Argument::Integer(2)];
        for _ in 0..times {
            let mut rows = Rows::new();
            call(&mut *session, (procedure, table), (&arguments, b""), &mut rows).unwrap();
        }
    }
    drop(session);
    let after = all(true);
    let name = format!("{} {protocol}", engine.identity().version);
    let calls = |state: &StatementState| state.totals.map_or(0, |totals| totals.calls);
    let grown = |of: usize, at: usize| calls(&after[of][at]) - calls(&before[of][at]);
    assert_eq!((grown(0, 0), grown(1, 0)), (18, 4), "{name}");
    // One statement of two procedures, in one of them on two lines.
    assert_eq!((grown(2, 0), grown(3, 0), grown(3, 1)), (2 + 7, 2 + 7, 7), "{name}");
    assert_eq!(after[2][0].entries, after[3][0].entries, "{name}");
    let totals = after[0][0].totals.unwrap();
    assert!(totals.server_us > 0.0 && totals.pages > Some(0), "{totals:?}");
    let plan = after[0][0].plan.as_deref().unwrap();
    assert!(plan.contains(" on item1") && !plan.contains("cost="), "{plan}");
    assert_eq!(before[0][0].plan.as_deref(), Some(plan));
    let is_executed = |state: &StatementState| state.text.contains("actual time");
    assert!(!is_executed(&before[0][0]) && is_executed(&after[0][0]), "{after:?}");
    let moved = &after[1][0];
    assert!(moved.plan.as_deref().unwrap().starts_with("Update on"), "{moved:?}");
    assert!(!is_executed(moved), "only explained: {moved:?}");
}

/// Statements of procedures, with numbers behind keywords.
const COUNTED: [&[&str]; 4] = [
    &["SELECT amount FROM {table} WHERE id >= {0} ORDER BY id LIMIT 10"],
    &["UPDATE {table} SET amount = CASE WHEN id = {0} THEN 1 ELSE amount + 3 END WHERE id < {1}"],
    &["SELECT count(*) FROM {table} WHERE id IN (1, 2) AND amount < {0}"],
    &[
        "SELECT count(*)\n    FROM {table} WHERE id IN (1, 2) AND amount < {0}",
        "SELECT count(*) FROM {table} WHERE id IN (1, 2) AND amount > {0}",
    ],
];

fn counted() -> engine::ApplicationSetup {
    let create = "CREATE TABLE {table} (id BIGSERIAL PRIMARY KEY, amount INT NOT NULL)";
    let arguments = [1, 2, 1, 1];
    let procedures = COUNTED.iter().zip(arguments).map(|(statements, arguments)| {
        procedure(OpKind::Transaction, statements, (arguments, 0, 0))
    });
    application(create, procedures.collect())
}
