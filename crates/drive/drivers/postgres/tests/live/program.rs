//! Postgres programs of the cache.

use std::path::PathBuf;

/// Releases that are tested, the newest last.
const BUILDS: [&str; 3] = ["postgres@12.20", "postgres@15.10", "postgres@18.0"];

/// Returns the programs that can be had, the newest last; prints which cannot.
pub(crate) fn programs() -> Vec<PathBuf> {
    let program = |build: &str| match supply::testing::server(build) {
        Ok(artifact) => Some(artifact.library),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    };
    BUILDS.into_iter().filter_map(program).collect()
}
