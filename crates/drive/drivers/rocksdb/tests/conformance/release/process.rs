//! Runs a test's body in a child process, since a process takes one RocksDB library.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::Driver;
use model::BuildRef;
use supply::{Store, default_cache_dir};

/// Tells the child which library to load.
const LIBRARY: &str = "ASSAY_TEST_ROCKSDB";

/// Where a test's body ran.
pub(crate) enum Ran {
    /// In this process, which is the child.
    Here,
    /// In the child, which printed this.
    InChild(String),
    /// Nowhere; the reason is printed.
    Nowhere,
}

/// Runs `body` on a release, or prints why it is skipped; `test` is the calling test's name.
///
/// Where `CI` is `true` nothing is skipped.
pub(crate) fn on_release(version: &str, test: &str, body: impl FnOnce(&dyn Driver)) -> Ran {
    on_library(version, test, |path| {
        body(&*driver_rocksdb::open_library(path).expect("the library of a release loads"));
    })
}

/// Runs `body` on the path of a release's library, before anything is loaded.
pub(crate) fn on_library(version: &str, test: &str, body: impl FnOnce(&Path)) -> Ran {
    if let Some(path) = variable(LIBRARY) {
        body(Path::new(&path));
        return Ran::Here;
    }
    let path = match library(version) {
        Ok(path) => path,
        Err(reason) if variable("CI").as_deref() == Some("true") => panic!("{reason}"),
        Err(reason) => {
            println!("skipped: {reason}");
            return Ran::Nowhere;
        }
    };
    let program = env::current_exe().expect("a test knows its program");
    let child = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env(LIBRARY, path)
        .env("TMPDIR", scratch_dir())
        .output()
        .expect("the test's program starts");
    let output = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "rocksdb@{version}: {}\n{output}", child.status);
    // A wrong name would run no test, and pass.
    assert!(output.contains("1 passed"), "`{test}` is not the name of the calling test\n{output}");
    Ran::InChild(output.into_owned())
}

/// Returns where the child makes its databases: in memory where the system offers it.
///
/// RocksDB syncs every file it makes; the small memtables of tests make it a hundred a second.
fn scratch_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { env::temp_dir() }
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
