//! A file, a directory or another node of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};

use crate::contents::Contents;
use crate::page::{Gauge, PAGE};
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
    /// A socket or a pipe: the kernel does its work.
    Special(FileType),
}

/// Owner and permissions of a new inode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    /// Permission bits.
    pub(crate) perm: u16,
    /// Account.
    pub(crate) uid: u32,
    /// Group.
    pub(crate) gid: u32,
}

/// A node of the tree.
#[derive(Debug)]
pub(crate) struct Inode {
    /// Content.
    pub(crate) body: Body,
    /// Current names.
    pub(crate) names: BTreeSet<Name>,
    /// Number of references that the kernel has to the inode.
    pub(crate) lookups: u64,
    /// Owner, permissions and times, which are durable at once.
    pub(crate) attr: FileAttr,
    _gauge: Gauge,
}

impl Inode {
    /// Returns an inode without names.
    pub(crate) fn new(ino: u64, body: Body, owner: Owner, now: SystemTime, gauge: &Gauge) -> Self {
        let attr = FileAttr {
            ino: INodeNo(ino),
            size: 0,
            blocks: 0,
            atime: now,
            mtime: now,
            ctime: now,
            crtime: now,
            kind: FileType::Directory,
            perm: owner.perm,
            nlink: 1,
            uid: owner.uid,
            gid: owner.gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        };
        Self { body, names: BTreeSet::new(), lookups: 0, attr, _gauge: gauge.clone() }
    }

    /// Returns the attributes as `stat` reports them.
    pub(crate) fn attr(&self) -> FileAttr {
        let mut attr = self.attr;
        match &self.body {
            Body::File(contents) => {
                attr.kind = FileType::RegularFile;
                attr.size = contents.size();
                attr.blocks = contents.allocated() * (PAGE / 512);
                attr.nlink = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            }
            Body::Dir(_) => {}
            Body::Special(kind) => attr.kind = *kind,
        }
        attr
    }
}
