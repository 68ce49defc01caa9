//! Lost connections.

use engine::{EngineError, Rows, Session};
use model::sql::{Argument, Call};
use model::{Op, OpKind, Outcome};

use crate::application::{ALL, END, KILL, WHO, sales};
use crate::fixture::{Fixture, call};
use crate::procedures::insert;

/// Makes the server close the session's connection; returns the error of the next statement.
fn disconnect(session: &mut dyn Session) -> EngineError {
    // The statement itself may be interrupted, or already without its connection.
    let error = call(session, KILL, &[], &[]).err();
    match error {
        Some(error) if error.to_string().contains("connection lost") => error,
        _ => call(session, ALL, &[], &[]).expect_err("there is no connection"),
    }
}

pub(crate) fn lost_connection_fails_one_statement_and_is_replaced(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 1).expect("rows are inserted");
    let error = disconnect(&mut *session);
    assert!(matches!(error, EngineError::LostConnection(_)), "{error:?}");
    let (_, rows, _) = call(&mut *session, ALL, &[], &[]).expect("it was made again");
    assert_eq!(rows, 3);
    assert_eq!(insert(&mut *session, 1), Ok(3), "statements are prepared again");
    let state = engine.state().expect("the server answers");
    assert_eq!(state.readings.get("client_reconnects"), Some(&1.0));
}

/// Pipelines calls without values and returns their results.
fn pipelined(
    session: &mut dyn Session,
    procedures: &[(u16, OpKind)],
) -> Vec<Result<Outcome, EngineError>> {
    let pipeline = session.pipeline().expect("sessions are pipelined");
    for &(procedure, kind) in procedures {
        let call =
            Call { procedure, kind, table: 0, arguments: &[], bytes: b"", pause: model::Nanos(0) };
        assert_eq!(pipeline.submit(&Op::Call(call)), Ok(true), "it is prepared");
    }
    let mut rows = Rows::new();
    procedures.iter().map(|_| pipeline.complete(&mut rows)).collect()
}

pub(crate) fn statements_in_flight_are_lost_with_the_connection(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 1).expect("rows are inserted");
    call(&mut *session, ALL, &[], &[]).expect("it is prepared");
    assert_eq!(pipelined(&mut *session, &[ALL, ALL]), [Ok(Outcome::Done), Ok(Outcome::Done)]);
    let (_, _, stored) = call(&mut *session, WHO, &[], &[]).expect("the id is read");
    let id: i64 = stored[0].parse().expect("it is a number");
    let mut other = engine.session().expect("there is room");
    call(&mut *other, END, &[Argument::Integer(id)], &[]).expect("the connection is killed");
    let ends = pipelined(&mut *session, &[ALL, ALL, ALL]);
    let is_lost = |end: &Result<_, _>| matches!(end, Err(EngineError::LostConnection(_)));
    assert!(ends.len() == 3 && ends.iter().all(is_lost), "{ends:?}");
    let (_, rows, _) = call(&mut *session, ALL, &[], &[]).expect("it was made again");
    assert_eq!(rows, 3);
}

pub(crate) fn session_fails_after_repeated_losses(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut session = engine.session().expect("there is room");
    for _ in 0..3 {
        assert!(matches!(disconnect(&mut *session), EngineError::LostConnection(_)));
    }
    let error = disconnect(&mut *session);
    assert!(matches!(&error, EngineError::Fatal(text) if text.contains("3 times")), "{error:?}");
    assert!(matches!(call(&mut *session, ALL, &[], &[]), Err(EngineError::Fatal(_))));
    assert!(engine.session().is_ok(), "other sessions connect");
}
