//! MySQL and MariaDB against the oracle, and what their driver promises beside it.
//!
//! A server ends with the thread that has started it, so each test has one server. Of the
//! battery, each directory is a database of it; of the promises, each is a function with one of
//! its own.

mod application;
mod crash;
mod databases;
mod logins;
mod losses;
mod opened;
mod procedures;
mod refusals;
mod started;
mod tables;
mod upkeep;

use databases::Databases;
use engine::Driver;
use engine::conformance::battery;
use model::{Durability, Options, Settings};
use opened::Place;
use started::Build;

/// Runs the battery on a server of that build.
fn conforms(
    build: Option<Build>,
    driver: Box<dyn Driver>,
    server: &[(&str, &str)],
    protocol: &str,
) {
    let Some(build) = build else { return };
    let server = build.start(server).expect("the server starts");
    let driver = Databases::new(&server, driver);
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let options: Options = [("assay.protocol", protocol)].into_iter().collect();
    battery(&driver, &settings, &options);
}

#[test]
fn mysql_conforms() {
    conforms(Build::get("mysql@8.0.31"), driver_mysql::driver(), &[], "prepared");
}

#[test]
fn old_mysql_conforms() {
    conforms(Build::cached("mysql@5.6.24"), driver_mysql::driver(), &[], "prepared");
}

#[test]
fn mariadb_conforms_with_statements_as_text() {
    conforms(Build::get("mariadb@10.11"), driver_mysql::mariadb(), &[], "text");
}

#[test]
fn myrocks_conforms() {
    let options = [("default-storage-engine", "ROCKSDB")];
    conforms(Build::get("mariadb@10.11"), driver_mysql::mariadb(), &options, "prepared");
}

#[test]
fn innodb_and_myrocks_keep_what_was_answered_when_they_are_killed() {
    let Some(build) = Build::get("mariadb@10.11") else { return };
    for options in [&[][..], &[("default-storage-engine", "ROCKSDB")]] {
        crash::survives(&build, &*driver_mysql::mariadb(), options);
    }
}

/// Claims that hold of every server.
const CLAIMS: [fn(&Place); 10] = [
    procedures::prepared_and_text_give_the_same_rows,
    procedures::a_transaction_that_fails_leaves_nothing,
    procedures::conflicts_and_time_outs_are_told_apart,
    losses::a_lost_connection_fails_one_statement_and_is_made_again,
    losses::what_is_in_flight_is_lost_with_its_connection,
    losses::a_session_gives_up_after_a_few_losses,
    tables::leftovers_are_dropped_and_strangers_left_alone,
    tables::a_run_finds_its_tables_again,
    tables::a_database_has_one_run_at_a_time,
    upkeep::state_identity_and_options_are_told,
];

/// Locks are waited for a second; the last options are those of `MyRocks`.
const WAITS: [(&str, &str); 3] = [
    ("innodb_lock_wait_timeout", "1"),
    ("rocksdb-lock-wait-timeout", "1"),
    ("default-storage-engine", "rocksdb"),
];

#[test]
fn mysql_keeps_its_promises() {
    let Some(build) = Build::get("mysql@8.0.31") else { return };
    let server = build.start(&WAITS[..1]).expect("the server starts");
    let place = Place::new(&server, driver_mysql::driver());
    CLAIMS.iter().for_each(|claim| claim(&place));
    logins::mysql_lets_in_by_native_and_sha2_passwords(&place);
    logins::wrong_logins_are_refused_with_a_remedy(&place);
    upkeep::innodb_comes_to_rest(&place);
}

#[test]
fn mariadb_and_myrocks_keep_their_promises() {
    let Some(build) = Build::get("mariadb@10.11") else { return };
    refusals::options_are_refused_in_the_server_s_words(&build);
    let server = build.start(&WAITS).expect("the server starts");
    let place = Place::new(&server, driver_mysql::mariadb());
    CLAIMS.iter().for_each(|claim| claim(&place));
    logins::wrong_logins_are_refused_with_a_remedy(&place);
    upkeep::myrocks_flushes_and_compacts(&place);
}
