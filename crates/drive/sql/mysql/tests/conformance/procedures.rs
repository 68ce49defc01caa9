//! Procedure calls, prepared and as text.

use engine::{Engine, EngineError, Session};
use model::sql::Argument;
use model::{Bounds, Call, OpKind, Outcome};

use crate::application::{
    ALL, BROKEN, COLUMNS, DEFINE, DELETE, IN_LIST, INSERT, MOVE, ROWS, SET, sales,
};
use crate::fixture::{Fixture, call, while_row_is_held};

/// Text of the rows, with everything that needs quoting.
const DATA: &[u8] = b"it's \\ 'quoted' \"so\"\0 and ends";

/// The text that [`DATA`] is.
const TEXT: Argument = Argument::Text { start: 0, end: 30 };

/// Returns the values of one batch of rows, the first for customer `customer`.
fn batch(customer: i64) -> Vec<Argument> {
    (0..i64::from(ROWS))
        .flat_map(|row| {
            [
                Argument::Moment(1_700_000_000 + row),
                Argument::Integer(customer + row),
                Argument::Real(0.25 * f64::from(i32::try_from(row).expect("it is small"))),
                TEXT,
            ]
        })
        .collect()
}

/// Inserts one batch of rows, the first for customer `customer`.
pub(crate) fn insert(session: &mut dyn Session, customer: i64) -> Result<u64, EngineError> {
    call(session, INSERT, &batch(customer), DATA).map(|(_, rows, _)| rows)
}

/// Goal: the check finds an update of a wrong type, on a server that Assay did not start too.
/// Method: the rows of a checked insert are there; without rows MySQL evaluates no value.
pub(crate) fn wrong_type_of_an_update_is_found_by_the_check(fixture: &Fixture) {
    let (mut spec, _dir) = fixture.fresh(Some(sales()));
    spec.endpoint.as_mut().expect("it has one").is_foreign = true;
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let check = |(procedure, kind): (u16, OpKind), arguments: &[Argument]| {
        engine.server().expect("a server").check_call(&Call {
            procedure,
            kind,
            table: 0,
            arguments,
            bytes: DATA,
            pause: model::Nanos(0),
        })
    };
    assert_eq!(check(INSERT, &batch(1)), Ok(()));
    assert_eq!(check(SET, &[Argument::Integer(7), Argument::Integer(1)]), Ok(()));
    let error = check(SET, &[TEXT, Argument::Integer(1)]).expect_err("the column is a number");
    assert!(error.to_string().contains("Incorrect integer value"), "{error}");
}

fn customers(session: &mut dyn Session) -> Vec<String> {
    call(session, ALL, &[], &[]).expect("the rows are read").2
}

/// Goal: both protocols return the same rows.
/// Method: the same calls over both; rows are compared by first field, a text.
pub(crate) fn prepared_and_text_give_the_same_rows(fixture: &Fixture) {
    let observed = ["prepared", "text"].map(|protocol| {
        let (mut spec, _dir) = fixture.fresh(Some(sales()));
        spec.options.set("assay.protocol", protocol);
        let engine = fixture.driver.open(&spec).expect("the server is good");
        let mut session = engine.session().expect("there is room");
        calls(&mut *session, &*engine)
    });
    assert_eq!(observed[0], observed[1]);
    let [ids, at, price, data, minus] = &observed[0][..] else { panic!("{observed:?}") };
    assert_eq!(ids[..], ["1", "4", "6"].map(str::to_owned));
    assert_eq!(at[0], "2023-11-14 22:13:20");
    assert_eq!(price[..], ["0", "0", "0.25", "0.5"].map(str::to_owned));
    assert_eq!(data[0].as_bytes(), DATA);
    assert_eq!(minus[..], ["-7", "-70", "-71", "-72"].map(str::to_owned));
}

/// Makes every kind of call and returns the first fields of the rows of each read.
fn calls(session: &mut dyn Session, engine: &dyn Engine) -> Vec<Vec<String>> {
    assert_eq!(insert(session, 7), Ok(3));
    assert_eq!(insert(session, 70), Ok(3));
    let deleted = call(session, DELETE, &[Argument::Integer(2)], &[]).expect("rows are deleted");
    assert_eq!((deleted.0, deleted.1), (Outcome::Done, 2));
    let none = call(session, DELETE, &[Argument::Integer(200)], &[]).expect("no row is deleted");
    assert_eq!((none.0, none.1), (Outcome::Done, 0), "deleting what is absent succeeds");
    assert_eq!(
        engine.server().expect("a server").bounds(0, 0),
        Ok(Some(Bounds { first: 1, next: 7 }))
    );
    assert_eq!(
        engine.server().expect("a server").bounds(0, 1),
        Ok(Some(Bounds::default())),
        "the other client's is empty"
    );
    assert_eq!(engine.server().expect("a server").count_rows(0, 0), Ok(Some(4)));
    assert_eq!(engine.server().expect("a server").bounds(1, 0), Ok(None));
    call(session, DEFINE, &[], &[]).expect("the index is built");

    let integers = |ids: [i64; 3]| ids.map(Argument::Integer);
    let absent = call(session, IN_LIST, &integers([2, 3, 9]), &[]).expect("nothing is found");
    assert_eq!((absent.0, absent.1), (Outcome::NotFound, 0));
    let list = call(session, IN_LIST, &integers([6, 4, 1]), &[]).expect("rows are read");
    assert_eq!((list.0, list.1), (Outcome::Done, 3));
    let mut observed = vec![list.2];
    for column in COLUMNS {
        observed.push(call(session, column, &[], &[]).expect("rows are read").2);
    }
    observed
}

pub(crate) fn failed_transaction_is_rolled_back(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut session = engine.session().expect("there is room");
    insert(&mut *session, 10).expect("rows are inserted");
    let first = [Argument::Integer(1)];
    let (outcome, rows, _) = call(&mut *session, MOVE, &first, &[]).expect("it is done");
    assert_eq!((outcome, rows), (Outcome::Done, 2));
    assert_eq!(customers(&mut *session), ["9", "12", "12"]);
    let error = call(&mut *session, BROKEN, &first, &[]).expect_err("there is no such column");
    assert!(matches!(&error, EngineError::Fatal(text) if text.contains("1054")), "{error:?}");
    assert_eq!(customers(&mut *session), ["9", "12", "12"]);
}

/// Goal: a lock timeout is a timeout, a deadlock a conflict or a timeout.
/// Method: one client holds a row, the other updates it.
pub(crate) fn conflicts_and_timeouts_are_distinguished(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    insert(&mut *engine.session().expect("there is room"), 10).expect("rows are inserted");
    let first = [Argument::Integer(1)];
    let mut session = engine.session().expect("there is room");
    while_row_is_held(&*engine, || {
        let error = call(&mut *session, MOVE, &first, &[]).expect_err("the row is held");
        assert!(matches!(&error, EngineError::Timeout(text) if text.contains("1205")), "{error:?}");
    });
    call(&mut *session, MOVE, &first, &[]).expect("the row is free again");
}
