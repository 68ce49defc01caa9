//! Directories that are made and opened after their path was checked.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::account::Trusted;
use crate::walk::Walk;

/// Which accounts may make entries in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entries {
    /// Trusted ones only: files in it are used by path.
    Closed,
    /// Others too, when it is sticky: each entry is checked, or its name is drawn by chance.
    Shared,
}

/// An open directory whose path no other account can replace.
#[derive(Debug)]
pub struct Dir {
    file: File,
    path: PathBuf,
}

impl Dir {
    /// Opens a directory, and makes those of its path that are absent.
    ///
    /// # Errors
    /// For root, the first part of the path that another account can replace.
    pub fn create(path: &Path, entries: Entries) -> io::Result<Self> {
        Self::make(path, entries, false)
    }

    /// As [`Dir::create`]; those that it makes can be entered by all, whatever the umask.
    ///
    /// # Errors
    /// As [`Dir::create`].
    pub fn create_open(path: &Path) -> io::Result<Self> {
        Self::make(path, Entries::Closed, true)
    }

    /// Returns its path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its open descriptor.
    pub const fn file(&self) -> &File {
        &self.file
    }

    fn make(path: &Path, entries: Entries, exact: bool) -> io::Result<Self> {
        if geteuid().is_root() {
            return Self::make_trusted(&Trusted::of_process(), path, entries, exact);
        }
        fs::create_dir_all(path)?;
        Ok(Self { file: File::open(path)?, path: fs::canonicalize(path)? })
    }

    pub(crate) fn make_trusted(
        trusted: &Trusted,
        path: &Path,
        entries: Entries,
        exact: bool,
    ) -> io::Result<Self> {
        let mut walk = Walk::checked(trusted, path)?;
        walk.create(Mode::from_raw_mode(0o755), exact)?;
        if entries == Entries::Closed {
            walk.check_closed()?;
        }
        Ok(Self { file: entered(&walk)?.into(), path: walk.path })
    }
}

/// Checks a directory or a file as [`Dir::create`] does, and makes nothing; it may be absent.
///
/// # Errors
/// As [`Dir::create`].
pub fn check(path: &Path, entries: Entries) -> io::Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    check_trusted(&Trusted::of_process(), path, entries)
}

pub(crate) fn check_trusted(trusted: &Trusted, path: &Path, entries: Entries) -> io::Result<()> {
    let mut walk = Walk::checked(trusted, path)?;
    match walk.follow()? {
        true if entries == Entries::Closed => walk.check_closed(),
        true => Ok(()),
        false => walk.check_default(),
    }
}

/// Opens a directory in which a file is written once, by its descriptor.
///
/// The directory may be of any account: no link of another one is followed to it. With `makes`,
/// absent parts of the path are made.
///
/// # Errors
/// A link of an account that is not trusted, for root and for others.
pub fn open_output(path: &Path, makes: bool) -> io::Result<OwnedFd> {
    let trusted = Trusted::of_process();
    let mut walk = Walk::of_links(&trusted, path)?;
    if makes {
        walk.create(Mode::from_raw_mode(0o777), false)?;
    } else if !walk.follow()? {
        return Err(Errno::NOENT.into());
    }
    entered(&walk)
}

/// Opens the directory that a path led to, for its entries: what is no directory is refused.
fn entered(walk: &Walk<'_>) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(&walk.dir, ".", flags, Mode::empty())?)
}
