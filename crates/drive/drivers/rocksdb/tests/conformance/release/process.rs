//! Runs test bodies on RocksDB releases, in child processes.

use std::env;
use std::path::{Path, PathBuf};

use engine::Driver;
use engine::conformance::{Absent, TestRun};
use model::BuildRef;
use supply::{Store, default_cache_dir};

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
    engine::conformance::on_library(test, || library(version).map_err(Absent::Required), body)
}

/// Returns the path of a release's library, fetched when it is not cached.
fn library(version: &str) -> Result<PathBuf, String> {
    let (home, xdg) = (variable("HOME"), variable("XDG_CACHE_HOME"));
    let dir = default_cache_dir(home.as_deref(), xdg.as_deref()).ok_or("no home directory")?;
    let store = Store::open(dir).map_err(|error| error.to_string())?;
    let build = BuildRef { engine: "rocksdb".to_owned(), version: Some(version.to_owned()) };
    let mut progress = |line: &str| println!("{line}");
    let artifact = store.get(&build, &mut progress).map_err(|error| error.to_string())?;
    Ok(artifact.library)
}

#[expect(clippy::disallowed_methods, reason = "a test has no program that reads it first")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
