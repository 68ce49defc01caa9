//! The handle of an open database.

use std::path::Path;
use std::sync::Arc;

use crate::counters::Counters;
use crate::document::Document;
use crate::error::Result;
use crate::files::{Directory, Files, RealFiles};
use crate::jobs::Levels;
use crate::options::Options;
use crate::recovery;
use crate::shared::Shared;
use crate::state::State;
use crate::sync::{JoinHandle, lock};
use crate::threads;
use crate::wal::Write;

/// A document's value.
#[derive(Debug, Clone)]
pub struct Value(Arc<Document>);

impl std::ops::Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.value.as_deref().unwrap_or_default()
    }
}

/// An open database; any thread may use it.
///
/// Without [`Database::close`], a drop leaves what the class of durability guarantees.
pub struct Database {
    pub(crate) shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Database {
    /// Opens the database of a directory, or creates it; one process at a time.
    ///
    /// # Errors
    /// When an option has no sense, the directory is open elsewhere, or a file cannot be read or
    /// written, or is damaged.
    pub fn open(directory: &Path, options: Options) -> Result<Self> {
        Self::open_files(Box::new(RealFiles::open(directory)?), options, true)
    }

    /// Opens a database; without threads, jobs run in the calls that need them.
    pub(crate) fn open_files(
        files: Box<dyn Files>,
        options: Options,
        has_threads: bool,
    ) -> Result<Self> {
        options.check()?;
        let directory = Arc::new(Directory { files, counters: Counters::default() });
        let shared = Arc::new(recovery::open(options, directory, has_threads)?);
        let mut database = Self { shared, threads: Vec::new() };
        if has_threads {
            threads::start(&database.shared, &mut database.threads)?;
        }
        Ok(database)
    }

    /// Writes a batch with consecutive sequence numbers, readable as a whole; returns the last one.
    ///
    /// Other clients may read it before it is as durable as its class guarantees, which holds
    /// once this returns.
    ///
    /// # Errors
    /// When the batch is too long, or this or an earlier write has failed.
    pub fn write(&self, batch: &[Write<'_>]) -> Result<u64> {
        self.shared.write(batch)
    }

    /// Writes one document; returns its sequence number.
    ///
    /// # Errors
    /// Those of [`Database::write`].
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<u64> {
        self.shared.write(&[Write { key, value: Some(value) }])
    }

    /// Deletes a document, which need not exist; returns the deletion's sequence number.
    ///
    /// # Errors
    /// Those of [`Database::write`].
    pub fn delete(&self, key: &[u8]) -> Result<u64> {
        self.shared.write(&[Write { key, value: None }])
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Value>> {
        Ok(self.shared.get(key)?.map(Value))
    }

    /// Calls `row` with key and value of up to `limit` documents from `start` on.
    ///
    /// Forward from the first key at or after it, else backward from the last one at or before it.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn scan(
        &self,
        start: &[u8],
        is_forward: bool,
        limit: usize,
        mut row: impl FnMut(&[u8], &[u8]),
    ) -> Result<()> {
        self.shared.scan(start, is_forward, limit, &mut row)
    }

    /// Calls `row` with sequence number, key and value of up to `limit` documents, in the order of
    /// their numbers from `from` on: a change feed.
    ///
    /// It has the newest version of every document with such a number, once, and no deletions. A
    /// lookup of the index for each document of the log leaves out what was superseded.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn scan_sequence(
        &self,
        from: u64,
        limit: usize,
        mut row: impl FnMut(u64, &[u8], &[u8]),
    ) -> Result<()> {
        self.shared.scan_sequence(from, limit, &mut row)
    }

    /// Returns the last sequence number that can be read; 0 for an empty database.
    pub fn last_sequence(&self) -> u64 {
        self.shared.visible.load(std::sync::atomic::Ordering::Acquire)
    }

    /// Writes what is in the write cache to log and index, durably.
    ///
    /// # Errors
    /// When a file cannot be written; no write is possible then.
    pub fn flush(&self) -> Result<()> {
        self.shared.run(|shared| {
            // The second waits for the flush that the first began.
            for _ in 0..2 {
                drop(shared.rotate(lock(&shared.writer))?);
            }
            shared.flush_immutable().map(drop)
        })
    }

    /// Compacts the index into its last level and collects every segment with enough garbage.
    ///
    /// # Errors
    /// When a file cannot be read or written; no write is possible then.
    pub fn compact_all(&self) -> Result<()> {
        self.flush()?;
        self.shared.run(|shared| {
            while shared.compact_index(Levels::All)? {}
            shared.seal_growing()?;
            while shared.collect()? {}
            Ok(())
        })
    }

    /// Compacts level 0 of the index, if it has tables.
    ///
    /// # Errors
    /// When a file cannot be read or written; no write is possible then.
    pub fn compact_level0(&self) -> Result<()> {
        self.shared.run(|shared| shared.compact_index(Levels::Newest)).map(drop)
    }

    /// Waits until no background thread has anything to do.
    ///
    /// # Errors
    /// When one has failed.
    pub fn wait_idle(&self) -> Result<()> {
        self.shared.wait_idle()
    }

    /// Returns whether no background thread has anything to do.
    pub fn is_idle(&self) -> bool {
        self.shared.is_idle()
    }

    /// Returns state and counters.
    pub fn state(&self) -> State {
        self.shared.state()
    }

    /// Flushes and closes the database: nothing is lost, whatever the class of durability.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn close(mut self) -> Result<()> {
        let flushed = self.flush();
        self.stop();
        flushed
    }

    fn stop(&mut self) {
        lock(&self.shared.work).is_stopping = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has done its last job; what it did not commit is not there.
            drop(thread.join());
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop();
    }
}
