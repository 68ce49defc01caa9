//! Follows a path from directory to directory, by descriptors.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, fchmod, fstat, getxattr_query, mkdirat, openat, readlinkat};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::account::{Account, Trusted};
use crate::error::TrustError;

/// Links in one path. Source: Linux, include/linux/namei.h, `MAXSYMLINKS`.
const LINKS_MAX: usize = 40;
/// Flags of a part that is opened to read its owner and mode.
const PART: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Mode bit of a directory in which only the owner of an entry may replace it. Source: inode(7).
const STICKY: u32 = 0o1000;
/// Names of access control lists: of what was opened, and of what is made in it. Source: acl(5),
/// "Object types".
const DEFAULT_ACL: &str = "system.posix_acl_default";
const ACL: &str = "system.posix_acl_access";

/// A path that is followed, part by part.
///
/// Nothing that is renamed meanwhile leads elsewhere: each part is opened below the descriptor of
/// the one before, and its owner and mode are those of what was opened.
pub(crate) struct Walk<'a> {
    trusted: &'a Trusted,
    /// Whether directories are checked too, and not links alone.
    checks_dirs: bool,
    pub(crate) dir: OwnedFd,
    /// Its path without links; for a path that begins at `.`, relative.
    pub(crate) path: PathBuf,
    /// Names that remain, the first one last.
    left: Vec<OsString>,
    links: usize,
}

impl<'a> Walk<'a> {
    /// Begins a path at `/` with all its directories checked.
    pub(crate) fn checked(trusted: &'a Trusted, path: &Path) -> io::Result<Self> {
        let walk = Self::begin(trusted, &std::path::absolute(path)?, true)?;
        walk.check_place(&walk.path, &fstat(&walk.dir)?, true)?;
        Ok(walk)
    }

    /// Begins a path with its links checked only.
    pub(crate) fn of_links(trusted: &'a Trusted, path: &Path) -> io::Result<Self> {
        Self::begin(trusted, path, false)
    }

    fn begin(trusted: &'a Trusted, path: &Path, checks_dirs: bool) -> io::Result<Self> {
        let start = if path.is_absolute() { "/" } else { "." };
        let dir = openat(CWD, start, PART | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Self { trusted, checks_dirs, dir, path: start.into(), left: parts(path), links: 0 })
    }

    /// Enters every part that exists; returns whether all do.
    pub(crate) fn follow(&mut self) -> io::Result<bool> {
        while let Some(part) = self.left.pop() {
            // Two dots are resolved: the directory above is opened and checked as any.
            match open_part(&self.dir, &part)? {
                Some(found) => self.enter(&part, found)?,
                None if self.left.iter().any(|part| part == "..") => {
                    return Err(TrustError::Absent(self.path.join(part)).into());
                }
                None => {
                    self.left.push(part);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Enters every part, and makes those that are absent; `exact` ignores the umask.
    pub(crate) fn create(&mut self, mode: Mode, exact: bool) -> io::Result<()> {
        while !self.follow()? {
            let Some(part) = self.left.last() else { break };
            self.check_default()?;
            match mkdirat(&self.dir, part, mode) {
                Ok(()) if exact => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
                    fchmod(openat(&self.dir, part, flags | OFlags::CLOEXEC, Mode::empty())?, mode)?;
                }
                Ok(()) => {}
                // Made meanwhile: checked as any other. As often as that is no accident.
                Err(Errno::EXIST) => self.count()?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Checks that only trusted accounts can make entries here.
    pub(crate) fn check_closed(&self) -> io::Result<()> {
        self.check_place(&self.path, &fstat(&self.dir)?, false)?;
        self.check_default()
    }

    /// Checks that what is made here has the mode with which it is made.
    pub(crate) fn check_default(&self) -> io::Result<()> {
        match self.checks_dirs && self.has_acl(DEFAULT_ACL)? {
            true => Err(TrustError::Default(self.path.clone()).into()),
            false => Ok(()),
        }
    }

    /// Enters a part that is a directory or the last one; follows a link.
    fn enter(&mut self, part: &OsStr, found: OwnedFd) -> io::Result<()> {
        let facts = fstat(&found)?;
        if FileType::from_raw_mode(facts.st_mode) == FileType::Symlink {
            self.count()?;
            if !self.trusted.uids.contains(&facts.st_uid) {
                let owner = Account::of(facts.st_uid);
                return Err(TrustError::Link(self.path.join(part), owner).into());
            }
            let target = readlinkat(found.as_fd(), "", Vec::new())?;
            let target = Path::new(OsStr::from_bytes(target.as_bytes()));
            if target.is_absolute() {
                self.dir = openat(CWD, "/", PART | OFlags::DIRECTORY, Mode::empty())?;
                self.path = "/".into();
            }
            self.left.extend(parts(target));
            return Ok(());
        }
        self.dir = found;
        if part == ".." {
            self.path.pop();
        } else {
            self.path.push(part);
        }
        match self.checks_dirs {
            true => self.check_place(&self.path, &facts, true),
            false => Ok(()),
        }
    }

    /// Checks that only trusted accounts can replace the entries of what was opened.
    fn check_place(&self, at: &Path, facts: &Stat, may_be_sticky: bool) -> io::Result<()> {
        let Trusted { uids, gids } = self.trusted;
        if !uids.contains(&facts.st_uid) {
            return Err(match Account::is_unmapped(facts.st_uid) {
                true => TrustError::Unmapped(at.into()),
                false => TrustError::Owner(at.into(), Account::of(facts.st_uid)),
            }
            .into());
        }
        let kind = FileType::from_raw_mode(facts.st_mode);
        if !matches!(kind, FileType::Directory | FileType::RegularFile) {
            // No mode makes a device a place for files.
            return Err(Errno::NOTDIR.into());
        }
        let is_dir = kind == FileType::Directory;
        let writers = match facts.st_mode {
            mode if mode & 0o002 != 0 => "any account",
            mode if mode & 0o020 == 0 => return Ok(()),
            _ if !gids.contains(&facts.st_gid) => "a group of other accounts",
            // Its entries count as the group's. Source: acl(5), "Correspondence".
            _ if self.has_acl(ACL)? => "an account of an access control list",
            _ => return Ok(()),
        };
        match is_dir && facts.st_mode & STICKY != 0 {
            true if may_be_sticky => Ok(()),
            true => Err(TrustError::Sticky(at.into()).into()),
            false => Err(TrustError::Shared(at.into(), writers).into()),
        }
    }

    /// Returns whether what was opened has an access control list, or may have one.
    fn has_acl(&self, name: &str) -> io::Result<bool> {
        let path = format!("/proc/self/fd/{}", self.dir.as_raw_fd());
        match getxattr_query(path, name) {
            Ok(_bytes) => Ok(true),
            // The descriptor is open.
            Err(Errno::NOENT) => Err(TrustError::NoProc(self.path.clone()).into()),
            Err(error) => Ok(![Errno::NODATA, Errno::OPNOTSUPP].contains(&error)),
        }
    }

    /// Counts a link.
    fn count(&mut self) -> io::Result<()> {
        self.links += 1;
        if self.links > LINKS_MAX { Err(Errno::LOOP.into()) } else { Ok(()) }
    }
}

/// Opens a part, a link itself; `None` when it is absent.
fn open_part(dir: &OwnedFd, part: &OsStr) -> io::Result<Option<OwnedFd>> {
    // As a directory first: what is mounted on demand is.
    let found = match openat(dir, part, PART | OFlags::DIRECTORY, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => openat(dir, part, PART, Mode::empty()),
        found => found,
    };
    match found {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Returns the names of a path that lead on from its start, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}
