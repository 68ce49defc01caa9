//! Conformance of the Postgres driver; a server per directory.

#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

#[path = "live/program.rs"]
mod program;

use driver_postgres::{KIND, PostgresDriver};
use engine::conformance::battery;
use model::{Durability, Options, Settings};
use server::testing::Served;

/// Runs the battery on the newest server found, over `protocol`.
fn conforms(protocol: &str) {
    let Some(program) = program::programs().pop() else { return };
    let driver = Served::new(&KIND, &program, PostgresDriver);
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let options: Options = [("assay.protocol", protocol)].into_iter().collect();
    battery(&driver, &settings, &options);
}

#[test]
fn prepared_statements_conform() {
    conforms("prepared");
}

#[test]
fn statements_as_text_conform() {
    conforms("text");
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let Some(program) = program::programs().pop() else { return };
    Served::new(&KIND, &program, PostgresDriver).survives_server_crash();
}
