//! MySQL and MariaDB against the oracle: each directory of the battery is a database of one server.

mod started;

use engine::Driver;
use engine::conformance::battery;
use model::{Durability, Options, Settings};
use started::{Databases, start};

/// Runs the battery on a server of that build.
fn conforms(build: &str, driver: Box<dyn Driver>, server: &[(&str, &str)], protocol: &str) {
    let Some(server) = start(build, server) else { return };
    let driver = Databases { kind: server.kind, endpoint: server.endpoint(), driver };
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let options: Options = [("assay.protocol", protocol)].into_iter().collect();
    battery(&driver, &settings, &options);
}

#[test]
fn mysql_conforms() {
    conforms("mysql@8.0.31", driver_mysql::driver(), &[], "prepared");
}

#[test]
fn mariadb_conforms_with_statements_as_text() {
    conforms("mariadb@10.11", driver_mysql::mariadb(), &[], "text");
}

#[test]
fn myrocks_conforms() {
    let options = [("default-storage-engine", "ROCKSDB")];
    conforms("mariadb@10.11", driver_mysql::mariadb(), &options, "prepared");
}
