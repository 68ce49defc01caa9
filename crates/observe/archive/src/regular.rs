//! Opens files of an archive, which may come from a stranger.
//!
//! A pipe or a device in the place of a file is refused and not waited for. Links are followed up
//! to an experiment's directory and not below it: none leads to a file outside of the archive.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Flags of each directory on the way to a file of an engine.
const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Flags of the open of a file: no link is followed, no pipe is waited for.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_as(path, OpenOptions::new().read(true))
}

/// Opens a regular file with these options; follows no link at its name, and waits for no pipe.
pub(crate) fn open_as(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = i32::try_from(FILE.bits()).map_err(io::Error::other)?;
    let file = options.custom_flags(flags).open(path).map_err(|error| {
        let is_other = fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
        if is_other { not_regular() } else { error }
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// How many names a file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// One: a second name may be that of a file in another directory.
    One,
    /// Any number where the directory is this account's, as in a backup of it; else one.
    Several,
}

/// Opens a regular file below a directory for reading; follows no link below that directory.
///
/// Each part is opened below the descriptor of the part before, so nothing that a hostile engine or
/// another account renames meanwhile leads elsewhere.
pub(crate) fn open_below(dir: &Path, path: &Path, names: Names) -> io::Result<File> {
    let outside = || io::Error::other(format!("it is not below {}", dir.display()));
    let below = path.strip_prefix(dir).ok().ok_or_else(outside)?;
    // The directory of an experiment may be a link, that of a run is none.
    let base = match names {
        Names::One => DIRECTORY,
        Names::Several => DIRECTORY.difference(OFlags::NOFOLLOW),
    };
    let mut parent: OwnedFd = openat(CWD, dir, base, Mode::empty())?;
    let is_own = fstat(&parent)?.st_uid == geteuid().as_raw();
    let may_have_several = is_own && names == Names::Several;
    let mut parts = below.components().peekable();
    while let Some(Component::Normal(name)) = parts.next() {
        let is_last = parts.peek().is_none();
        let flags = if is_last { FILE | OFlags::RDONLY | OFlags::CLOEXEC } else { DIRECTORY };
        let opened = openat(&parent, name, flags, Mode::empty());
        parent = opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR | Errno::NXIO => not_regular(),
            other => other.into(),
        })?;
        if is_last {
            let file = File::from(parent);
            let found = file.metadata()?;
            return match found.is_file() {
                false => Err(not_regular()),
                true if found.nlink() > 1 && !may_have_several => {
                    Err(io::Error::other("it has a second name"))
                }
                true => Ok(file),
            };
        }
    }
    Err(outside())
}

fn not_regular() -> io::Error {
    io::Error::other("it is a link, a directory, a pipe or a device, and not a regular file")
}

/// Reads a whole regular file of at most so many bytes.
///
/// A sparse file that a stranger sent may claim more than this machine's memory.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    check_length(length, bytes_max)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // It may grow meanwhile.
    let read = Read::by_ref(&mut file).take(bytes_max + 1).read_to_end(&mut bytes)?;
    check_length(read as u64, bytes_max)?;
    Ok(bytes)
}

/// Checks that a file has at most so many bytes.
pub(crate) fn check_length(bytes: u64, bytes_max: u64) -> io::Result<()> {
    match bytes <= bytes_max {
        true => Ok(()),
        false => {
            let text =
                format!("it is larger than {} MiB, the limit for this file", bytes_max >> 20);
            Err(io::Error::other(text))
        }
    }
}

/// Checks that a directory below an experiment's is no link; an absent one is none.
pub(crate) fn check_dir(dir: &Path) -> io::Result<()> {
    match dir.is_symlink() {
        true => Err(io::Error::other("its directory is a link, which is not followed")),
        false => Ok(()),
    }
}

/// Checks that neither a run's directory nor the one above it is a link.
pub(crate) fn check_run_dir(dir: &Path) -> io::Result<()> {
    check_dir(dir.parent().unwrap_or(dir))?;
    check_dir(dir)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use rustix::fs::mkfifoat;

    use super::*;
    use crate::limits::FILE_BYTES_MAX;

    #[test]
    fn only_a_regular_file_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "abc").unwrap();
        assert_eq!(read(&at("file"), 3).unwrap(), b"abc");
        assert!(read(&at("file"), 2).is_err());
        mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("absent", at("dangling")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let others = ["pipe", "link", "dangling", "socket", "."].map(at);
        for path in others.iter().chain(&[PathBuf::from("/dev/zero")]) {
            let error = read(path, FILE_BYTES_MAX).unwrap_err().to_string();
            assert!(error.ends_with("not a regular file"), "{}: {error}", path.display());
        }
        assert_eq!(read(&at("absent"), 1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// Goal: whatever name an engine reports, and whatever links it makes, no foreign file is read.
    #[test]
    fn no_name_below_a_directory_leads_out_of_it() {
        let root = tempfile::tempdir().unwrap();
        let (data, secret) = (root.path().join("data"), root.path().join("etc/shadow"));
        fs::create_dir_all(data.join("logs")).unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        fs::write(&secret, "secret").unwrap();
        fs::write(data.join("logs/LOG"), "log").unwrap();
        symlink("../etc", data.join("linked")).unwrap();
        symlink("../etc/shadow", data.join("LOG")).unwrap();
        fs::hard_link(&secret, data.join("second")).unwrap();
        mkfifoat(CWD, data.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let mut text = String::new();
        open_below(&data, &data.join("logs/LOG"), Names::One)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "log");
        let names = ["linked/shadow", "LOG", "second", "pipe", "logs", "../etc/shadow", "", "."];
        for name in names {
            let error = open_below(&data, &data.join(name), Names::One).unwrap_err().to_string();
            let is_refused = ["not a regular file", "second name", "not below"];
            assert!(is_refused.iter().any(|text| error.contains(text)), "{name}: {error}");
        }
        let error = open_below(&data, &data.join("logs/../../etc/shadow"), Names::One)
            .unwrap_err()
            .to_string();
        assert!(error.contains("not below"), "{error}");
        assert!(open_below(&data, &secret, Names::One).is_err());
        assert!(open_below(&data, &data, Names::One).is_err());
        let absent = open_below(&data, &data.join("absent/LOG"), Names::One).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_larger_than_any_of_an_archive_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        File::create(&path).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        let error = read(&path, FILE_BYTES_MAX).unwrap_err().to_string();
        assert!(error.contains("larger than 1024 MiB"), "{error}");
    }

    #[test]
    fn a_run_below_a_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("runs/one")).unwrap();
        symlink("runs", dir.path().join("linked")).unwrap();
        symlink("one", dir.path().join("runs/two")).unwrap();
        check_run_dir(&dir.path().join("runs/one")).unwrap();
        check_run_dir(&dir.path().join("runs/absent")).unwrap();
        for run in ["linked/one", "runs/two"] {
            let error = check_run_dir(&dir.path().join(run)).unwrap_err().to_string();
            assert!(error.contains("is a link, which is not followed"), "{error}");
        }
    }
}
