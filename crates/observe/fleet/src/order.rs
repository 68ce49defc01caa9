//! What a machine needs to run a block.

use std::path::PathBuf;

use model::{Bytes, Manifest, Nanos};
use serde::{Deserialize, Serialize};

/// What every machine of an experiment needs, next to the builds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The experiment, with all its cells.
    pub manifest: Manifest,
    /// SHA-256 of the file with the builds; `None` if every build is linked.
    pub builds: Option<String>,
    /// Limits of each run.
    pub limits: RunLimits,
    /// Directory for the data of running engines; one below `/var/tmp` if absent.
    pub data_dir: Option<PathBuf>,
    /// Directory for the builds there; the cache of the account if absent.
    pub cache_dir: Option<PathBuf>,
    /// Address at which client hosts reach the servers of this machine, if there are any.
    pub address: Option<String>,
}

/// Limits of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunLimits {
    /// Longest time without a finished operation.
    pub watchdog: Nanos,
    /// Disk space that stays free.
    pub disk_floor: Bytes,
    /// Largest space for saved databases.
    pub snapshot_limit: Option<Bytes>,
}

impl Order {
    /// Returns the number of blocks.
    pub fn blocks(&self) -> u32 {
        self.manifest.plan.cells.iter().map(|cell| cell.repetition).max().unwrap_or(0)
    }
}
