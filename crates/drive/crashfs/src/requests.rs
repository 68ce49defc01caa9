//! Answers the kernel's requests.
//!
//! Requests without a method here get ENOSYS once, after which the kernel does without: no extended
//! attributes and symbolic links, `copy_file_range` as reads and writes, locks in the kernel.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, OFlags};

use crate::contents::Contents;
use crate::disk::{Disk, State};
use crate::inode::{Body, Owner};
use crate::pending::Name;
use crate::tree::Tree;

/// How long the kernel may use names and attributes without a request.
///
/// Source: our choice: only the kernel changes them while the disk is mounted.
const CACHED: Duration = Duration::from_secs(3600);
/// Pages survive a close in the kernel's cache, because no other host changes them.
const OPENED: FopenFlags = FopenFlags::FOPEN_KEEP_CACHE;
/// Inode numbers are not used twice.
const GENERATION: Generation = Generation(0);

/// Requests of one mount.
#[derive(Debug)]
pub(crate) struct Requests {
    disk: Disk,
    /// Number of the mount.
    number: u64,
}

/// Returns a name of a request.
fn name(dir: INodeNo, name: &OsStr) -> Name {
    Name { dir: dir.0, name: name.to_owned() }
}

/// Returns the permission bits of a mode.
fn perm(mode: u32) -> u16 {
    u16::try_from(mode & 0o7777).unwrap_or_default()
}

/// Returns owner and permissions of a new inode.
fn owner(request: &Request, mode: u32) -> Owner {
    Owner { perm: perm(mode), uid: request.uid(), gid: request.gid() }
}

/// Must a file with these flags be synced at each write?
fn is_sync(flags: i32) -> bool {
    let flags = OFlags::from_bits_retain(flags.cast_unsigned());
    flags.intersects(OFlags::DSYNC | OFlags::SYNC)
}

impl Requests {
    /// Returns the requests of the mount with this number.
    pub(crate) const fn new(disk: Disk, number: u64) -> Self {
        Self { disk, number }
    }

    /// Applies a request to the disk, if this is its mount.
    fn apply<T>(&self, request: impl FnOnce(&mut State) -> Result<T, Errno>) -> Result<T, Errno> {
        let mut state = self.disk.state();
        if state.mounts == self.number { request(&mut state) } else { Err(Errno::EIO) }
    }

    /// Answers a request for an inode, to which the kernel then refers.
    fn entry(&self, reply: ReplyEntry, request: impl FnOnce(&mut Tree) -> Result<FileAttr, Errno>) {
        let answer = self.apply(|state| {
            let attr = request(&mut state.tree)?;
            state.tree.remember(attr.ino.0);
            Ok(attr)
        });
        match answer {
            Ok(attr) => reply.entry(&CACHED, &attr, GENERATION),
            Err(error) => reply.error(error),
        }
    }

    /// Answers a request for attributes.
    fn attr(&self, reply: ReplyAttr, request: impl FnOnce(&mut Tree) -> Result<FileAttr, Errno>) {
        match self.apply(|state| request(&mut state.tree)) {
            Ok(attr) => reply.attr(&CACHED, &attr),
            Err(error) => reply.error(error),
        }
    }

    /// Answers a request that has no result.
    fn empty(&self, reply: ReplyEmpty, request: impl FnOnce(&mut State) -> Result<(), Errno>) {
        match self.apply(request) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    /// Counts and executes a sync.
    fn sync(&self, ino: INodeNo, reply: ReplyEmpty) {
        self.empty(reply, |state| {
            state.syncs += 1;
            state.tree.sync(ino.0)
        });
    }
}

impl Filesystem for Requests {
    fn lookup(&self, _: &Request, parent: INodeNo, file: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |tree| Ok(tree.inode(tree.lookup(&name(parent, file))?)?.attr()));
    }

    fn forget(&self, _: &Request, ino: INodeNo, lookups: u64) {
        // Requests of an earlier mount have no reference any more.
        self.apply(|state| {
            state.tree.forget(ino.0, lookups);
            Ok(())
        })
        .ok();
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.attr(reply, |tree| Ok(tree.inode(ino.0)?.attr()));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.attr(reply, |tree| {
            let now = tree.now;
            let time = |time: TimeOrNow| match time {
                TimeOrNow::SpecificTime(time) => time,
                TimeOrNow::Now => now,
            };
            tree.set_attr(ino.0, size, |attr| {
                attr.perm = mode.map_or(attr.perm, perm);
                attr.uid = uid.unwrap_or(attr.uid);
                attr.gid = gid.unwrap_or(attr.gid);
                attr.atime = atime.map_or(attr.atime, time);
                attr.mtime = mtime.map_or(attr.mtime, time);
            })
        });
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        file: &OsStr,
        mode: u32,
        _umask: u32,
        _rdev: u32,
        reply: ReplyEntry,
    ) {
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let body = if kind.is_fifo() {
            Body::Special(FileType::NamedPipe)
        } else if kind.is_socket() {
            Body::Special(FileType::Socket)
        } else {
            Body::File(Contents::default())
        };
        self.entry(reply, |tree| tree.make(&name(parent, file), body, owner(request, mode)));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        file: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let body = Body::Dir(BTreeMap::new());
        self.entry(reply, |tree| tree.make(&name(parent, file), body, owner(request, mode)));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, file: &OsStr, reply: ReplyEmpty) {
        self.empty(reply, |state| state.tree.remove(&name(parent, file)));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, file: &OsStr, reply: ReplyEmpty) {
        self.empty(reply, |state| state.tree.remove(&name(parent, file)));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        from: &OsStr,
        new_parent: INodeNo,
        to: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        // The kernel itself checks that the new name is free.
        if !RenameFlags::RENAME_NOREPLACE.contains(flags) {
            return reply.error(Errno::EINVAL);
        }
        self.empty(reply, |state| state.tree.rename(&name(parent, from), &name(new_parent, to)));
    }

    fn link(&self, _: &Request, ino: INodeNo, parent: INodeNo, file: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |tree| tree.link(ino.0, &name(parent, file)));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), OPENED);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.apply(|state| Ok(state.tree.contents(ino.0)?.read(offset, bytes.into()))) {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        // For a file with O_DSYNC, the kernel also sends a sync, except with direct IO.
        let is_sync = is_sync(flags.0);
        match self.apply(|state| state.tree.write(ino.0, offset, data, is_sync)) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(error) => reply.error(error),
        }
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(ino, reply);
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(ino, reply);
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.apply(|State { tree, .. }| {
            let later = tree.entries(ino.0)?.iter().filter(|(_, entry)| entry.cookie > offset);
            let mut entries: Vec<_> = later.collect();
            entries.sort_by_key(|(_, entry)| entry.cookie);
            for (name, entry) in entries {
                let kind = tree.inode(entry.ino)?.attr().kind;
                if reply.add(INodeNo(entry.ino), entry.cookie, kind, name) {
                    break;
                }
            }
            Ok(())
        });
        match listed {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let state = self.disk.state();
        let (used, total) = (state.tree.gauge.pages(), state.tree.limit_pages);
        let free = if state.tree.is_full { 0 } else { total.saturating_sub(used) };
        let page = 4096;
        reply.statfs(total, free, free, total, free, page, 255, page);
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        self.empty(reply, |state| {
            state.tree.allocate(ino.0, offset..offset.saturating_add(bytes), mode)
        });
    }
}
