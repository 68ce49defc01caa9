//! Temporary directories and files, which do not outlive their process.
//!
//! A request to stop removes them at once. What a kill leaves is removed by the next process that
//! makes a directory of the same kind.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, FlockOperation, flock, unlinkat};
use rustix::process::geteuid;
use tempfile::TempDir;
use trust::Entries;

use crate::error::ArchiveError;
use crate::regular;

/// Start of the names of temporary directories and files.
pub(crate) const PREFIX: &str = ".assay-";
/// File in a directory, locked while its process lives: the name of a directory proves nothing.
const MARK: &str = ".assay-scratch";
/// Its text, written once it is locked.
const HEAD: &str = "Made by assay, and removed by it.\n";
/// Attempts to remove a directory in which another thread still writes.
const TRIES: usize = 3;

/// Attempts to make one: another process may take it for what a kill left, until it is locked.
pub(crate) const MAKES: usize = 3;

/// What this process has made and not removed yet, by numbers that none of them shares.
static LIVE: Mutex<BTreeMap<u64, Temporary>> = Mutex::new(BTreeMap::new());

/// A temporary directory or file.
pub(crate) enum Temporary {
    /// A directory, in one where no other account can replace it.
    Dir(PathBuf),
    /// A file by its name, in an open directory that may be of any account: what is removed is the
    /// entry, whatever that account has put there.
    File { dir: OwnedFd, name: String },
}

impl Temporary {
    fn remove(&self) -> io::Result<()> {
        match self {
            Self::Dir(path) => remove(path),
            Self::File { dir, name } => Ok(unlinkat(dir, name, AtFlags::empty())?),
        }
    }
}

/// A temporary directory; removed when dropped.
#[derive(Debug)]
pub struct ScratchDir {
    dir: TempDir,
    _mark: File,
    _live: Live,
}

impl ScratchDir {
    /// Makes it below the system's directory for temporary files.
    ///
    /// # Errors
    /// [`ArchiveError::Scratch`].
    pub fn new() -> Result<Self, ArchiveError> {
        let parent = std::env::temp_dir();
        Self::make(&parent, PREFIX).map_err(|error| ArchiveError::Scratch(parent, error))
    }

    /// Makes one whose name begins with `prefix`; removes those that killed processes left.
    pub(crate) fn make(parent: &Path, prefix: &str) -> io::Result<Self> {
        trust::check(parent, Entries::Shared)?;
        sweep(parent, prefix);
        let make = || -> io::Result<Self> {
            let new = || {
                let closed = Permissions::from_mode(0o700);
                let mut builder = tempfile::Builder::new();
                let dir = builder.prefix(prefix).permissions(closed).tempdir_in(parent)?;
                Ok((Temporary::Dir(dir.path().to_path_buf()), dir))
            };
            let (live, dir) = Live::make(new)?;
            // Closed to other accounts, which could hold the lock for ever.
            let path = dir.path().join(MARK);
            let mut mark = File::options().write(true).create_new(true).mode(0o600).open(path)?;
            flock(&mark, FlockOperation::NonBlockingLockExclusive)?;
            mark.write_all(HEAD.as_bytes())?;
            // Another process may have taken it for one that a kill left, before it was locked.
            fs::metadata(dir.path().join(MARK))?;
            Ok(Self { dir, _mark: mark, _live: live })
        };
        let mut made = make();
        for _ in 1..MAKES {
            let is_taken = |error: &io::Error| {
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock)
            };
            if made.as_ref().is_err_and(is_taken) {
                made = make();
            }
        }
        made
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // By one thread at a time: a request to stop removes the same files.
        let _live = live();
        // What cannot be removed is left for the next process.
        drop(remove(self.dir.path()));
    }
}

/// A temporary file or directory, registered as long as this exists.
#[derive(Debug)]
pub(crate) struct Live(u64);

impl Live {
    /// Makes a file or directory and registers it.
    pub(crate) fn make<T>(
        new: impl FnOnce() -> io::Result<(Temporary, T)>,
    ) -> io::Result<(Self, T)> {
        let mut live = live();
        let (temporary, made) = new()?;
        let number = live.last_key_value().map_or(0, |(last, _)| last + 1);
        live.insert(number, temporary);
        Ok((Self(number), made))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        live().remove(&self.0);
    }
}

