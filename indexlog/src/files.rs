//! The file system as the engine sees it: one directory of flat files.
//!
//! A trait, so that tests can end the history of writes at any place.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::counters::Counters;
use crate::error::{Error, Result};
use crate::sync::{AtomicBool, Mutex, lock};

/// A directory.
pub(crate) trait Files: Send + Sync {
    /// Creates an empty file in the place of any other.
    fn create(&self, name: &str) -> io::Result<Box<dyn Handle>>;
    /// Opens a file.
    fn open(&self, name: &str) -> io::Result<Box<dyn Handle>>;
    /// Renames a file, replacing any other of the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Returns all names.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Makes creations, renames and removals durable.
    fn sync(&self) -> io::Result<()>;
}

/// An open file.
pub(crate) trait Handle: Send + Sync {
    /// Writes all bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Reads exactly so many bytes.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    /// Returns the length.
    fn len(&self) -> io::Result<u64>;
    /// Makes the content durable.
    fn sync(&self) -> io::Result<()>;
}

/// Name of the file whose lock the open database has.
const LOCK: &str = "lock";

/// A directory of the operating system, locked against other processes.
pub(crate) struct RealFiles {
    path: PathBuf,
    _lock: File,
}

impl RealFiles {
    /// Locks a directory; the lock ends with the process at the latest.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let path = path.to_path_buf();
        let options = File::options().write(true).create(true).truncate(false).clone();
        let lock = options.open(path.join(LOCK)).map_err(Error::io(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse(path)),
            Err(TryLockError::Error(error)) => Err(Error::io(LOCK)(error)),
        }
    }
}

impl Files for RealFiles {
    fn create(&self, name: &str) -> io::Result<Box<dyn Handle>> {
        let path = self.path.join(name);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Box::new(file))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(File::open(self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir(&self.path)?.map(name).collect()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl Handle for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// The data directory, with the counters of what is done in it.
pub(crate) struct Directory {
    pub(crate) files: Box<dyn Files>,
    pub(crate) counters: Counters,
}

impl Directory {
    /// Creates an empty file.
    pub(crate) fn create(self: &Arc<Self>, name: String) -> Result<StoredFile> {
        let handle = self.files.create(&name).map_err(Error::io(&name))?;
        Ok(self.stored(name, handle))
    }

    /// Opens a file.
    pub(crate) fn open(self: &Arc<Self>, name: String) -> Result<StoredFile> {
        let handle = self.files.open(&name).map_err(Error::io(&name))?;
        Ok(self.stored(name, handle))
    }

    /// Makes creations, renames and removals durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.counters.fsyncs.add(1);
        self.files.sync().map_err(Error::io("the data directory"))
    }

    fn stored(self: &Arc<Self>, name: String, handle: Box<dyn Handle>) -> StoredFile {
        StoredFile {
            name,
            handle,
            directory: Arc::clone(self),
            is_obsolete: AtomicBool::new(false),
            has_failed_sync: Mutex::new(false),
        }
    }
}

/// A file that is removed, once obsolete, when its last reader has gone.
pub(crate) struct StoredFile {
    pub(crate) name: String,
    handle: Box<dyn Handle>,
    pub(crate) directory: Arc<Directory>,
    is_obsolete: AtomicBool,
    /// A later sync can succeed although what the failed one had to write is lost.
    has_failed_sync: Mutex<bool>,
}

impl StoredFile {
    /// Writes all bytes.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.handle.write_at(bytes, offset).map_err(Error::io(&self.name))
    }

    /// Returns so many bytes.
    pub(crate) fn read_at(&self, offset: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut content = vec![0; bytes];
        self.handle.read_at(&mut content, offset).map_err(Error::io(&self.name))?;
        Ok(content)
    }

    /// Returns the whole content.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let bytes = self.handle.len().map_err(Error::io(&self.name))?;
        let bytes = usize::try_from(bytes).map_err(|_too_long| self.damaged("it is too long"))?;
        self.read_at(0, bytes)
    }

    /// Makes the content durable; never succeeds once it has failed.
    ///
    /// Source: [Rebello 2020].
    pub(crate) fn sync(&self) -> Result<()> {
        let mut has_failed = lock(&self.has_failed_sync);
        if *has_failed {
            return Err(Error::io(&self.name)(io::Error::other("an earlier sync of it failed")));
        }
        self.directory.counters.fsyncs.add(1);
        self.handle.sync().map_err(Error::io(&self.name)).inspect_err(|_| *has_failed = true)
    }

    /// Has the file removed when its last reader drops it.
    pub(crate) fn retire(&self) {
        self.is_obsolete.store(true, Ordering::Release);
    }

    /// Returns the error of wrong content.
    #[cold]
    pub(crate) fn damaged(&self, what: &'static str) -> Error {
        Error::damaged(&self.name, what)
    }
}

impl Drop for StoredFile {
    fn drop(&mut self) {
        if self.is_obsolete.load(Ordering::Acquire) {
            // One that stays is removed by the next open.
            drop(self.directory.files.remove(&self.name));
        }
    }
}
