//! Conformance of the MySQL and MariaDB driver.
//!
//! A server ends with the thread that started it, so each test has one server. The battery of
//! `engine::conformance` uses a database of it per directory; each further claim is a function
//! with a database of its own.

mod application;
mod conditions;
mod crash;
mod databases;
mod disconnects;
mod durability;
mod fixture;
mod locks;
mod logins;
mod maintenance;
mod ownership;
mod parts;
mod poolers;
mod procedures;
mod rejected_options;
mod sessions;
mod standby;
mod tables;
mod test_server;
mod waits;

use databases::Databases;
use engine::conformance::{battery, scratch_dir};
use fixture::Fixture;
use model::{Durability, Options, Settings};
use test_server::Build;

/// Runs the battery on a server of that build.
fn conforms(build: &str, server: &[(&str, &str)], protocol: &str) {
    let Some(build) = Build::get(build) else { return };
    // The battery claims every class, which a stronger server has too.
    let dir = tempfile::tempdir_in(scratch_dir()).expect("a directory can be made");
    let server = build.start_in(dir, Durability::Sync, server).expect("the server starts");
    let driver = Databases::new(&server, build.driver());
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let options: Options = [("assay.protocol", protocol)].into_iter().collect();
    battery(&driver, &settings, &options);
}

#[test]
fn mysql_conforms() {
    conforms("mysql@8.0.31", &[], "prepared");
}

#[test]
fn old_mysql_conforms() {
    conforms("mysql@5.6.24", &[], "prepared");
}

/// Goal: a release without `ALTER USER ... IDENTIFIED BY` gets its password too.
#[test]
fn old_mysql_requires_its_password() {
    let Some(build) = Build::get("mysql@5.6.24") else { return };
    let server = build.start(&[]).expect("the server starts");
    let fixture = Fixture::new(&server, build.driver());
    logins::server_is_confined_and_requires_its_password(&server, &fixture);
}

#[test]
fn mariadb_conforms_with_statements_as_text() {
    conforms("mariadb@10.11", &[], "text");
}

#[test]
fn myrocks_conforms() {
    let options = [("default-storage-engine", "ROCKSDB")];
    conforms("mariadb@10.11", &options, "prepared");
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let Some(build) = Build::get("mariadb@10.11") else { return };
    for options in [&[][..], &[("default-storage-engine", "ROCKSDB")]] {
        crash::survives(&build, options);
    }
}

#[test]
fn variables_and_tables_of_a_synced_server_are_read_back() {
    for build in Build::all(&["mariadb@10.11", "mysql@8.0.31"]) {
        durability::a_synced_server_has_its_class(&build);
    }
}

/// Claims about every server.
const CLAIMS: [fn(&Fixture); 30] = [
    conditions::variables_that_end_a_run_are_found_by_name,
    conditions::limits_of_an_account_are_found_by_name,
    procedures::wrong_type_of_an_update_is_found_by_the_check,
    procedures::prepared_and_text_give_the_same_rows,
    procedures::failed_transaction_is_rolled_back,
    procedures::conflicts_and_timeouts_are_distinguished,
    sessions::a_transaction_is_held_open_until_the_next,
    disconnects::lost_connection_fails_one_statement_and_is_replaced,
    disconnects::statements_in_flight_are_lost_with_the_connection,
    disconnects::session_fails_after_repeated_losses,
    tables::leftovers_are_dropped_and_foreign_tables_left_alone,
    tables::run_reuses_its_tables,
    tables::second_run_on_a_database_is_rejected,
    ownership::table_created_anew_by_a_user_is_refused_and_its_row_survives,
    ownership::view_is_refused_and_a_name_of_other_case_survives,
    ownership::routine_created_anew_by_a_user_is_refused_and_survives,
    ownership::leftovers_that_refer_to_each_other_are_dropped_and_no_table_of_a_user,
    ownership::tables_are_marked_whatever_their_statements,
    ownership::marks_without_identity_are_refused_with_the_remedy,
    locks::set_up_that_waits_for_a_lock_ends_and_names_the_holder,
    locks::statements_after_the_set_up_end_and_name_the_holder,
    locks::second_run_names_the_session_of_the_first,
    maintenance::state_identity_and_options_are_reported,
    parts::parts_of_values_are_changed_and_read,
    poolers::a_pooler_with_a_session_for_each_connection_is_a_fact,
    poolers::poolers_that_share_sessions_are_refused_and_leave_no_lock,
    durability::a_server_s_variables_limit_the_class,
    durability::tables_without_a_log_have_no_class,
    waits::row_locks_are_sampled_as_waits,
    waits::statements_have_plans,
];

