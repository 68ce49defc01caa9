//! Counting file backend for redb; drops syncs in class `os`.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{DatabaseError, StorageBackend};

/// The file with its counters, shared by redb and the engine.
#[derive(Debug)]
pub(crate) struct CountedFile {
    pub(crate) file: FileBackend,
    /// Whether redb's syncs end here, so that written data stays in the page cache.
    drops_syncs: bool,
    /// Bytes redb has written since open.
    pub(crate) written_bytes: AtomicU64,
    /// Syncs that reached the file since open.
    pub(crate) synced: AtomicU64,
}

impl CountedFile {
    /// Wraps `file`.
    pub(crate) fn new(file: File, drops_syncs: bool) -> Result<Arc<Self>, DatabaseError> {
        let (file, zero) = (FileBackend::new(file)?, AtomicU64::default);
        Ok(Arc::new(Self { file, drops_syncs, written_bytes: zero(), synced: zero() }))
    }

    /// Syncs the file, whatever the class.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.synced.fetch_add(1, Ordering::Relaxed);
        self.file.sync_data()
    }
}

/// The backend given to redb: a second handle to the file.
#[derive(Debug)]
pub(crate) struct Backend(pub(crate) Arc<CountedFile>);

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
        if self.0.drops_syncs { Ok(()) } else { self.0.sync() }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.written_bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        self.0.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.file.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_sync_is_not_counted_and_write_is() {
        let file = || tempfile::tempfile().unwrap();
        for (drops_syncs, counted) in [(true, 0), (false, 1)] {
            let counted_file = CountedFile::new(file(), drops_syncs).unwrap();
            let backend = Backend(Arc::clone(&counted_file));
            backend.set_len(4096).unwrap();
            backend.write(1, b"row").unwrap();
            backend.sync_data().unwrap();
            let mut found = [0; 3];
            backend.read(1, &mut found).unwrap();
            assert_eq!((&found, backend.len().unwrap()), (b"row", 4096));
            let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let counts = (count(&counted_file.written_bytes), count(&counted_file.synced));
            assert_eq!(counts, (3, counted));
        }
    }
}
