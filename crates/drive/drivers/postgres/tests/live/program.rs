//! Postgres programs of the cache.

use std::path::PathBuf;

use crate::newest::NEWEST;

/// Releases that are tested, the newest last.
const BUILDS: [&str; 3] = ["postgres@12.20", "postgres@15.10", NEWEST];

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
