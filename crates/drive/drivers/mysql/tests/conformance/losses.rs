//! Connections that are lost.

use engine::{EngineError, Session};

use crate::application::{ALL, KILL, sales};
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
