//! The simulated disk of a run: its data directory, where events on the disk are planned.
//!
//! It is mounted in a mount namespace of this thread, the server and the worker: whatever kills
//! Assay, no mount is left.

use std::fs;
use std::path::Path;

use crashfs::{Disk, Mounted, Names, enter_namespace};
use model::SIMULATED_DATA_MAX;

use crate::error::RunnerError;

/// Checks that a disk can be mounted here; mounts nothing.
///
/// # Errors
/// [`RunnerError::SimulatedDisk`] with what is missing, and the remedy.
pub(crate) fn check() -> Result<(), RunnerError> {
    Disk::check()?;
    // The namespace ends with its thread.
    let entered = std::thread::spawn(enter_namespace).join();
    Ok(entered.expect("it does not panic")?)
}

/// Mounts an empty disk at a directory, which is made if it is missing.
///
/// # Errors
/// What is missing, with the remedy.
pub(super) fn mount(dir: &Path) -> Result<Mounted, RunnerError> {
    fs::create_dir_all(dir).map_err(|error| RunnerError::DataDir(dir.into(), error))?;
    // Changed pages are in memory twice until they are synced.
    Ok(Disk::new(Names::Own, 2 * SIMULATED_DATA_MAX.0).mount(dir)?)
}
