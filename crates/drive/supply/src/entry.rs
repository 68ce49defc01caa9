//! A locked cache entry while it is made, changed or removed.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::BuildRef;
use rustix::fs::{Mode, OFlags};
use trust::{Dir, Entries};

use crate::artifact::{Artifact, METADATA_FILE, library_name};
use crate::error::{Result, SupplyError};
use crate::library::check_loadable;
use crate::server::TREE_DIR;
use crate::source::Progress;

/// Attempts to remove a work directory in which a program may still write.
const TRIES: usize = 3;

/// The work directories of entries that this process makes.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the work directories of this process, which ends next; no other is made afterwards.
pub fn remove_unfinished() {
    let dirs = unfinished();
    for dir in &*dirs {
        // What cannot be removed is left for the next process.
        (0..TRIES).any(|_| trust::remove_dir(dir).is_ok());
    }
    std::mem::forget(dirs);
}

/// One cache entry, locked by this process.
pub(crate) struct Entry {
    pub(crate) build: BuildRef,
    /// Its directory; it exists exactly when the entry does.
    pub(crate) dir: PathBuf,
    partial: PathBuf,
    /// Released when the entry is dropped, or by the kernel when the process dies.
    _lock: File,
}

impl Entry {
    /// Locks the entry and creates its empty work directory.
    pub(crate) fn lock(engines: &Path, build: &BuildRef, progress: Progress<'_>) -> Result<Self> {
        let version = build.version.as_deref().unwrap_or_default();
        let parent = engines.join(&build.engine);
        Dir::create(&parent, Entries::Closed).map_err(SupplyError::cache(&parent))?;
        let path = parent.join(format!(".{version}.lock"));
        let lock = open_lock(&path).map_err(SupplyError::io("create", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress(&format!("waiting for another process working on {build}"));
                lock.lock().map_err(SupplyError::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(SupplyError::io("lock", &path)(error)),
        }
        let partial = parent.join(format!(".{version}.partial"));
        let entry = Self { build: build.clone(), dir: parent.join(version), partial, _lock: lock };
        // Leftovers of a killed process: the lock is held here.
        trust::remove_dir(&entry.partial).map_err(SupplyError::io("remove", &entry.partial))?;
        unfinished().insert(entry.partial.clone());
        fs::create_dir(&entry.partial).map_err(SupplyError::io("create", &entry.partial))?;
        Ok(entry)
    }

    /// Returns where a source puts the library, or a server's directory.
    pub(crate) fn place(&self, is_server: bool) -> PathBuf {
        if is_server {
            return self.partial.join(TREE_DIR);
        }
        self.partial.join(library_name(&self.build.engine))
    }

    /// Creates a scratch directory, removed when the entry is dropped.
    pub(crate) fn work(&self, name: &str) -> Result<PathBuf> {
        let work = self.partial.join(name);
        fs::create_dir(&work).map_err(SupplyError::io("create", &work))?;
        Ok(work)
    }

    /// Checks the fetched library; returns the directory that becomes the entry.
    pub(crate) fn prepare(&self) -> Result<PathBuf> {
        let fetched = self.place(false);
        check_loadable(&fetched)?;
        let ready = self.partial.join("ready");
        fs::create_dir(&ready).map_err(SupplyError::io("create", &ready))?;
        let library = ready.join(library_name(&self.build.engine));
        fs::rename(&fetched, &library).map_err(SupplyError::io("move", &fetched))?;
        Ok(ready)
    }

    /// Renames the prepared directory into place, with its metadata.
    pub(crate) fn commit(&self, ready: &Path, artifact: Artifact) -> Result<Artifact> {
        write_metadata(ready, &artifact)?;
        // The rename below must not reach the disk before what it makes visible.
        let files = fs::read_dir(ready).map_err(SupplyError::io("read", ready))?;
        for path in files.filter_map(|file| Some(file.ok()?.path())).filter(|path| path.is_file()) {
            let synced = File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(SupplyError::io("sync", &path))?;
        }
        trust::remove_dir(&self.dir).map_err(SupplyError::io("remove", &self.dir))?;
        fs::rename(ready, &self.dir).map_err(SupplyError::io("create", &self.dir))?;
        Ok(artifact.placed(&self.dir))
    }

    /// Replaces the entry's metadata.
    pub(crate) fn rewrite_metadata(&self, artifact: Artifact) -> Result<Artifact> {
        write_metadata(&self.partial, &artifact)?;
        let (from, to) = (self.partial.join(METADATA_FILE), self.dir.join(METADATA_FILE));
        fs::rename(&from, &to).map_err(SupplyError::io("create", &to))?;
        Ok(artifact)
    }

    /// Removes the entry; it is renamed away first, so no half remains.
    pub(crate) fn clear(&self) -> Result<()> {
        let away = self.partial.join("removed");
        fs::rename(&self.dir, &away).map_err(SupplyError::io("remove", &self.dir))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        drop(trust::remove_dir(&self.partial));
        unfinished().remove(&self.partial);
    }
}

/// Opens a file to lock, which no other account can: it follows no link, and changes no content.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mode = Mode::RUSR | Mode::WUSR;
    let file: File = rustix::fs::open(path, flags | OFlags::CLOEXEC, mode)?.into();
    let facts = file.metadata()?;
    let is_own = facts.uid() == rustix::process::geteuid().as_raw();
    if is_own && facts.mode() & 0o077 != 0 {
        // Of an older Assay. Another account that can open it can hold its lock for ever.
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Writes the metadata file into a directory.
fn write_metadata(dir: &Path, metadata: &Artifact) -> Result<()> {
    let mut text = serde_json::to_string_pretty(metadata).expect("metadata is plain text");
    text.push('\n');
    let path = dir.join(METADATA_FILE);
    fs::write(&path, text).map_err(SupplyError::io("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_an_older_assay_is_closed_and_a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("lock");
        fs::write(&lock, "as it was").unwrap();
        fs::set_permissions(&lock, Permissions::from_mode(0o664)).unwrap();
        let mode = open_lock(&lock).unwrap().metadata().unwrap().mode();
        assert_eq!((mode & 0o777, &*fs::read_to_string(&lock).unwrap()), (0o600, "as it was"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&lock, &link).unwrap();
        assert!(open_lock(&link).is_err());
    }
}
