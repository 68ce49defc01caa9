//! Writes of clients: log, then write cache.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use crate::document::Document;
use crate::error::{Error, LENGTH_MAX, Result};
use crate::options::Durability;
use crate::shared::{Shared, View, Writer};
use crate::sync::{MutexGuard, lock};
use crate::wal::{Wal, Write};
use crate::write_cache::WriteCache;

impl Shared {
    /// Writes a batch with consecutive sequence numbers, readable as a whole; returns the last one.
    pub(crate) fn write(&self, batch: &[Write<'_>]) -> Result<u64> {
        let stored = batch.iter().map(|it| 8 + it.key.len() + it.value.map_or(0, <[u8]>::len));
        let bytes = stored.sum();
        if bytes > LENGTH_MAX {
            return Err(Error::TooLong(bytes));
        }
        if batch.is_empty() {
            return Ok(self.visible.load(Ordering::Acquire));
        }
        self.run(|shared| shared.append(batch))
    }

    fn append(&self, batch: &[Write<'_>]) -> Result<u64> {
        let mut writer = self.make_room(lock(&self.writer))?;
        // The write before may have failed while this one waited for the lock.
        self.check()?;
        let first = writer.next_seqno;
        if let Some(wal) = &mut writer.wal {
            // A part of the batch may be on the disk, and what follows it would not be found.
            let bytes = wal.append(first, batch).inspect_err(|error| self.refuse_writes(error))?;
            self.directory.counters.wal_bytes.add(bytes);
        }
        writer.next_seqno += batch.len() as u64;
        let active = Arc::clone(&self.view().active);
        for (seqno, write) in (first..).zip(batch) {
            let document =
                Document { seqno, key: write.key.into(), value: write.value.map(Into::into) };
            self.directory.counters.ingest_bytes.add(u64::from(document.bytes()));
            active.insert(document);
        }
        let last = writer.next_seqno - 1;
        self.visible.store(last, Ordering::Release);
        drop(writer);
        if self.options.durability == Durability::Sync {
            self.sync_wal(last)?;
        }
        Ok(last)
    }

    /// Syncs the log up to a sequence number; the same sync serves all clients that wait meanwhile.
    fn sync_wal(&self, seqno: u64) -> Result<()> {
        let mut synced = lock(&self.synced);
        if *synced >= seqno {
            return Ok(());
        }
        let (file, last) = {
            let writer = lock(&self.writer);
            (writer.wal.as_ref().map(|wal| Arc::clone(&wal.file)), writer.next_seqno - 1)
        };
        if let Some(file) = file {
            file.sync()?;
        }
        *synced = last;
        Ok(())
    }

    /// Flushes the write cache when it is full, waiting for the flush before it.
    fn make_room<'a>(&'a self, writer: MutexGuard<'a, Writer>) -> Result<MutexGuard<'a, Writer>> {
        if self.view().active.bytes() < self.options.write_cache_bytes {
            return Ok(writer);
        }
        self.rotate(writer)
    }

    /// Makes the write cache immutable and begins a new one.
    pub(crate) fn rotate<'a>(
        &'a self,
        mut writer: MutexGuard<'a, Writer>,
    ) -> Result<MutexGuard<'a, Writer>> {
        let mut has_waited = false;
        while self.view().immutable.is_some() {
            self.check()?;
            if self.has_threads {
                if !has_waited {
                    self.directory.counters.stalls.add(1);
                    has_waited = true;
                }
                writer = self.room.wait(writer).unwrap_or_else(PoisonError::into_inner);
            } else {
                drop(writer);
                self.flush_immutable()?;
                writer = lock(&self.writer);
            }
        }
        if self.view().active.is_empty() {
            return Ok(writer);
        }
        if let Some(old) =
            writer.wal.as_ref().filter(|_| self.options.durability == Durability::Sync)
        {
            old.file.sync()?;
        }
        self.begin_wal(&mut writer)?;
        self.wake();
        Ok(writer)
    }

    /// Begins a new log and a write cache for it; the one before, if written to, becomes immutable.
    pub(crate) fn begin_wal(&self, writer: &mut Writer) -> Result<()> {
        let wal = match self.options.durability {
            Durability::None => None,
            Durability::Os | Durability::Sync => {
                Some(Wal::create(&self.directory, self.new_file())?)
            }
        };
        if self.options.durability == Durability::Sync {
            self.directory.sync()?;
        }
        let active = Arc::new(WriteCache::new(wal.as_ref().map(|wal| Arc::clone(&wal.file))));
        writer.wal = wal;
        self.change_view(|view| View {
            active,
            immutable: Some(Arc::clone(&view.active)).filter(|old| !old.is_empty()),
            version: Arc::clone(&view.version),
        });
        Ok(())
    }
}