/// Locks what this process has made: nothing is removed meanwhile.
pub(crate) fn live() -> MutexGuard<'static, BTreeMap<u64, Temporary>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file and directory of this process, which ends next.
///
/// None can be made afterwards: a thread that tries to waits for the end of the process.
pub fn remove_scratch() {
    let live = live();
    for temporary in live.values() {
        // What cannot be removed is left for the next process.
        (0..TRIES).any(|_| temporary.remove().is_ok());
    }
    std::mem::forget(live);
}

/// Removes what killed processes of this account left in `parent`.
fn sweep(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
        if is_ours && is_own(&entry.path()) {
            // What cannot be removed is left for the next process.
            drop(match unused(&entry.path()) {
                Some(_lock) => remove(&entry.path()),
                // Without a mark only an empty one is removed.
                None => fs::remove_dir(entry.path()),
            });
        }
    }
}

/// Removes a directory, its mark last: what a kill leaves is marked.
fn remove(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false if entry.file_name() == MARK => {}
            false => fs::remove_file(entry.path())?,
        }
    }
    fs::remove_dir_all(dir)
}

/// Returns whether a directory is of this account alone.
fn is_own(dir: &Path) -> bool {
    fs::symlink_metadata(dir).is_ok_and(|facts| {
        facts.is_dir() && facts.uid() == geteuid().as_raw() && facts.mode() & 0o022 == 0
    })
}

/// Locks the mark of a directory that a killed process left.
fn unused(dir: &Path) -> Option<File> {
    let mark = regular::open(&dir.join(MARK)).ok()?;
    let mut text = String::new();
    (&mark).take(HEAD.len() as u64).read_to_string(&mut text).ok()?;
    // Without a text its process was killed, or has not locked it yet and makes another.
    let is_marked =
        (text == HEAD || text.is_empty()) && mark.metadata().ok()?.uid() == geteuid().as_raw();
    let lock = || flock(&mark, FlockOperation::NonBlockingLockExclusive).ok();
    is_marked.then(lock).flatten().map(|()| mark)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_killed_processes_left_is_removed_and_what_is_used_or_not_marked_is_not() {
        let root = tempfile::tempdir().unwrap();
        let used = ScratchDir::make(root.path(), PREFIX).unwrap();
        let at = |name: &str| root.path().join(name);
        for name in [".assay-killed", ".assay-begun", ".assay-mine", "killed"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("rows"), "rows").unwrap();
        }
        for name in [".assay-killed", "killed"] {
            fs::write(at(name).join(MARK), HEAD).unwrap();
        }
        // Of a process that was killed before it had written its mark.
        fs::write(at(".assay-begun").join(MARK), "").unwrap();
        symlink(at("killed"), at(".assay-link")).unwrap();
        fs::create_dir(at(".assay-empty")).unwrap();
        let next = ScratchDir::make(root.path(), PREFIX).unwrap();
        assert_eq!(
            fs::metadata(next.path()).unwrap().mode() & 0o777,
            0o700,
            "others plant nothing"
        );
        for name in [".assay-killed", ".assay-begun", ".assay-empty"] {
            assert!(!at(name).exists(), "{name}");
        }
        for path in [used.path(), &at(".assay-mine/rows"), &at("killed/rows"), next.path()] {
            assert!(path.exists(), "{}", path.display());
        }
        let path = next.path().to_path_buf();
        drop(next);
        assert!(!path.exists());
    }

    /// Goal: a request to stop removes nothing below a directory that another account has put in
    /// the place of an output that is being written.
    #[test]
    fn of_an_output_only_a_file_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let (path, name) = (root.path().join("page"), "page".to_owned());
        let temporary = Temporary::File { dir: File::open(root.path()).unwrap().into(), name };
        fs::write(&path, "half").unwrap();
        temporary.remove().unwrap();
        assert!(!path.exists());
        fs::create_dir_all(path.join("shadow")).unwrap();
        temporary.remove().unwrap_err();
        assert!(path.join("shadow").exists());
    }
}
