//! Data directories of runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;
use rustix::fs::{FlockOperation, flock};

use crate::error::RunnerError;

/// File that marks a directory as made by Assay.
const MARKER: &str = ".assay-data";

/// Prefix of runs' directories; nothing else below the root is ever removed.
const RUN: &str = "run-";

/// A marked directory, with one temporary directory per run below it.
#[derive(Debug)]
pub struct DataRoot {
    path: PathBuf,
    /// The marker, locked as long as runs may be made; the kernel releases it at our exit.
    lock: File,
}

impl DataRoot {
    /// Takes a directory that is new, empty, or was taken before.
    ///
    /// Directories of killed runs are removed, unless another process is using the root; servers
    /// that outlived their runs are ended first.
    ///
    /// # Errors
    /// [`RunnerError::NotOurs`] when it holds anything else.
    pub fn take(path: &Path) -> Result<Self, RunnerError> {
        server::clean_up();
        let fail = |source: io::Error| RunnerError::DataDir(path.into(), source);
        fs::create_dir_all(path).map_err(fail)?;
        let path = fs::canonicalize(path).map_err(fail)?;
        let marker = path.join(MARKER);
        if !marker.exists() {
            if fs::read_dir(&path).map_err(fail)?.next().is_some() {
                return Err(RunnerError::NotOurs(path));
            }
            fs::write(&marker, "Made by assay; runs put their data here.\n").map_err(fail)?;
        }
        let lock = File::options().append(true).open(&marker).map_err(fail)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            sweep(&path).map_err(fail)?;
        }
        flock(&lock, FlockOperation::LockShared).map_err(|errno| fail(errno.into()))?;
        Ok(Self { path, lock })
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the free space of its file system.
    ///
    /// # Errors
    /// When the file system reports an error.
    pub fn free(&self) -> Result<Bytes, RunnerError> {
        free_space(&self.path)
    }

    /// Makes a run's own empty directory; that of a killed run of the name is removed.
    pub(crate) fn fresh(&self, name: &str) -> Result<RunData, RunnerError> {
        let path = self.path.join(format!("{RUN}{name}"));
        let fail = |source: io::Error| RunnerError::DataDir(path.clone(), source);
        remove(&path).map_err(fail)?;
        fs::create_dir(&path).map_err(fail)?;
        Ok(RunData { path })
    }
}

impl Drop for DataRoot {
    /// Removes shared files of runs, unless another process is using the directory.
    fn drop(&mut self) {
        if flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // The next experiment removes what remains.
            drop(sweep(&self.path));
        }
    }
}

/// Removes the directories of runs that were killed with their parent.
fn sweep(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(RUN) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a directory that may not be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the free space of the file system that `path` lies on.
///
/// # Errors
/// When the file system reports an error.
pub fn free_space(path: &Path) -> Result<Bytes, RunnerError> {
    let stat = rustix::fs::statvfs(path)
        .map_err(|errno| RunnerError::DataDir(path.into(), errno.into()))?;
    Ok(Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

/// Checks that the file system of `path` has at least `floor` free.
///
/// # Errors
/// [`RunnerError::DiskFloor`], or when the file system reports an error.
pub fn check_room(path: &Path, floor: Bytes) -> Result<(), RunnerError> {
    match free_space(path)? {
        free if free < floor => Err(RunnerError::DiskFloor(path.to_owned(), free, floor)),
        _ => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_in_it_is_refused_and_untouched() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
        let error = DataRoot::take(dir.path()).unwrap_err();
        assert!(matches!(error, RunnerError::NotOurs(_)), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn want_of_room_names_path_free_and_needed() {
        let dir = tempfile::tempdir().unwrap();
        check_room(dir.path(), Bytes(0)).unwrap();
        let text = check_room(dir.path(), Bytes(u64::MAX)).unwrap_err().to_string();
        let path = dir.path().display().to_string();
        assert!(text.contains(&path) && text.contains(&Bytes(u64::MAX).to_string()), "{text}");
    }

    #[test]
    fn only_directories_of_killed_runs_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let root = DataRoot::take(dir.path()).unwrap();
        std::mem::forget(root.fresh("killed").unwrap());
        fs::write(dir.path().join("run-killed/000004.log"), "rows").unwrap();
        fs::create_dir(dir.path().join("mine")).unwrap();
        let second = DataRoot::take(dir.path()).unwrap();
        assert!(dir.path().join("run-killed").exists(), "its root is still in use");
        drop((root, second));
        DataRoot::take(dir.path()).unwrap();
        assert!(!dir.path().join("run-killed").exists() && dir.path().join("mine").exists());
    }

    #[test]
    fn a_run_gets_an_empty_directory_and_loses_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = DataRoot::take(dir.path()).unwrap();
        let run = root.fresh("a.c1.r1").unwrap();
        fs::write(run.path.join("rows"), "rows").unwrap();
        let path = run.path.clone();
        std::mem::forget(run);
        let again = root.fresh("a.c1.r1").unwrap();
        assert_eq!(fs::read_dir(&again.path).unwrap().count(), 0);
        drop(again);
        assert!(!path.exists());
    }
}
