//! Postgres programs of the cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::newest::NEWEST;

/// Releases that are tested, the newest last.
const BUILDS: [&str; 3] = ["postgres@11.22", "postgres@15.10", NEWEST];

/// Returns the programs that can be had, the newest last; prints which cannot.
pub(crate) fn programs() -> Vec<PathBuf> {
    let found = BUILDS.map(supply::testing::build);
    let is_part = found.iter().any(Result::is_ok);
    let program = |found| match found {
        Ok(supply::Artifact { library, .. }) => Some(library),
        Err(reason) => {
            println!("skipped{}: {reason}", if is_part { " in part" } else { "" });
            None
        }
    };
    found.into_iter().filter_map(program).collect()
}

/// Returns those of [`programs`] that have standbys and a wait event for the sync of the log.
pub(crate) fn programs_from_12() -> Vec<PathBuf> {
    let version = |program: &Path| Command::new(program).arg("--version").output().unwrap().stdout;
    let is_11 = |program: &PathBuf| String::from_utf8_lossy(&version(program)).contains(" 11.");
    programs().into_iter().filter(|program| !is_11(program)).collect()
}
