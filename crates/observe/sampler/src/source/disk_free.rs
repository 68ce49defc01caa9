//! Free space of the file system the data lies on.

use std::path::{Path, PathBuf};

use model::Readings;

use crate::error::SampleError;
use crate::kernel_file::put;
use crate::sampler::Sampler;

/// Reads the free space.
pub(crate) struct DiskFreeSampler {
    dir: PathBuf,
}

impl DiskFreeSampler {
    /// Returns the sampler of the file system under `dir`.
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }
}

impl Sampler for DiskFreeSampler {
    fn metrics(&self) -> &'static [&'static str] {
        &["disk_free_bytes"]
    }

    fn sample(&mut self) -> Result<Readings, SampleError> {
        let space = rustix::fs::statvfs(&self.dir)
            .map_err(|error| SampleError::read(&self.dir)(error.into()))?;
        let mut readings = Readings::new();
        // What this user may still take, not what is set aside for root.
        put(&mut readings, "disk_free_bytes", space.f_bavail.checked_mul(space.f_frsize));
        Ok(readings)
    }
}
