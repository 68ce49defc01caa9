//! Counting file backend for redb; drops syncs in class `os`.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

/// Whether redb's syncs reach the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syncs {
    /// All of redb's syncs.
    Passed,
    /// None: written data stays in the page cache.
    Dropped,
}

/// The file with its counters, shared by redb and the engine.
#[derive(Debug)]
pub(crate) struct CountedFile {
    file: FileBackend,
    syncs: Syncs,
    written_bytes: AtomicU64,
    synced: AtomicU64,
}

impl CountedFile {
    /// Wraps `file`.
    pub(crate) fn new(file: File, syncs: Syncs) -> Result<Arc<Self>, DatabaseError> {
        let file = FileBackend::new(file)?;
        Ok(Arc::new(Self {
            file,
            syncs,
            written_bytes: AtomicU64::new(0),
            synced: AtomicU64::new(0),
        }))
    }

    /// Syncs the file, whatever the class.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.synced.fetch_add(1, Ordering::Relaxed);
        self.file.sync_data()
    }

    /// Returns the bytes redb has written since open.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// Returns the syncs that reached the file since open.
    pub(crate) fn synced(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    /// Returns the length of the file.
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        self.file.len()
    }
}

/// The backend given to redb: a second handle to the file.
#[derive(Debug)]
pub(crate) struct Backend(pub(crate) Arc<CountedFile>);

type Locked = Result<bool, BackendError>;

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        match self.0.syncs {
            Syncs::Passed => self.0.sync(),
            Syncs::Dropped => Ok(()),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.written_bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        self.0.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked {
        self.0.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked {
        self.0.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked {
        self.0.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_sync_is_not_counted_and_write_is() {
        let file = || tempfile::tempfile().unwrap();
        for (syncs, counted) in [(Syncs::Dropped, 0), (Syncs::Passed, 1)] {
            let counted_file = CountedFile::new(file(), syncs).unwrap();
            let backend = Backend(Arc::clone(&counted_file));
            backend.set_len(4096).unwrap();
            backend.write(1, b"row").unwrap();
            backend.sync_data().unwrap();
            let mut found = [0; 3];
            backend.read(1, &mut found).unwrap();
            assert_eq!((&found, counted_file.bytes().unwrap()), (b"row", 4096));
            assert_eq!((counted_file.written_bytes(), counted_file.synced()), (3, counted));
        }
    }
}
