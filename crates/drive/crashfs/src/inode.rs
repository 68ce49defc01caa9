//! A file, a directory or another node of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};

use crate::contents::Contents;
use crate::page::{Gauge, PAGE, Share};
use crate::pending::Name;

/// An entry of a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Inode of the entry.
    pub(crate) ino: u64,
    /// Position of the entry in listings; it does not change while the entry exists.
    pub(crate) cookie: u64,
}

/// What an inode holds.
#[derive(Debug)]
pub(crate) enum Body {
    /// A regular file.
    File(Contents),
    /// A directory.
    Dir(BTreeMap<OsString, Entry>),
    /// A symbolic link.
    Link(PathBuf),
    /// A socket, a pipe or a device: the kernel does its work.
    Special(FileType),
}

/// Owner, permissions and device of a new inode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    /// Permission bits.
    pub(crate) perm: u16,
    /// Account.
    pub(crate) uid: u32,
    /// Group.
    pub(crate) gid: u32,
    /// Device number of a device.
    pub(crate) rdev: u32,
}

/// A node of the tree. Owner, permissions and times are durable at once.
#[derive(Debug)]
pub(crate) struct Inode {
    /// Content.
    pub(crate) body: Body,
    /// Current names.
    pub(crate) names: BTreeSet<Name>,
    /// Number of references that the kernel has to the inode.
    pub(crate) lookups: u64,
    attr: FileAttr,
    _share: Share,
}

impl Inode {
    /// Returns an inode without names.
    pub(crate) fn new(ino: u64, body: Body, owner: Owner, now: SystemTime, gauge: &Gauge) -> Self {
        let kind = match body {
            Body::File(_) => FileType::RegularFile,
            Body::Dir(_) => FileType::Directory,
            Body::Link(_) => FileType::Symlink,
            Body::Special(kind) => kind,
        };
        let attr = FileAttr {
            ino: INodeNo(ino),
            size: 0,
            blocks: 0,
            atime: now,
            mtime: now,
            ctime: now,
            crtime: now,
            kind,
            perm: owner.perm,
            nlink: 1,
            uid: owner.uid,
            gid: owner.gid,
            rdev: owner.rdev,
            blksize: 4096,
            flags: 0,
        };
        let names = BTreeSet::new();
        Self { body, names, lookups: 0, attr, _share: Share::new(gauge) }
    }

    /// Returns the attributes as `stat` reports them.
    pub(crate) fn attr(&self) -> FileAttr {
        let mut attr = self.attr;
        match &self.body {
            Body::File(contents) => {
                attr.size = contents.size();
                attr.blocks = contents.allocated() * (PAGE / 512);
                attr.nlink = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            }
            Body::Link(target) => attr.size = target.as_os_str().len() as u64,
            Body::Dir(_) | Body::Special(_) => {}
        }
        attr
    }

    /// Returns the attributes to change.
    pub(crate) const fn attr_mut(&mut self) -> &mut FileAttr {
        &mut self.attr
    }

    /// Records that the content changed.
    pub(crate) const fn modified(&mut self, now: SystemTime) {
        self.attr.mtime = now;
        self.attr.ctime = now;
    }
}
