//! Files and directories in memory: the state machine behind the mount.
//!
//! The kernel has checked each request: names, types and permissions fit.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::time::SystemTime;

use fuser::{Errno, FileAttr};
use rustix::fs::FallocateFlags;

use crate::contents::Contents;
use crate::inode::{Body, Entry, Inode, Owner};
use crate::page::{Gauge, PAGE};
use crate::pending::{Name, Pending};

/// Inode of the root directory.
///
/// Source: `FUSE_ROOT_ID` of linux/fuse.h.
pub(crate) const ROOT: u64 = 1;

/// First inode number after the root's.
///
/// Postgres derives the key of its shared memory from the inode number of its data directory, so
/// small numbers collide with keys of other servers. Source: our choice.
const FIRST: u64 = 0x5000_0000;

/// When a new name in a directory survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// A sync of the file or of its directory makes the name durable.
    ///
    /// A sync of a file or directory makes its own names and its parents' names durable. If the
    /// file got its name by a rename, the whole rename becomes durable: the old name is gone, and
    /// so is the file that the rename replaced. ext4, XFS and btrfs do so, as their journals commit
    /// the rename as one transaction.
    #[default]
    Own,
    /// Only a sync of the directory makes its names durable, as POSIX permits.
    Strict,
}

/// The files, what of them is durable, and the faults that are switched on.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Time that changes record.
    pub(crate) now: SystemTime,
    /// Does every change fail with EIO?
    pub(crate) is_frozen: bool,
    /// Does every change that allocates fail with ENOSPC?
    pub(crate) is_full: bool,
    /// Number of syncs of files with unsynced data that will fail.
    pub(crate) failing_syncs: u64,
    /// Changed names.
    pub(crate) pending: Pending,
    /// All inodes.
    pub(crate) inodes: BTreeMap<u64, Inode>,
    /// Pages and inodes in use.
    pub(crate) gauge: Gauge,
    /// Largest number of pages and inodes.
    pub(crate) limit_pages: u64,
    /// Position of the next entry in listings.
    pub(crate) next_cookie: u64,
    names: Names,
    next_ino: u64,
}

impl Tree {
    /// Returns a tree with an empty root directory of the account that `owner` names.
    pub(crate) fn new(names: Names, limit_pages: u64, owner: Owner, now: SystemTime) -> Self {
        let gauge = Gauge::default();
        let mut root = Inode::new(ROOT, Body::Dir(BTreeMap::new()), owner, now, &gauge);
        // The kernel never forgets the root.
        root.lookups = 1;
        Self {
            now,
            is_frozen: false,
            is_full: false,
            failing_syncs: 0,
            pending: Pending::default(),
            inodes: BTreeMap::from([(ROOT, root)]),
            gauge,
            limit_pages,
            names,
            next_ino: FIRST,
            next_cookie: 1,
        }
    }

    /// Returns an inode.
    pub(crate) fn inode(&self, ino: u64) -> Result<&Inode, Errno> {
        self.inodes.get(&ino).ok_or(Errno::ENOENT)
    }

    /// Returns an inode to change.
    fn inode_mut(&mut self, ino: u64) -> Result<&mut Inode, Errno> {
        self.inodes.get_mut(&ino).ok_or(Errno::ENOENT)
    }

    /// Returns the entries of a directory.
    pub(crate) fn entries(&self, dir: u64) -> Result<&BTreeMap<OsString, Entry>, Errno> {
        match &self.inode(dir)?.body {
            Body::Dir(entries) => Ok(entries),
            Body::File(_) | Body::Special(_) => Err(Errno::ENOTDIR),
        }
    }

    /// Returns the contents of a file.
    pub(crate) fn contents(&mut self, ino: u64) -> Result<&mut Contents, Errno> {
        match &mut self.inode_mut(ino)?.body {
            Body::File(contents) => Ok(contents),
            Body::Dir(_) => Err(Errno::EISDIR),
            Body::Special(_) => Err(Errno::EINVAL),
        }
    }

    /// Returns the inode of a name.
    pub(crate) fn lookup(&self, name: &Name) -> Result<u64, Errno> {
        let entry = self.entries(name.dir)?.get(&name.name);
        entry.map(|entry| entry.ino).ok_or(Errno::ENOENT)
    }

    /// Makes an inode with a name.
    pub(crate) fn make(
        &mut self,
        name: &Name,
        body: Body,
        owner: Owner,
    ) -> Result<FileAttr, Errno> {
        self.check_space(1)?;
        let ino = self.next_ino;
        self.next_ino += 1;
        let inode = Inode::new(ino, body, owner, self.now, &self.gauge);
        self.inodes.insert(ino, inode);
        self.change_name(name, Some(ino), &[]);
        Ok(self.inode(ino)?.attr())
    }

    /// Gives a file another name.
    pub(crate) fn link(&mut self, ino: u64, name: &Name) -> Result<FileAttr, Errno> {
        self.check_space(0)?;
        self.change_name(name, Some(ino), &[]);
        Ok(self.inode(ino)?.attr())
    }

    /// Removes a name.
    pub(crate) fn remove(&mut self, name: &Name) -> Result<(), Errno> {
        self.check_change()?;
        let joined = self.removed_with(self.lookup(name)?)?;
        self.change_name(name, None, &joined);
        Ok(())
    }

