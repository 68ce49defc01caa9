//! Builds of engines and servers for the tests of all crates.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::BuildRef;

use crate::artifact::Artifact;
use crate::engines::Engines;
use crate::server::{MARIADB, MYSQL, POSTGRES};
use crate::store::{Store, default_cache_dir};

/// Returns a build (`postgres@15.10`, `rocksdb@9.10.0`) from the user's cache, fetched if absent.
///
/// A test that gets an error prints `skipped:` with it, unless the variable `CI` is `true`. The
/// files of a build are compared with their hashes once a process.
///
/// # Errors
/// When it cannot be fetched or does not run here.
///
/// # Panics
/// When it is unavailable and the variable `CI` is `true`: CI skips no test.
pub fn build(build: &str) -> Result<Artifact, String> {
    static FOUND: Mutex<BTreeMap<String, Result<Artifact, String>>> = Mutex::new(BTreeMap::new());
    let mut all = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.entry(build.to_owned()).or_insert_with(|| obtain(build)).clone();
    drop(all);
    if let (Err(reason), Some("true")) = (&found, variable("CI").as_deref()) {
        panic!("{reason}");
    }
    found
}

fn obtain(build: &str) -> Result<Artifact, String> {
    let build: BuildRef = build.parse()?;
    let (home, xdg) = (variable("HOME"), variable("XDG_CACHE_HOME"));
    let dir = default_cache_dir(home.as_deref(), xdg.as_deref()).ok_or("no home directory")?;
    let engines = Engines { servers: vec![POSTGRES, MYSQL, MARIADB], ..Engines::default() };
    let store = Store::open(dir).map_err(|error| error.to_string())?.with_engines(engines);
    // Concurrent tests wait here: one process at a time works on a build.
    let found = store.get(&build, &mut |_| ()).and_then(Artifact::open_to_all);
    found.map_err(|error| error.to_string())
}

#[expect(clippy::disallowed_methods, reason = "a test has no program that reads it first")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
