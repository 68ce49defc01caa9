//! Removes a directory, however deep and whatever its modes.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, fchmod, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

/// Flags of a directory that is emptied: no link is followed.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a directory with all that is in it; no link in it is followed.
///
/// A hostile engine may have made it deeper than there are descriptors or a stack for. So each
/// directory in it is moved up to its top before it is emptied: three are open at a time. The
/// processes that could write there must have ended.
///
/// # Errors
/// When it is no directory, or the file system refuses; an absent one is removed already.
pub fn remove_dir(path: &Path) -> io::Result<()> {
    let top = match opened(&CWD, path.as_os_str()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut number = 0_u64;
    loop {
        let dirs = emptied(&top)?;
        if dirs.is_empty() {
            break;
        }
        for name in dirs {
            let dir = opened(&top, OsStr::from_bytes(&name))?;
            for below in emptied(&dir)? {
                // Its entry `..` is changed, which needs the right to write in it.
                open_to_owner(&dir, OsStr::from_bytes(&below))?;
                moved_up(&dir, &below, &top, &mut number)?;
            }
            unlinkat(&top, OsStr::from_bytes(&name), AtFlags::REMOVEDIR)?;
        }
    }
    Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Moves a directory to the top, under a name that none has there.
fn moved_up(from: &OwnedFd, name: &[u8], top: &OwnedFd, number: &mut u64) -> io::Result<()> {
    loop {
        let fresh = format!("{number}.removed");
        *number += 1;
        match statat(top, &fresh, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(renameat(from, OsStr::from_bytes(name), top, fresh)?),
            found => found.map(drop)?,
        }
    }
}

/// Removes all but the directories in a directory, and returns their names.
fn emptied(dir: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut dirs = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            let found = statat(dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            kind = FileType::from_raw_mode(found.st_mode);
        }
        match kind == FileType::Directory {
            true => dirs.push(name.to_vec()),
            false => unlinkat(dir, entry.file_name(), AtFlags::empty())?,
        }
    }
    Ok(dirs)
}

/// Opens a directory whose entries are removed.
fn opened(parent: &impl std::os::fd::AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    open_to_owner(parent, name)?;
    Ok(openat(parent, name, DIRECTORY, Mode::empty())?)
}

/// Gives the owner of a directory all rights in it.
fn open_to_owner(parent: &impl std::os::fd::AsFd, name: &OsStr) -> io::Result<()> {
    match openat(parent, name, DIRECTORY, Mode::empty()) {
        Ok(dir) => {
            // Root needs none, and another owner's is not changed.
            fchmod(dir, Mode::RWXU).ok();
            Ok(())
        }
        // It is no link: such an open fails otherwise.
        Err(Errno::ACCESS) => Ok(chmodat(parent, name, Mode::RWXU, AtFlags::empty())?),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::mkdirat;

    use super::*;

    /// Levels of a directory, more than paths and descriptors allow.
    const LEVELS: usize = 2_000;

    /// Goal: no depth, mode or link of a hostile engine's directory keeps it from being removed.
    #[test]
    fn a_deep_directory_is_removed_and_no_link_followed() {
        let place = tempfile::tempdir().unwrap();
        let (victim, path) = (place.path().join("victim"), place.path().join("data"));
        fs::create_dir_all(victim.join("precious")).unwrap();
        fs::create_dir_all(path.join("0.removed/1.removed")).unwrap();
        symlink(&victim, path.join("link")).unwrap();
        fs::write(path.join("file"), "x").unwrap();
        let mut dir = openat(CWD, &path, DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..LEVELS {
            mkdirat(&dir, "d", Mode::RWXU).unwrap();
            dir = openat(&dir, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        fchmod(&dir, Mode::empty()).unwrap();
        remove_dir(&path).unwrap();
        assert!(!path.exists() && victim.join("precious").exists());
        remove_dir(&path).unwrap();
        symlink(&victim, &path).unwrap();
        remove_dir(&path).unwrap_err();
        assert!(victim.join("precious").exists());
    }
}