    /// Renames an inode, and replaces what had the new name.
    pub(crate) fn rename(&mut self, from: &Name, to: &Name) -> Result<(), Errno> {
        self.check_change()?;
        let ino = self.lookup(from)?;
        let mut joined = self.ancestors(to.dir);
        if let Ok(replaced) = self.lookup(to) {
            joined.extend(self.removed_with(replaced)?);
        }
        self.pending.add(from, Some(ino));
        joined.push(from.clone());
        self.change_name(to, Some(ino), &joined);
        self.change_name(from, None, &[]);
        Ok(())
    }

    /// Writes to a file; `is_sync`: with a sync before the answer.
    pub(crate) fn write(
        &mut self,
        ino: u64,
        offset: u64,
        data: &[u8],
        is_sync: bool,
    ) -> Result<(), Errno> {
        self.check_change()?;
        let end = offset.checked_add(data.len() as u64).ok_or(Errno::EFBIG)?;
        let pages = end.div_ceil(PAGE) - offset / PAGE;
        if !self.contents(ino)?.is_allocated(offset, end) {
            self.check_space(pages)?;
        }
        // Each page may also need a copy of its durable content.
        if self.gauge.pages() + 2 * pages > self.limit_pages {
            return Err(Errno::ENOSPC);
        }
        let (gauge, now) = (self.gauge.clone(), self.now);
        self.contents(ino)?.write(offset, data, &gauge);
        self.inode_mut(ino)?.attr.mtime = now;
        if is_sync { self.sync(ino) } else { Ok(()) }
    }

    /// Allocates or frees a range of a file; allocated space is not reserved.
    pub(crate) fn allocate(
        &mut self,
        ino: u64,
        range: Range<u64>,
        mode: FallocateFlags,
    ) -> Result<(), Errno> {
        let (zero, keep_size) = (FallocateFlags::ZERO_RANGE, FallocateFlags::KEEP_SIZE);
        if !(FallocateFlags::PUNCH_HOLE | zero | keep_size).contains(mode) {
            return Err(Errno::EOPNOTSUPP);
        }
        self.check_change()?;
        if mode.intersects(FallocateFlags::PUNCH_HOLE | zero) {
            self.contents(ino)?.punch(range.start, range.end);
        } else {
            self.check_space(0)?;
        }
        let now = self.now;
        let contents = self.contents(ino)?;
        if !mode.contains(keep_size) {
            contents.truncate(contents.size().max(range.end));
        }
        self.inode_mut(ino)?.attr.mtime = now;
        Ok(())
    }

    /// Sets the size, if one is given, and other attributes by a function.
    pub(crate) fn set_attr(
        &mut self,
        ino: u64,
        size: Option<u64>,
        change: impl FnOnce(&mut FileAttr),
    ) -> Result<FileAttr, Errno> {
        self.check_change()?;
        let now = self.now;
        if let Some(size) = size {
            self.contents(ino)?.truncate(size);
            self.inode_mut(ino)?.attr.mtime = now;
        }
        let inode = self.inode_mut(ino)?;
        inode.attr.ctime = now;
        change(&mut inode.attr);
        Ok(inode.attr())
    }

    /// Makes a file or the entries of a directory durable; names as [`Names`] states.
    ///
    /// # Errors
    /// EIO if changes are frozen, or once for each sync that has to fail.
    pub(crate) fn sync(&mut self, ino: u64) -> Result<(), Errno> {
        self.check_change()?;
        let is_failing = self.failing_syncs > 0;
        let inode = self.inode_mut(ino)?;
        let own: Vec<Name> = inode.names.iter().cloned().collect();
        match &mut inode.body {
            Body::File(contents) if is_failing && contents.is_dirty() => {
                contents.fail_sync();
                self.failing_syncs -= 1;
                return Err(Errno::EIO);
            }
            Body::File(contents) => contents.sync(),
            Body::Dir(_) | Body::Special(_) => {}
        }
        let mut names = self.pending.names_in(ino);
        if self.names == Names::Own {
            own.iter().for_each(|name| names.extend(self.ancestors(name.dir)));
            names.extend(own);
        }
        self.settle(&names);
        Ok(())
    }

    /// Makes changed names durable.
    pub(crate) fn settle(&mut self, names: &[Name]) {
        for ino in self.pending.settle(names) {
            self.release(ino);
        }
    }

    /// Returns the names whose changes must survive with the removal of this inode.
    ///
    /// Files may have moved out of a directory, and a file may have got another name.
    fn removed_with(&self, ino: u64) -> Result<Vec<Name>, Errno> {
        let inode = self.inode(ino)?;
        match &inode.body {
            Body::Dir(entries) if !entries.is_empty() => Err(Errno::ENOTEMPTY),
            Body::Dir(_) => Ok(self.pending.names_in(ino)),
            Body::File(_) | Body::Special(_) => Ok(inode.names.iter().cloned().collect()),
        }
    }

    /// Fails if changes are frozen.
    pub(crate) fn check_change(&self) -> Result<(), Errno> {
        if self.is_frozen { Err(Errno::EIO) } else { Ok(()) }
    }

    /// Fails if changes are frozen, or if there is no space for `pages` pages.
    pub(crate) fn check_space(&self, pages: u64) -> Result<(), Errno> {
        self.check_change()?;
        let is_full = self.is_full || self.gauge.pages() + pages > self.limit_pages;
        if is_full { Err(Errno::ENOSPC) } else { Ok(()) }
    }
}