/// Lock timeouts of one second; the last options are those of `MyRocks`.
const OPTIONS: [(&str, &str); 3] = [
    ("innodb_lock_wait_timeout", "1"),
    ("rocksdb-lock-wait-timeout", "1"),
    ("default-storage-engine", "rocksdb"),
];

#[test]
fn mysql_meets_the_claims() {
    let Some(build) = Build::get("mysql@8.0.31") else { return };
    let totals = ("performance_schema", "ON");
    let server = build.start(&[OPTIONS[0], totals]).expect("the server starts");
    let fixture = Fixture::new(&server, build.driver());
    logins::server_is_confined_and_requires_its_password(&server, &fixture);
    CLAIMS.iter().for_each(|claim| claim(&fixture));
    logins::mysql_accepts_native_and_sha2_passwords(&fixture);
    logins::wrong_logins_are_rejected_with_a_remedy(&fixture);
    maintenance::innodb_becomes_idle(&fixture);
    waits::totals_are_those_of_the_calls(&fixture, &["text", "prepared"]);
}

#[test]
fn mariadb_and_myrocks_meet_the_claims() {
    let Some(build) = Build::get("mariadb@10.11") else { return };
    rejected_options::rejected_options_carry_the_server_message(&build);
    let server = build.start(&OPTIONS).expect("the server starts");
    let fixture = Fixture::new(&server, build.driver());
    logins::server_is_confined_and_requires_its_password(&server, &fixture);
    CLAIMS.iter().for_each(|claim| claim(&fixture));
    logins::wrong_logins_are_rejected_with_a_remedy(&fixture);
    logins::mariadb_takes_the_method_that_is_spoken(&fixture);
    durability::aria_tables_are_safe_when_transactional(&fixture);
    maintenance::myrocks_flushes_and_compacts(&fixture);
    sessions::myrocks_has_statements_of_its_own(&fixture);
}

#[test]
fn mariadb_and_old_mysql_count_statements() {
    for build in Build::all(&["mariadb@10.11", "mysql@5.6.24"]) {
        let server = build.start(&[("performance_schema", "ON")]).expect("the server starts");
        // These count no execution of what is prepared.
        waits::totals_are_those_of_the_calls(&Fixture::new(&server, build.driver()), &["text"]);
    }
}

/// Goal: every release lets clients in by TCP, with names resolved and without.
#[test]
fn own_servers_are_reached_by_tcp() {
    for build in Build::all(&["mysql@8.0.31", "mariadb@10.11", "mysql@5.6.24"]) {
        for resolve in ["OFF", "ON"] {
            let options = [("assay.transport", "tcp"), ("skip_name_resolve", resolve)];
            let server = build.start(&options).expect("the server starts");
            sessions::an_own_server_is_reached_by_tcp(
                &server,
                &Fixture::new(&server, build.driver()),
                "127.0.0.1",
            );
        }
    }
}

/// Goal: every release lets clients on other machines in, whatever its transport.
#[test]
fn own_servers_are_reached_at_an_address() {
    for build in Build::all(&["mysql@8.0.31", "mariadb@10.11", "mysql@5.6.24"]) {
        let build = build.reached_at("127.0.0.2");
        let server = build.start(&[("assay.transport", "unix")]).expect("the server starts");
        let fixture = Fixture::new(&server, build.driver());
        sessions::an_own_server_is_reached_by_tcp(&server, &fixture, "127.0.0.2");
    }
}

#[test]
fn connections_are_encrypted() {
    let Some(build) = Build::get("mysql@8.0.31") else { return };
    let options = [("assay.transport", "tcp"), ("auto_generate_certs", "ON")];
    let server = build.start(&options).expect("the server starts");
    sessions::connections_are_encrypted(&server, &Fixture::new(&server, build.driver()));
}
