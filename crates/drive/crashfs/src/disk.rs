//! A simulated disk: its files, and the power cuts and faults that it can have.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rustix::process::{getgid, getuid};

use crate::inode::Owner;
use crate::page::PAGE;
use crate::survival::{Forgotten, Survival};
use crate::tree::{Names, Tree};

/// Permissions of the root directory: Assay refuses servers below directories others can write.
const ROOT_PERM: u16 = 0o755;

/// Files in memory that forget what was not synced; a clone is the same disk.
///
/// The files outlive a mount. A simulated power cut of a process on the disk: stop the process,
/// [`Disk::cut`], kill it, drop the mount, [`Disk::mount`] again, and [`Disk::thaw`]. So the
/// kernel's caches do not survive.
#[derive(Clone, Debug)]
pub struct Disk(Arc<Mutex<State>>);

/// The files, with the requests that the kernel has sent.
#[derive(Debug)]
pub(crate) struct State {
    /// The files.
    pub(crate) tree: Tree,
    /// Number of syncs that programs requested.
    pub(crate) syncs: u64,
    is_mounted: bool,
    /// Number of mounts so far: requests of earlier mounts fail.
    pub(crate) mounts: u64,
}

impl State {
    /// Records a mount and returns its number, unless the disk is mounted.
    pub(crate) fn begin_mount(&mut self) -> Option<u64> {
        let was_mounted = std::mem::replace(&mut self.is_mounted, true);
        (!was_mounted).then_some(self.mounts)
    }

    /// Ends the current mount: its later requests fail.
    pub(crate) fn end_mount(&mut self) {
        self.is_mounted = false;
        self.mounts += 1;
        self.tree.forget_all();
    }
}

impl Disk {
    /// Returns an empty disk whose pages and inodes take at most `limit_bytes` bytes of memory.
    ///
    /// Unsynced changes need memory for both contents. Beyond the limit, writes fail with ENOSPC.
    #[must_use]
    pub fn new(names: Names, limit_bytes: u64) -> Self {
        let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
        let owner = Owner { perm: ROOT_PERM, uid, gid };
        let tree = Tree::new(names, limit_bytes / PAGE, owner, now());
        Self(Arc::new(Mutex::new(State { tree, syncs: 0, is_mounted: false, mounts: 0 })))
    }

    /// Simulates a power cut at this instant: every later change fails with EIO.
    ///
    /// What was not synced is lost, except for what `survival` leaves. Returns what was lost.
    #[must_use]
    pub fn cut(&self, survival: Survival) -> Forgotten {
        self.state().tree.cut(survival)
    }

    /// Allows changes again after a power cut.
    pub fn thaw(&self) {
        self.state().tree.is_frozen = false;
    }

    /// Makes everything durable, as the base of a test.
    pub fn sync_all(&self) {
        self.state().tree.settle_all();
    }

    /// Lets the next sync of a file with unsynced data fail once with EIO.
    ///
    /// The file's unsynced pages stay readable, but no later sync writes them, as on Linux: they
    /// are lost at the power cut unless they are written again. Source: \[Rebello 2020\].
    pub fn fail_fsync(&self) {
        self.state().tree.failing_syncs = 1;
    }

    /// Returns whether the failure that [`Disk::fail_fsync`] requests is still to come.
    #[must_use]
    pub fn is_fsync_to_fail(&self) -> bool {
        self.state().tree.failing_syncs > 0
    }

    /// Lets every change that allocates fail with ENOSPC, or ends that.
    pub fn set_full(&self, is_full: bool) {
        self.state().tree.is_full = is_full;
    }

    /// Returns the number of syncs of files and directories so far.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Locks the disk; changes record the time of the lock.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.tree.now = now();
        state
    }
}

/// Returns the time for `stat`.
#[expect(clippy::disallowed_methods, reason = "times of files are calendar times")]
fn now() -> SystemTime {
    SystemTime::now()
}
