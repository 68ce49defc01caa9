//! Waits of sessions, plans and totals of statements.

use std::thread;

use engine::WaitSampler;
use engine::conformance::wait_until;
use model::{Argument, Call, Durability, OpKind, WaitProfile};

use crate::application::{application, procedure};
use crate::calls::{call, just_call};
use crate::newest::newest;
use crate::program::programs;
use crate::test_server::{TestServer, open, spec};

const INSERT: u16 = 0;
const HOLD: u16 = 1;
const MOVE: u16 = 2;
const FIND: u16 = 3;

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
        procedure(OpKind::Get, &["SELECT amount FROM {table} WHERE id = {0}"], (1, 0, 0)),
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
            let mut sampler = engine.wait_sampler().unwrap().unwrap();
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
        let mut sampler = engine.wait_sampler().unwrap().unwrap();
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

/// Goal: a client that commits with a sync is sampled in it, on a disk.
#[test]
fn a_sync_of_the_log_is_sampled_as_a_wait() {
    for program in programs() {
        let server = TestServer::new_in(&std::env::temp_dir(), &program, &[]);
        let dir = tempfile::tempdir().unwrap();
        let mut spec = spec(dir.path(), server.endpoint(), Some(setup()));
        spec.settings.durability = Durability::Sync;
        let engine = open(&spec).unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            let mut sampler = engine.wait_sampler().unwrap().unwrap();
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
    assert!(engine.wait_sampler().unwrap().is_none());
    assert_eq!(engine.effective_options().unwrap().get("assay.waits"), Some("off"));
    engine.close().unwrap();
    server.stop();
}

/// Goal: each statement has its plan, an executed one where it only reads, and its totals, in every
/// release, prepared and as text. Method: a row is read ten times.
#[test]
fn statements_have_plans_and_totals() {
    for program in programs() {
        let options = [("shared_preload_libraries", "pg_stat_statements")];
        let server = TestServer::new(&program, &options);
        for protocol in ["prepared", "text"] {
            let dir = tempfile::tempdir().unwrap();
            let mut spec = spec(dir.path(), server.endpoint(), Some(setup()));
            spec.options.set("assay.protocol", protocol);
            let engine = open(&spec).unwrap();
            let mut session = engine.session().unwrap();
            just_call(&mut *session, INSERT).unwrap();
            let first = [Argument::Integer(1)];
            let find = Call {
                procedure: FIND,
                kind: OpKind::Get,
                table: 0,
                arguments: &first,
                bytes: b"",
                pause: model::Nanos(0),
            };
            let before = engine.statements(&find, false).unwrap();
            let mut rows = engine::Rows::new();
            for _ in 0..10 {
                call(&mut *session, (FIND, 0), (&first, b""), &mut rows).unwrap();
            }
            let after = engine.statements(&find, true).unwrap();
            let [before, after] = [&before[0], &after[0]];
            let plan = after.plan.as_deref().unwrap();
            assert!(plan.contains(" on item1") && !plan.contains("cost="), "{plan}");
            assert_eq!(before.plan, after.plan);
            assert!(!before.text.contains("actual time"), "{}", before.text);
            assert!(after.text.contains("actual time"), "{}", after.text);
            let calls = before.totals.map_or(0, |totals| totals.calls);
            let totals = after.totals.unwrap();
            assert_eq!(totals.calls - calls, 10, "{protocol}: {before:?} {after:?}");
            assert!(totals.server_us > 0.0 && totals.pages > Some(0), "{totals:?}");
            let moved = Call { procedure: MOVE, kind: OpKind::Transaction, arguments: &[], ..find };
            let moved = engine.statements(&moved, true).unwrap();
            assert!(moved[0].plan.as_deref().unwrap().starts_with("Update on"), "{moved:?}");
            assert!(!moved[0].text.contains("actual time"), "only explained: {moved:?}");
            drop(session);
            engine.close().unwrap();
        }
        server.stop();
    }
}
