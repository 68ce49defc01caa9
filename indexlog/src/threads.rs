//! The background threads: one flushes, one compacts the index, one collects garbage.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use crate::error::{Error, Result};
use crate::jobs::Levels;
use crate::shared::Shared;
use crate::sync::{Builder, JoinHandle, lock};

/// A job: whether it found something to do.
type Job = fn(&Shared) -> Result<bool>;

/// Every job, with its thread's name.
const JOBS: [(&str, Job); 3] = [
    ("indexlog-flush", |shared| shared.flush_immutable()),
    ("indexlog-compact", |shared| shared.compact_index(Levels::Due)),
    ("indexlog-collect", |shared| shared.collect()),
];

/// Starts the threads and adds them to `threads`.
pub(crate) fn start(shared: &Arc<Shared>, threads: &mut Vec<JoinHandle<()>>) -> Result<()> {
    for (name, job) in JOBS {
        let shared = Arc::clone(shared);
        let thread = Builder::new().name(name.to_owned()).spawn(move || shared.repeat(job));
        threads.push(thread.map_err(Error::io(name))?);
    }
    Ok(())
}

impl Shared {
    /// Does the job whenever there may be something to do, until the database is closed.
    fn repeat(&self, job: Job) {
        let mut known = None;
        loop {
            let mut work = lock(&self.work);
            while !work.is_stopping && known == Some(work.generation) {
                work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
            }
            if work.is_stopping {
                return;
            }
            known = Some(work.generation);
            work.busy += 1;
            drop(work);
            if catch_unwind(AssertUnwindSafe(|| self.repeat_once_woken(job))).is_err() {
                // Writers would wait for this thread.
                self.fail(&"a background thread panicked");
            }
            lock(&self.work).busy -= 1;
            self.changed.notify_all();
        }
    }

    fn repeat_once_woken(&self, job: Job) {
        while !lock(&self.work).is_stopping && matches!(self.run(job), Ok(true)) {}
    }

    /// Returns whether no job has anything to do.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.work).busy == 0 && !self.has_work()
    }

    /// Waits until no job has anything to do.
    pub(crate) fn wait_idle(&self) -> Result<()> {
        if !self.has_threads {
            while self.flush_immutable()? || self.compact_index(Levels::Due)? || self.collect()? {}
            return Ok(());
        }
        let mut work = lock(&self.work);
        loop {
            self.check()?;
            if work.busy == 0 && !self.has_work() {
                return Ok(());
            }
            work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn has_work(&self) -> bool {
        let view = self.view();
        view.immutable.is_some()
            || view.version.index.job(&self.options).is_some()
            || view.version.deletes.job(&self.options).is_some()
            || view.version.collectable(self.options.garbage_ratio).is_some()
    }
}
