//! Waits of sessions, plans and totals of statements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use engine::EngineError;
use model::sql::{Argument, Call};
use model::{Op, WaitProfile};

use crate::application::{BROKEN, COLUMNS, DELETE, IN_LIST, MOVE, SET, sales};
use crate::fixture::{Fixture, call, while_row_is_held};
use crate::procedures::insert;

/// Most samples until something must have been found.
const SAMPLES_MAX: usize = 1_000;

/// Goal: a session that waits for a row lock is sampled in it.
/// Method: one client holds a row while a background writer updates it, again after each timeout.
pub(crate) fn row_locks_are_sampled_as_waits(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    insert(&mut *engine.session().expect("there is room"), 10).expect("rows are inserted");
    let engine = &*engine;
    let mut sampler =
        engine.server().expect("a server").wait_sampler().expect("it answers").expect("it has one");
    let mut profile = WaitProfile::default();
    let is_over = AtomicBool::new(false);
    let (_open, never) = sync_channel::<()>(1);
    while_row_is_held(engine, || {
        let found = thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut writer = engine.writer_session().expect("there is room");
                while !is_over.load(Ordering::Relaxed) {
                    let moved = call(&mut *writer, MOVE, &[Argument::Integer(1)], &[]);
                    let error = moved.expect_err("the row is held");
                    assert!(matches!(error, EngineError::Timeout(_)), "{error:?}");
                }
            });
            let found = (0..SAMPLES_MAX).any(|_| {
                // Nothing is sent: it is the pause between two samples.
                never.recv_timeout(sampler.least_pause()).expect_err("the sender is open");
                sampler.sample(&mut profile).expect("it answers");
                let mut events = profile.writers.events.keys();
                events.any(|event| event.to_ascii_lowercase().ends_with("row lock"))
            });
            is_over.store(true, Ordering::Relaxed);
            writer.join().expect("no panic");
            found
        });
        assert!(found, "{profile:?}");
    });
}

/// Goal: totals are those of the calls, where the performance schema collects them.
/// Method: statements with lists, limits and rows are executed and fail, prepared and as text.
pub(crate) fn totals_are_those_of_the_calls(fixture: &Fixture, protocols: &[&str]) {
    for protocol in protocols {
        let (mut spec, _dir) = fixture.fresh(Some(sales()));
        spec.options.set("assay.protocol", *protocol);
        let engine = fixture.driver.open(&spec).expect("the server is good");
        let three = [1, 2, 3].map(Argument::Integer);
        let statements = |(procedure, kind): (u16, _), arguments: &[Argument]| {
            let call =
                Call { procedure, kind, table: 0, arguments, bytes: &[], pause: model::Nanos(0) };
            engine.server().expect("a server").statements(&call, true).expect("it answers")
        };
        let calls = |of, arguments: &[Argument]| -> Vec<u64> {
            let states = statements(of, arguments).into_iter();
            states.map(|state| state.totals.map_or(0, |totals| totals.calls)).collect()
        };
        // A session's prepared statements are counted when it has ended.
        for _ in 0..2 {
            let session = &mut *engine.session().expect("there is room");
            for customer in [7, -7] {
                insert(session, customer).expect("rows are inserted");
            }
            for (of, arguments, times) in [
                (IN_LIST, &three[..], 10),
                (COLUMNS[2], &[], 4),
                (DELETE, &[Argument::Integer(100)], 3),
                (MOVE, &three[..1], 5),
                (SET, &[Argument::Integer(-1), Argument::Integer(2)], 6),
            ] {
                for _ in 0..times {
                    call(session, of, arguments, &[]).expect("it is done");
                }
            }
            call(session, BROKEN, &three[..1], &[]).expect_err("there is no such column");
        }
        let name = engine.identity().version + " " + protocol;
        assert_eq!(calls(IN_LIST, &three), [20], "{name}");
        assert_eq!(calls(DELETE, &three[..1]), [6], "{name}");
        assert_eq!(calls(SET, &three[..2]), [12], "{name}");
        // The first statement of both, which the server counts as one.
        assert_eq!(calls(MOVE, &three[..1]), [12, 10], "{name}");
        assert_eq!(calls(BROKEN, &three[..1])[0], 12, "{name}");
        let [moved, broken] = [MOVE, BROKEN].map(|of| statements(of, &three[..1]));
        assert_eq!(moved[0].entries, broken[0].entries, "{name}");
        assert!(moved[0].entries != moved[1].entries, "{name}");
        let scanned = &statements(COLUMNS[2], &[])[0];
        let totals = scanned.totals.expect("the server collects them");
        assert_eq!(totals.calls, 8, "{name}");
        assert!(totals.rows >= 8 * 6 && totals.server_us > 0.0, "{name}: {totals:?}");
    }
}

/// Goal: every statement has its plan, one that only reads is executed.
pub(crate) fn statements_have_plans(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 7).expect("rows are inserted");
    let arguments = [1, 2, 3].map(Argument::Integer);
    let of = |(procedure, kind): (u16, _), arguments: &[Argument]| {
        let call =
            Call { procedure, kind, table: 0, arguments, bytes: &[], pause: model::Nanos(0) };
        engine.server().expect("a server").statements(&call, true).expect("it answers")
    };
    let found = &of(IN_LIST, &arguments)[0];
    let plan = found.plan.as_deref().expect("it is explained");
    assert!(plan.starts_with("sale1 ") && plan.contains("PRIMARY"), "{plan}");
    assert!(found.text.contains("ANALYZE "), "{}", found.text);
    for (procedure, arguments) in [(DELETE, &arguments[..1]), (SET, &arguments[..2])] {
        let state = &of(procedure, arguments)[0];
        assert!(state.plan.is_some() && !state.text.contains("ANALYZE"), "{state:?}");
    }
    let mut rows = engine::Rows::new();
    let kind = model::OpKind::Get;
    let call = Call {
        procedure: IN_LIST.0,
        kind,
        table: 0,
        arguments: &arguments,
        bytes: &[],
        pause: model::Nanos(0),
    };
    session.execute(&Op::Call(call), &mut rows).expect("it is as before");
    assert_eq!(rows.count(), 3, "nothing was deleted");
}
