//! Where engines keep their data while they are measured.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;

use crate::error::RunnerError;

/// File that marks a directory as made by Assay.
const MARKER: &str = ".assay-data";

/// A directory of ours, below which each run gets its own and loses it when it ends.
#[derive(Debug, Clone)]
pub struct DataRoot {
    path: PathBuf,
}

impl DataRoot {
    /// Takes a directory: a new one, an empty one, or one taken before.
    ///
    /// # Errors
    /// [`RunnerError::NotOurs`] when it holds anything else.
    pub fn take(path: &Path) -> Result<Self, RunnerError> {
        let fail = |source: io::Error| RunnerError::DataDir { path: path.into(), source };
        fs::create_dir_all(path).map_err(fail)?;
        let path = fs::canonicalize(path).map_err(fail)?;
        let marker = path.join(MARKER);
        if !marker.exists() {
            if fs::read_dir(&path).map_err(fail)?.next().is_some() {
                return Err(RunnerError::NotOurs { path });
            }
            fs::write(&marker, "Made by assay; runs put their data here.\n").map_err(fail)?;
        }
        Ok(Self { path })
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the free space of its file system.
    ///
    /// # Errors
    /// When the file system does not answer.
    pub fn free(&self) -> Result<Bytes, RunnerError> {
        free_space(&self.path)
    }

    /// Makes a run's own empty directory; what a killed run of that name left is removed.
    pub(crate) fn fresh(&self, name: &str) -> Result<RunData, RunnerError> {
        let path = self.path.join(name);
        let fail = |source: io::Error| RunnerError::DataDir { path: path.clone(), source };
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        fs::create_dir(&path).map_err(fail)?;
        Ok(RunData { path })
    }
}

/// Returns the free space of the file system that `path` lies on.
///
/// # Errors
/// When the file system does not answer.
pub fn free_space(path: &Path) -> Result<Bytes, RunnerError> {
    let stat = rustix::fs::statvfs(path)
        .map_err(|errno| RunnerError::DataDir { path: path.into(), source: errno.into() })?;
    Ok(Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

/// One run's data directory; removed when dropped.
#[derive(Debug)]
pub(crate) struct RunData {
    pub(crate) path: PathBuf,
}

impl Drop for RunData {
    fn drop(&mut self) {
        // A directory that cannot be removed now is removed by the next run of that name.
        drop(fs::remove_dir_all(&self.path));
    }
}
