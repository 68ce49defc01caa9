//! The file system as the engine sees it: one directory of flat files.
//!
//! A trait, so that tests can end the history of writes at any place.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::counters::Counters;
use crate::error::{Error, Result};

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

/// A directory of the operating system.
pub(crate) struct RealFiles(pub(crate) PathBuf);

impl Files for RealFiles {
    fn create(&self, name: &str) -> io::Result<Box<dyn Handle>> {
        let path = self.0.join(name);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Box::new(file))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(File::open(self.0.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir(&self.0)?.map(name).collect()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
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
        }
    }
}

/// A file that is removed, once obsolete, when its last reader has gone.
pub(crate) struct StoredFile {
    pub(crate) name: String,
    handle: Box<dyn Handle>,
    pub(crate) directory: Arc<Directory>,
    is_obsolete: AtomicBool,
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

    /// Makes the content durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.directory.counters.fsyncs.add(1);
        self.handle.sync().map_err(Error::io(&self.name))
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
