//! Waits of sessions, plans and totals of statements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use engine::EngineError;
use model::sql::{Argument, Call};
use model::{Op, WaitProfile};

use crate::application::{COLUMNS, DELETE, IN_LIST, MOVE, SET, sales};
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
    let mut sampler = engine.wait_sampler().expect("it answers").expect("it has one");
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
/// Method: a table is read ten times, as text: what is prepared has no totals by its text.
pub(crate) fn totals_are_those_of_the_calls(fixture: &Fixture) {
    let (mut spec, _dir) = fixture.fresh(Some(sales()));
    spec.options.set("assay.protocol", "text");
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 7).expect("rows are inserted");
    let (procedure, kind) = COLUMNS[2];
    let totals = || {
        let call =
            Call { procedure, kind, table: 0, arguments: &[], bytes: &[], pause: model::Nanos(0) };
        engine.statements(&call, true).expect("it answers")[0].totals
    };
    let before = totals().map_or(0, |totals| totals.calls);
    for _ in 0..10 {
        call(&mut *session, COLUMNS[2], &[], &[]).expect("rows are read");
    }
    // Executed twice for the plans as well, under texts of their own.
    let after = totals().expect("the server collects them");
    assert_eq!(after.calls - before, 10, "{after:?}");
    assert_eq!(after.examined, Some(3 * after.calls), "{after:?}");
    assert!(after.server_us > 0.0, "{after:?}");
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
        engine.statements(&call, true).expect("it answers")
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
