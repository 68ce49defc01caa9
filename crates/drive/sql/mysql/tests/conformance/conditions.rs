//! Variables of sessions and limits of accounts, found before anything is loaded.

use engine::EngineError;
use model::sql::Application;
use model::{Endpoint, Password};

use crate::application::{DEFINE, sales, statement};
use crate::fixture::{Fixture, call};
use crate::logins::with_statements;

/// An application whose definition executes these statements.
fn defining(statements: &[&str]) -> Application {
    let mut application = sales();
    let define = &mut application.procedures[usize::from(DEFINE.0)];
    define.statements.mysql = statements.iter().map(|text| statement(text)).collect();
    application
}

/// Goal: variables that end a run are named with the need and the remedy, and so is the other kind
/// of server.
pub(crate) fn variables_that_end_a_run_are_found_by_name(fixture: &Fixture) {
    let bad = [
        "SET GLOBAL autocommit = 0",
        "SET GLOBAL wait_timeout = 5",
        "SET GLOBAL max_join_size = 100",
        // It limits the answers from which the others are read, too.
        "SET GLOBAL sql_select_limit = 1",
    ];
    let good = [
        "SET GLOBAL autocommit = 1",
        "SET GLOBAL wait_timeout = 28800",
        "SET GLOBAL max_join_size = DEFAULT",
        "SET GLOBAL sql_select_limit = DEFAULT",
    ];
    let [(bad, _one), (good, _other)] =
        [bad, good].map(|statements| fixture.open(defining(&statements)));
    let [mut bad, mut good] = [&bad, &good].map(|engine| engine.session().expect("there is room"));
    call(&mut *bad, DEFINE, &[], &[]).expect("they are set");
    let (spec, _dir) = fixture.fresh(None);
    let error = fixture.driver.open(&spec).err().expect("it is refused").to_string();
    call(&mut *good, DEFINE, &[], &[]).expect("they are set back");
    for part in [
        "autocommit = OFF: ",
        "SET GLOBAL autocommit = 1",
        "wait_timeout = 5: ",
        "max_join_size = 100: ",
        "sql_select_limit = 1: ",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let engine = fixture.driver.open(&spec).expect("the server is good again");
    assert_eq!(engine.check_clients(2), Ok(()));
    let error = engine.check_clients(1 << 20).expect_err("there is no room").to_string();
    assert!(error.contains("max_prepared_stmt_count"), "{error}");
    drop(engine);

    let (mut spec, _dir) = fixture.fresh(None);
    spec.endpoint.as_mut().expect("it has one").is_foreign = true;
    let is_mysql = fixture.driver.identity().engine == "mysql";
    let other = if is_mysql { driver_mysql::mariadb() } else { driver_mysql::driver() };
    let error = other.open(&spec).err().expect("it is of the other kind").to_string();
    let name = if is_mysql { "mysql" } else { "mariadb" };
    assert!(error.contains(&format!("write engine = \"{name}\"")), "{error}");
}

/// Goal: limits of an account are named before its clients meet them.
pub(crate) fn limits_of_an_account_are_found_by_name(fixture: &Fixture) {
    let made = [
        "CREATE USER few@localhost IDENTIFIED BY 'hush' WITH MAX_USER_CONNECTIONS 9",
        "GRANT ALL ON *.* TO few@localhost",
    ];
    let (engine, _dir) = fixture.open(with_statements(&made.map(str::to_owned)));
    drop(engine);
    let (mut spec, _dir) = fixture.fresh(None);
    let endpoint = spec.endpoint.take().expect("it is a server");
    let (user, password) = ("few".to_owned(), Some(Password("hush".to_owned())));
    spec.endpoint = Some(Endpoint { user, password, is_foreign: true, ..endpoint });
    let engine = fixture.driver.open(&spec).expect("the server is good");
    assert_eq!(engine.check_clients(2), Ok(()));
    let error = engine.check_clients(5).expect_err("there is no room");
    let EngineError::Fatal(text) = error else { panic!("{error}") };
    assert!(text.contains("max_user_connections = 9: "), "{text}");
    assert!(text.contains("need 10 connections"), "{text}");
}
