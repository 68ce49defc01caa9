//! What clients and background threads of a database share.

use std::fmt::Display;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use crate::caches::Caches;
use crate::error::{Error, Result};
use crate::files::Directory;
use crate::log::SegmentWriter;
use crate::manifest::{Edit, Manifest};
use crate::options::Options;
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, RwLock, lock};
use crate::version::{OpenFiles, Version};
use crate::wal::Wal;
use crate::write_cache::WriteCache;

/// Memory of the caches through which background threads read.
const BACKGROUND_CACHE_BYTES: u64 = 1 << 20;

/// Everything that a read searches, in its order.
pub(crate) struct View {
    pub(crate) active: Arc<WriteCache>,
    /// The one that is being flushed.
    pub(crate) immutable: Option<Arc<WriteCache>>,
    pub(crate) version: Arc<Version>,
}

/// What only the writing client uses.
pub(crate) struct Writer {
    /// `None` in class `none`.
    pub(crate) wal: Option<Wal>,
    pub(crate) next_seqno: u64,
}

/// What the background threads do.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Changes whenever there may be something to do.
    pub(crate) generation: u64,
    pub(crate) busy: usize,
    pub(crate) is_stopping: bool,
}

/// The shared part of a database.
///
/// Locks are taken in this order: `compaction`, `collection`, `segment`, `synced`, `writer`,
/// `manifest`, `work`, `view`, `failure`. Files have locks of their own, below all of these.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) directory: Arc<Directory>,
    pub(crate) caches: Arc<Caches>,
    pub(crate) background_caches: Arc<Caches>,
    pub(crate) view: RwLock<Arc<View>>,
    pub(crate) writer: Mutex<Writer>,
    /// Signalled with `writer` when a write cache was flushed.
    pub(crate) room: Condvar,
    /// The last sequence number whose batch is readable.
    pub(crate) visible: AtomicU64,
    /// The last sequence number that is synced.
    pub(crate) synced: Mutex<u64>,
    pub(crate) manifest: Mutex<Manifest>,
    pub(crate) next_file: AtomicU64,
    /// The segment that grows, held by a flush.
    pub(crate) segment: Mutex<Option<SegmentWriter>>,
    /// Held by a compaction of the index.
    pub(crate) compaction: Mutex<()>,
    /// Held by a compaction of the delete list and by a collection.
    pub(crate) collection: Mutex<()>,
    pub(crate) work: Mutex<Work>,
    /// Signalled with `work`.
    pub(crate) changed: Condvar,
    is_failed: AtomicBool,
    failure: Mutex<String>,
    /// Whether jobs run in threads; else in the calls that need them.
    pub(crate) has_threads: bool,
}

impl Shared {
    pub(crate) fn new(
        options: Options,
        directory: Arc<Directory>,
        version: Version,
        manifest: Manifest,
        has_threads: bool,
    ) -> Self {
        let caches = Caches::new(options.document_cache_bytes, options.block_cache_bytes);
        let (next_file, flushed) = (version.next_file, version.flushed);
        let view = View {
            active: Arc::new(WriteCache::default()),
            immutable: None,
            version: Arc::new(version),
        };
        Self {
            options,
            directory,
            caches: Arc::new(caches),
            background_caches: Arc::new(Caches::new(0, BACKGROUND_CACHE_BYTES)),
            view: RwLock::new(Arc::new(view)),
            writer: Mutex::new(Writer { wal: None, next_seqno: flushed + 1 }),
            room: Condvar::new(),
            visible: AtomicU64::new(flushed),
            synced: Mutex::new(flushed),
            manifest: Mutex::new(manifest),
            next_file: AtomicU64::new(next_file),
            segment: Mutex::new(None),
            compaction: Mutex::new(()),
            collection: Mutex::new(()),
            work: Mutex::new(Work::default()),
            changed: Condvar::new(),
            is_failed: AtomicBool::new(false),
            failure: Mutex::new(String::new()),
            has_threads,
        }
    }

    /// Returns the current view.
    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the view by what `change` makes of it.
    pub(crate) fn change_view(&self, change: impl FnOnce(&View) -> View) {
        let mut view = self.view.write().unwrap_or_else(PoisonError::into_inner);
        *view = Arc::new(change(&view));
    }

    /// Returns a number that no file has.
    pub(crate) fn new_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    /// Commits the edit that `edit` makes for the current version.
    ///
    /// With `is_flush`, the immutable write cache goes in the same moment.
    pub(crate) fn commit(
        &self,
        edit: impl FnOnce(&Version) -> Edit,
        open: OpenFiles,
        is_flush: bool,
    ) -> Result<()> {
        let mut manifest = lock(&self.manifest);
        // After a failure the open file may not be the manifest that the next open reads.
        self.check()?;
        self.commit_to(&mut manifest, edit, open, is_flush)
            .inspect_err(|error| self.refuse_writes(error))
    }

    fn commit_to(
        &self,
        manifest: &mut Manifest,
        edit: impl FnOnce(&Version) -> Edit,
        open: OpenFiles,
        is_flush: bool,
    ) -> Result<()> {
        let version = Arc::clone(&self.view().version);
        let mut edit = edit(&version);
        edit.next_file = self.next_file.load(Ordering::Relaxed);
        manifest.append(&edit)?;
        let mut next = (*version).clone();
        next.apply(&edit, open, &self.directory)?;
        if manifest.is_long() {
            *manifest = Manifest::create(&self.directory, &next.as_edit())?;
        }
        self.change_view(|view| View {
            active: Arc::clone(&view.active),
            immutable: view.immutable.clone().filter(|_| !is_flush),
            version: Arc::new(next),
        });
        Ok(())
    }

    /// Does what must not fail: afterwards no write is possible. The caller holds no lock.
    pub(crate) fn run<T>(&self, action: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.check()?;
        action(self).inspect_err(|error| self.fail(error))
    }

    /// Refuses further writes, also those that wait. The caller holds no lock.
    pub(crate) fn fail(&self, error: &dyn Display) {
        self.refuse_writes(error);
        // A writer may wait for a flush that will not come.
        drop(lock(&self.writer));
        self.room.notify_all();
    }

    /// Refuses writes that have not begun: what is on the disk may lack a part of one.
    pub(crate) fn refuse_writes(&self, error: &dyn Display) {
        let mut failure = lock(&self.failure);
        if failure.is_empty() {
            *failure = error.to_string();
        }
        self.is_failed.store(true, Ordering::Release);
    }

    /// Returns an error once a write or a background thread has failed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_failed.load(Ordering::Acquire) {
            return Err(Error::Failed(lock(&self.failure).clone()));
        }
        Ok(())
    }

    /// Wakes the background threads: there may be something to do.
    pub(crate) fn wake(&self) {
        lock(&self.work).generation += 1;
        self.changed.notify_all();
    }
}
