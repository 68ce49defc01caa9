//! The newest Postgres that is tested.

use std::path::PathBuf;

/// The newest release, whose servers are tested in full.
pub(crate) const NEWEST: &str = "postgres@18.0";

/// Returns the program of the newest release; prints why if it cannot be had.
pub(crate) fn newest() -> Option<PathBuf> {
    match supply::testing::build(NEWEST) {
        Ok(artifact) => Some(artifact.library),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}
