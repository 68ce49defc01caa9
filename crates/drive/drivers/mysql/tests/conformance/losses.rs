//! Connections that are lost.

use engine::{EngineError, Rows, Session};
use model::sql::{Argument, Call};
use model::{Op, OpKind, Outcome};

use crate::application::{ALL, END, KILL, WHO, sales};
use crate::opened::{Place, call};
use crate::procedures::insert;

/// Has the server end the session's connection; returns what the statement that met it was told.
fn lose(session: &mut dyn Session) -> EngineError {
    // The statement itself may be interrupted, or already without its connection.
    let told = call(session, KILL, &[], &[]).err();
    match told {
        Some(error) if error.to_string().contains("connection lost") => error,
        _ => call(session, ALL, &[], &[]).expect_err("there is no connection"),
    }
}

pub(crate) fn a_lost_connection_fails_one_statement_and_is_made_again(place: &Place) {
    let (engine, _dir) = place.open(sales());
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 1).expect("rows are inserted");
    let error = lose(&mut *session);
    assert!(matches!(error, EngineError::Timeout(_)), "{error:?}");
    let (_, rows, _) = call(&mut *session, ALL, &[], &[]).expect("it was made again");
    assert_eq!(rows, 3);
    assert_eq!(insert(&mut *session, 1), Ok(3), "statements are prepared again");
    let state = engine.state().expect("the server answers");
    assert_eq!(state.readings.get("client_reconnects"), Some(&1.0));
}

/// Sends calls without values ahead, and returns how they ended.
fn ahead(
    session: &mut dyn Session,
    procedures: &[(u16, OpKind)],
) -> Vec<Result<Outcome, EngineError>> {
    let pipeline = session.pipeline().expect("it takes operations ahead");
    for &(procedure, kind) in procedures {
        let call = Call { procedure, kind, table: 0, arguments: &[], bytes: b"" };
        assert_eq!(pipeline.submit(&Op::Call(call)), Ok(true), "it is prepared");
    }
    let mut rows = Rows::new();
    procedures.iter().map(|_| pipeline.complete(&mut rows)).collect()
}

pub(crate) fn what_is_in_flight_is_lost_with_its_connection(place: &Place) {
    let (engine, _dir) = place.open(sales());
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 1).expect("rows are inserted");
    call(&mut *session, ALL, &[], &[]).expect("it is prepared");
    assert_eq!(ahead(&mut *session, &[ALL, ALL]), [Ok(Outcome::Done), Ok(Outcome::Done)]);
    let (_, _, kept) = call(&mut *session, WHO, &[], &[]).expect("the server tells");
    let id: i64 = kept[0].0.parse().expect("it is a number");
    let mut other = engine.session().expect("there is room");
    call(&mut *other, END, &[Argument::Integer(id)], &[]).expect("it may end it");
    let ends = ahead(&mut *session, &[ALL, ALL, ALL]);
    let is_lost = |end: &Result<_, _>| matches!(end, Err(EngineError::Timeout(_)));
    assert!(ends.len() == 3 && ends.iter().all(is_lost), "{ends:?}");
    let (_, rows, _) = call(&mut *session, ALL, &[], &[]).expect("it was made again");
    assert_eq!(rows, 3);
}

pub(crate) fn a_session_gives_up_after_a_few_losses(place: &Place) {
    let (engine, _dir) = place.open(sales());
    let mut session = engine.session().expect("there is room");
    for _ in 0..3 {
        assert!(matches!(lose(&mut *session), EngineError::Timeout(_)));
    }
    let error = lose(&mut *session);
    assert!(matches!(&error, EngineError::Fatal(text) if text.contains("3 times")), "{error:?}");
    assert!(matches!(call(&mut *session, ALL, &[], &[]), Err(EngineError::Fatal(_))));
    assert!(engine.session().is_ok(), "others are let in");
}
