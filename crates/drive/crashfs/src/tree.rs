//! Files and directories in memory: the state machine behind the mount.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::time::SystemTime;

use fuser::{Errno, FileAttr, FileType};
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

/// Owner, size and times to set; `None` leaves the value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    /// Permission bits.
    pub(crate) perm: Option<u16>,
    /// Account.
    pub(crate) uid: Option<u32>,
    /// Group.
    pub(crate) gid: Option<u32>,
    /// Size in bytes.
    pub(crate) size: Option<u64>,
    /// Time of the last access.
    pub(crate) atime: Option<SystemTime>,
    /// Time of the last modification.
    pub(crate) mtime: Option<SystemTime>,
}

/// An entry of a listing.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// Inode and position.
    pub(crate) entry: Entry,
    /// Type of the inode.
    pub(crate) kind: FileType,
    /// Name in the directory.
    pub(crate) name: OsString,
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
            Body::File(_) | Body::Link(_) | Body::Special(_) => Err(Errno::ENOTDIR),
        }
    }

    /// Returns the contents of a file.
    pub(crate) fn contents(&mut self, ino: u64) -> Result<&mut Contents, Errno> {
        match &mut self.inode_mut(ino)?.body {
            Body::File(contents) => Ok(contents),
            Body::Dir(_) => Err(Errno::EISDIR),
            Body::Link(_) | Body::Special(_) => Err(Errno::EINVAL),
        }
    }

    /// Returns the inode of a name.
    pub(crate) fn lookup(&self, name: &Name) -> Result<u64, Errno> {
        let entry = self.entries(name.dir)?.get(&name.name);
        entry.map(|entry| entry.ino).ok_or(Errno::ENOENT)
    }

    /// Returns the entries of a directory after the position `cookie`, in order of creation.
    pub(crate) fn list(&self, dir: u64, cookie: u64) -> Result<Vec<Listed>, Errno> {
        let entries = self.entries(dir)?.iter().filter(|(_, entry)| entry.cookie > cookie);
        let listed = entries.filter_map(|(name, entry)| {
            let kind = self.inodes.get(&entry.ino)?.attr().kind;
            Some(Listed { entry: *entry, kind, name: name.clone() })
        });
        let mut listed: Vec<Listed> = listed.collect();
        listed.sort_by_key(|listed| listed.entry.cookie);
        Ok(listed)
    }

    /// Makes an inode with a name.
    pub(crate) fn make(
        &mut self,
        name: &Name,
        body: Body,
        owner: Owner,
    ) -> Result<FileAttr, Errno> {
        self.check_space(1)?;
        self.check_free(name)?;
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
        self.check_free(name)?;
        self.change_name(name, Some(ino), &[]);
        Ok(self.inode(ino)?.attr())
    }

    /// Removes a name: of a directory if `of_dir`, else of another inode.
    pub(crate) fn remove(&mut self, name: &Name, of_dir: bool) -> Result<(), Errno> {
        self.check_change()?;
        let ino = self.lookup(name)?;
        let needed = self.check_removable(ino, of_dir)?;
        self.change_name(name, None, &needed);
        Ok(())
    }

    /// Renames an inode, and replaces what had the new name.
    pub(crate) fn rename(&mut self, from: &Name, to: &Name) -> Result<(), Errno> {
        self.check_change()?;
        let ino = self.lookup(from)?;
        let replaced = self.entries(to.dir)?.get(&to.name).map(|entry| entry.ino);
        if replaced == Some(ino) {
            return Ok(());
        }
        let mut needed = self.ancestors(to.dir);
        if to.dir == ino || needed.iter().any(|name| name.dir == ino) {
            return Err(Errno::EINVAL);
        }
        let is_dir = matches!(self.inode(ino)?.body, Body::Dir(_));
        if let Some(replaced) = replaced {
            needed.extend(self.check_removable(replaced, is_dir)?);
        }
        self.pending.add(from, Some(ino));
        self.pending.add(to, replaced);
        self.pending.join(from, to);
        needed.iter().for_each(|name| self.pending.need(from, name));
        self.place(to, Some(ino));
        self.place(from, None);
        for name in [from, to] {
            self.prune(name);
        }
        if let Some(replaced) = replaced {
            self.release(replaced);
        }
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
        self.inode_mut(ino)?.modified(now);
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
        self.inode_mut(ino)?.modified(now);
        Ok(())
    }

    /// Sets attributes and size.
    pub(crate) fn set_attr(&mut self, ino: u64, change: Change) -> Result<FileAttr, Errno> {
        self.check_change()?;
        let now = self.now;
        if let Some(size) = change.size {
            self.contents(ino)?.truncate(size);
            self.inode_mut(ino)?.modified(now);
        }
        let attr = self.inode_mut(ino)?.attr_mut();
        attr.ctime = now;
        attr.perm = change.perm.unwrap_or(attr.perm);
        attr.uid = change.uid.unwrap_or(attr.uid);
        attr.gid = change.gid.unwrap_or(attr.gid);
        attr.atime = change.atime.unwrap_or(attr.atime);
        attr.mtime = change.mtime.unwrap_or(attr.mtime);
        Ok(self.inode(ino)?.attr())
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
            Body::Dir(_) | Body::Link(_) | Body::Special(_) => {}
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

    /// Returns the names that must survive if a name of this inode is removed.
    ///
    /// Files may have moved out of a directory, and a file may have got another name.
    fn check_removable(&self, ino: u64, of_dir: bool) -> Result<Vec<Name>, Errno> {
        let inode = self.inode(ino)?;
        match &inode.body {
            Body::Dir(_) if !of_dir => Err(Errno::EISDIR),
            Body::Dir(entries) if !entries.is_empty() => Err(Errno::ENOTEMPTY),
            Body::Dir(_) => Ok(self.pending.names_in(ino)),
            Body::File(_) | Body::Link(_) | Body::Special(_) => {
                if of_dir {
                    Err(Errno::ENOTDIR)
                } else {
                    Ok(inode.names.iter().cloned().collect())
                }
            }
        }
    }

    /// Fails if a name exists.
    fn check_free(&self, name: &Name) -> Result<(), Errno> {
        let exists = self.entries(name.dir)?.contains_key(&name.name);
        if exists { Err(Errno::EEXIST) } else { Ok(()) }
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
