//! Waits of sessions, plans and totals of statements.

use std::sync::mpsc::sync_channel;
use std::thread;

use model::sql::{Argument, Call};
use model::{Op, WaitProfile};

use crate::application::{DELETE, HOLD, IN_LIST, MOVE, SET, sales};
use crate::fixture::{Fixture, call};
use crate::procedures::insert;

/// Most samples until something must have been found.
const SAMPLES_MAX: usize = 1_000;

/// Goal: a session that waits for a row lock is sampled in it.
/// Method: one client holds a row for two seconds, a background writer updates it.
pub(crate) fn row_locks_are_sampled_as_waits(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    insert(&mut *engine.session().expect("there is room"), 10).expect("rows are inserted");
    let first = [Argument::Integer(1)];
    thread::scope(|scope| {
        let mut sampler = engine.wait_sampler().expect("it answers").expect("it has one");
        let holder = scope.spawn(|| {
            let mut session = engine.session().expect("there is room");
            call(&mut *session, HOLD, &[Argument::Integer(1)], &[]).map(drop)
        });
        let mut profile = WaitProfile::default();
        // Until the row is held.
        let blocked = scope.spawn(|| {
            let mut writer = engine.writer_session().expect("there is room");
            (0..1000).find_map(|_| call(&mut *writer, MOVE, &first, &[]).err())
        });
        let is_locked = |profile: &WaitProfile| {
            let mut events = profile.writers.events.keys();
            events.any(|event| event.to_ascii_lowercase().ends_with("row lock"))
        };
        let (_open, never) = sync_channel::<()>(1);
        let found = (0..SAMPLES_MAX).any(|_| {
            // Nothing is sent: it is the pause between two samples.
            never.recv_timeout(sampler.least_pause()).expect_err("the sender is open");
            sampler.sample(&mut profile).expect("it answers");
            is_locked(&profile)
        });
        assert!(found, "{profile:?}");
        assert_eq!(holder.join().expect("no panic"), Ok(()));
        drop(blocked.join());
    });
}

/// Goal: every statement has its plan, one that only reads is executed; totals are those of the
/// calls. Method: a list is read ten times.
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
    let before = of(IN_LIST, &arguments);
    for _ in 0..10 {
        call(&mut *session, IN_LIST, &arguments, &[]).expect("rows are read");
    }
    let after = of(IN_LIST, &arguments);
    let [before, after] = [&before[0], &after[0]];
    let plan = after.plan.as_deref().expect("it is explained");
    assert!(plan.starts_with("sale1 ") && plan.contains("PRIMARY"), "{plan}");
    assert!(after.text.contains("ANALYZE "), "{}", after.text);
    if let Some(totals) = after.totals {
        let calls = before.totals.map_or(0, |totals| totals.calls);
        // Executed twice for the plans as well, under texts of their own.
        assert_eq!(totals.calls - calls, 10, "{before:?} {after:?}");
        assert_eq!(totals.examined, Some(3 * totals.calls), "{totals:?}");
    }
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
