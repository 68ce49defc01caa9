//! Conformance of the Postgres driver: a server per directory, and a server it did not start.

#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

#[path = "live/newest.rs"]
mod newest;

use std::path::Path;

use driver_postgres::{DRIVER, KIND};
use engine::conformance::{battery, scratch_dir};
use engine::{Driver, Engine, EngineError, OpenSpec};
use model::{Capabilities, Durability, Endpoint, Identity, Options, Settings};
use newest::newest;
use server::testing::Served;

/// Returns a driver that starts a server per directory.
fn served(program: &Path) -> Served<driver_sql::SqlDriver> {
    // Servers write as much as they do: into memory, where there is room.
    drop(tempfile::env::override_temp_dir(&scratch_dir()));
    Served::new(&KIND, program, Path::new(env!("CARGO_TARGET_TMPDIR")), DRIVER)
}

/// Runs the battery over `protocol`.
fn conforms(driver: &dyn Driver, protocol: &str) {
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let options: Options = [("assay.protocol", protocol)].into_iter().collect();
    // What the battery checks only where a driver states it.
    let can = driver.capabilities();
    assert!(can.key_bytes_max.is_some() && can.value_bytes_max.is_some(), "{can:?}");
    battery(driver, &settings, &options);
}

#[test]
fn prepared_statements_conform() {
    let Some(program) = newest() else { return };
    conforms(&served(&program), "prepared");
}

/// A driver of directories on one server that Assay did not start.
struct Foreign(Endpoint);

impl Driver for Foreign {
    fn identity(&self) -> Identity {
        DRIVER.identity()
    }

    fn capabilities(&self) -> Capabilities {
        DRIVER.capabilities()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        DRIVER.open(&OpenSpec { endpoint: Some(self.0.clone()), ..spec.clone() })
    }
}

#[test]
fn statements_as_text_conform_on_a_foreign_server() {
    let Some(program) = newest() else { return };
    let dir = tempfile::tempdir_in(scratch_dir()).expect("a directory can be made");
    let data = model::DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 };
    let settings = Settings { durability: Durability::Sync, ..Settings::default() };
    let spec = OpenSpec::embedded(dir.path().to_owned(), settings, data);
    let running = served(&program).start(&spec).expect("the server starts");
    let endpoint = Endpoint { is_foreign: true, ..running.endpoint.clone() };
    conforms(&Foreign(endpoint), "text");
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let Some(program) = newest() else { return };
    served(&program).survives_server_crash();
}
