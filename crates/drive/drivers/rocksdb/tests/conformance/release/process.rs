//! Runs test bodies on RocksDB releases, in child processes.

use std::path::Path;

use engine::Driver;
use engine::conformance::{Absent, TestRun};

/// Runs `body` on a release, or prints why it is skipped.
///
/// `test` is the calling test's name. Nothing is skipped where `CI` is `true`.
pub(crate) fn on_release(version: &str, test: &str, body: impl FnOnce(&dyn Driver)) -> TestRun {
    on_library(version, test, |path| {
        body(&*driver_rocksdb::open_library(path).expect("the library of a release loads"));
    })
}

/// Runs `body` on the path of a release's library, before anything is loaded.
pub(crate) fn on_library(version: &str, test: &str, body: impl FnOnce(&Path)) -> TestRun {
    let library = || match supply::testing::build(&format!("rocksdb@{version}")) {
        Ok(artifact) => Ok(artifact.library),
        Err(reason) => Err(Absent::Required(reason)),
    };
    engine::conformance::on_library(test, library, body)
}
