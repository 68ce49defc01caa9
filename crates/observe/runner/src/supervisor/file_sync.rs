//! Writes the files of a run to storage.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;

/// Most entries that are visited: a hostile server could make new ones for ever.
///
/// Our choice: ten times the files of the largest Postgres database with one table per client.
const ENTRIES_MAX: usize = 1 << 20;

/// Writes the files below a directory to storage; one that was removed meanwhile is none.
///
/// File by file: a sync of the whole file system would write what other processes left. By
/// descriptor, through no link and waiting for no pipe: the account of a server owns its files.
///
/// # Errors
/// When a file cannot be synced, or `is_cancelled`.
pub(crate) fn sync_files(dir: &Path, is_cancelled: &dyn Fn() -> bool) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = flags | OFlags::CLOEXEC;
    let mut dirs: Vec<OwnedFd> = vec![open(dir, flags, Mode::empty())?];
    let mut left = ENTRIES_MAX;
    while let Some(dir) = dirs.pop() {
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if is_cancelled() {
                return Err(io::Error::other("interrupted"));
            }
            left = left.checked_sub(1).ok_or_else(|| io::Error::other("too many files"))?;
            let file = match openat(&dir, name, flags, Mode::empty()) {
                // Removed, a link or a socket.
                Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => continue,
                opened => opened?,
            };
            let kind = FileType::from_raw_mode(fstat(&file)?.st_mode);
            if kind.is_dir() {
                dirs.push(file);
            } else if kind.is_file() {
                File::from(file).sync_all()?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mkfifoat};

    use super::*;

    #[test]
    fn no_pipe_is_waited_for_and_no_link_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("base/1")).unwrap();
        fs::write(at("base/1/rows"), "rows").unwrap();
        mkfifoat(CWD, at("base/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        symlink(at("base/pipe"), at("link")).unwrap();
        symlink(dir.path(), at("base/loop")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        sync_files(dir.path(), &|| false).unwrap();
        assert!(sync_files(dir.path(), &|| true).is_err());
        assert!(sync_files(&at("absent"), &|| false).is_err());
    }
}
