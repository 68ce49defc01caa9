//! Files that a user names: pages, posts, pictures, experiments in one file.
//!
//! Assay often runs as root in directories of other accounts, which may plant links there. So a
//! directory is opened once, through no link of another account, and every file in it is created
//! anew and renamed: the earlier file is whole until the new one is. What a kill leaves is removed
//! when the next file is written there.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::secret::masked;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::fs::{flock, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::GetRandomFlags;
use trust::open_output;

use crate::error::ArchiveError;
use crate::scratch::{Live, MAKES, PREFIX, Temporary};

/// Hex digits of a temporary file's name, after the prefix.
const DIGITS: usize = 16;

/// An open directory for files that a user named.
#[derive(Debug)]
pub struct OutputDir {
    path: PathBuf,
    dir: OwnedFd,
}

impl OutputDir {
    /// Opens a directory, and makes those of its path that are absent.
    ///
    /// # Errors
    /// [`ArchiveError::Output`]; a link of another account in the path is one.
    pub fn create(path: &Path) -> Result<Self, ArchiveError> {
        let dir = open_swept(path, true).map_err(ArchiveError::output(path))?;
        Ok(Self { path: path.to_path_buf(), dir })
    }

    /// Writes a file as a whole and returns its path.
    ///
    /// # Errors
    /// [`ArchiveError::Output`]: the earlier file is as it was. A file of another account is not
    /// replaced, and neither is a link, a directory, a pipe or a device.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, ArchiveError> {
        let path = self.path.join(name);
        replace(&self.dir, OsStr::new(name), |file| file.write_all(&shown(content)))
            .map_err(ArchiveError::output(&path))?;
        Ok(path)
    }
}

/// Writes a file that a user named as a whole: what `write` returned, or the earlier file stays.
///
/// # Errors
/// As [`OutputDir::write`].
pub(crate) fn write_with<T>(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> Result<T, ArchiveError> {
    let name = path.file_name().ok_or_else(|| {
        ArchiveError::output(path)(io::Error::other("the path names a directory, not a file"))
    })?;
    let parent = path.parent().unwrap_or(Path::new(""));
    let written = open_swept(parent, false).and_then(|dir| replace(&dir, name, write));
    written.map_err(ArchiveError::output(path))
}

/// Writes a file that a user named as a whole; an error leaves the earlier file as it was.
///
/// # Errors
/// As [`OutputDir::write`].
pub fn write_output(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ArchiveError> {
    write_with(path, |file| file.write_all(&shown(content.as_ref())))
}

/// Returns a text with its passwords masked; pictures stay as they are.
fn shown(content: &[u8]) -> Cow<'_, [u8]> {
    match str::from_utf8(content).map(masked) {
        Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        Ok(Cow::Borrowed(_)) | Err(_) => Cow::Borrowed(content),
    }
}

/// Writes a temporary file, syncs it and renames it over the one of this name.
fn replace<T>(
    dir: &OwnedFd,
    name: &OsStr,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    check_place(dir, name)?;
    let NewFile { name: fresh, mut file, _live } = NewFile::make(dir)?;
    let written = write(&mut file).and_then(|value| {
        file.sync_all()?;
        renameat(dir, &fresh, dir, name)?;
        Ok(value)
    });
    if written.is_err() {
        // A full disk needs the room.
        unlinkat(dir, &fresh, AtFlags::empty()).ok();
    }
    written
}

/// A new file that is renamed once it is written; locked while its process lives.
struct NewFile {
    name: String,
    file: File,
    _live: Live,
}

impl NewFile {
    fn make(dir: &OwnedFd) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // The umask takes from it what it takes from any new file.
        let mode = Mode::from_raw_mode(0o666);
        for _ in 0..MAKES {
            // Short, for the final name may be as long as names can be, and drawn: a process of
            // another PID namespace may have the number of this one.
            let mut number = [0; 8];
            rustix::rand::getrandom(&mut number, GetRandomFlags::empty())?;
            let name = format!("{PREFIX}{:0DIGITS$x}", u64::from_ne_bytes(number));
            let temporary = Temporary::File { dir: dir.try_clone()?, name: name.clone() };
            let new = || Ok((temporary, openat(dir, &name, flags, mode)?));
            let (_live, file) = Live::make(new)?;
            let file = File::from(file);
            // Without locks nothing is taken for what a kill left.
            let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
            if locked != Err(Errno::WOULDBLOCK) && file.metadata()?.nlink() > 0 {
                return Ok(Self { name, file, _live });
            }
        }
        Err(io::Error::other("another process removed the temporary file: try again"))
    }
}

/// Opens a directory for output, and removes the temporary files that killed processes left.
fn open_swept(path: &Path, makes: bool) -> io::Result<OwnedFd> {
    let dir = open_output(path, makes)?;
    for entry in Dir::read_from(&dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(_lock) = unused(&dir, name) {
            // What cannot be removed is left for the next process.
            unlinkat(&dir, name, AtFlags::empty()).ok();
        }
    }
    Ok(dir)
}

/// Locks a temporary file of this account that no process has locked.
fn unused(dir: &OwnedFd, name: &CStr) -> Option<File> {
    let digits = name.to_bytes().strip_prefix(PREFIX.as_bytes())?;
    if digits.len() != DIGITS || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty()).ok()?);
    let facts = file.metadata().ok()?;
    let is_own = facts.is_file() && facts.uid() == geteuid().as_raw() && facts.nlink() == 1;
    let lock = || flock(&file, FlockOperation::NonBlockingLockExclusive).ok();
    is_own.then(lock).flatten().map(|()| file)
}

/// Refuses to replace anything but a regular file of this account.
fn check_place(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let found = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        found => found?,
    };
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("the path names a link, a directory, a pipe or a device"));
    }
    match found.st_uid == geteuid().as_raw() {
        true => Ok(()),
        false => Err(io::Error::other("the existing file belongs to another account")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};

    use super::*;

    /// An account of no user.
    const OTHER: u32 = 65_533;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        write_output(&path, "first").unwrap();
        let before = fs::metadata(&path).unwrap();
        fs::hard_link(&path, dir.path().join("second name")).unwrap();
        let full = write_with(&path, |file| {
            file.write_all(b"torn")?;
            Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(matches!(full, Err(ArchiveError::Output(..))), "{full:?}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write_output(&path, "second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        // A new file: another name of the old one keeps the old content, and the umask is obeyed.
        assert_eq!(fs::read(dir.path().join("second name")).unwrap(), b"first");
        let after = fs::metadata(&path).unwrap();
        let plain = dir.path().join("plain");
        fs::write(&plain, "").unwrap();
        assert_ne!(before.ino(), after.ino());
        assert_eq!(after.permissions().mode(), fs::metadata(&plain).unwrap().permissions().mode());
        assert_eq!(names(dir.path()), ["page.html", "plain", "second name"]);
    }

    #[test]
    fn the_next_output_removes_what_killed_processes_left_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let (left, used) = (".assay-00000000deadbeef", ".assay-00000000feedbeef");
        let others = [".assay-data", ".assay-00000000deadbee", ".assay-0000000000no-hex"];
        for name in [left, used].iter().chain(&others) {
            fs::write(at(name), "half a page").unwrap();
        }
        let lock = File::open(at(used)).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        fs::create_dir(at(".assay-0000000000000000")).unwrap();
        symlink(".assay-data", at(".assay-0000000000000001")).unwrap();
        fs::hard_link(at(".assay-data"), at(".assay-0000000000000002")).unwrap();
        let before = names(dir.path());
        write_with(&at("page"), |_| {
            // Another output does not take the file of this one.
            write_output(&at("second"), "page").map_err(io::Error::other)
        })
        .unwrap();
        let mut expected = [&before[..], &["page".to_owned(), "second".to_owned()]].concat();
        expected.retain(|name| name != left);
        assert_eq!(names(dir.path()), expected);
        flock(&lock, FlockOperation::Unlock).unwrap();
        OutputDir::create(dir.path()).unwrap();
        assert!(!at(used).exists());
        assert_eq!(fs::read(at(".assay-data")).unwrap(), b"half a page");
    }

    #[test]
    fn a_name_may_be_as_long_as_the_file_system_allows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x".repeat(255));
        write_output(&path, "page").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"page");
        assert_eq!(names(dir.path()).len(), 1);
    }

    #[test]
    fn what_is_no_file_of_this_account_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("victim"), "precious").unwrap();
        symlink("victim", at("link")).unwrap();
        symlink("absent", at("dangling")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        for place in ["link", "dangling", "directory"] {
            let error = write_output(&at(place), "page").unwrap_err().to_string();
            assert!(error.contains("a link, a directory"), "{error}");
        }
        let error = write_output(&at("absent/page"), "page").unwrap_err().to_string();
        assert!(error.contains("cannot write") && error.contains("absent/page"), "{error}");
        let error = write_output(&at("victim/page"), "page").unwrap_err().to_string();
        assert!(error.contains("Not a directory"), "{error}");
        if !geteuid().is_root() {
            return;
        }
        lchown(at("victim"), Some(OTHER), None).unwrap();
        let error = write_output(&at("victim"), "page").unwrap_err().to_string();
        assert!(error.contains("belongs to another account"), "{error}");
        assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
        assert!(!at("absent").exists());
    }

    #[test]
    fn directories_are_made_and_own_links_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        OutputDir::create(&at("a/b")).unwrap();
        let made = OutputDir::create(&at("a/b/../c")).unwrap();
        made.write("page", b"text").unwrap();
        assert_eq!(fs::read(at("a/c/page")).unwrap(), b"text");
        symlink(at("a"), at("absolute")).unwrap();
        symlink("absolute/./c", at("relative")).unwrap();
        write_output(&at("relative/page"), "second").unwrap();
        assert_eq!(fs::read(at("a/c/page")).unwrap(), b"second");
        symlink("loop", at("loop")).unwrap();
        let error = write_output(&at("loop/page"), "page").unwrap_err().to_string();
        assert!(error.contains("symbolic links"), "{error}");
    }

    /// Goal: root writes nothing where another account's link leads.
    #[test]
    fn links_of_another_account_are_not_followed() {
        if !geteuid().is_root() {
            println!("skipped: only root can make links of another account");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("victim")).unwrap();
        symlink("victim", at("planted")).unwrap();
        lchown(at("planted"), Some(OTHER), None).unwrap();
        let refused = [
            write_output(&at("planted/page"), "page").unwrap_err(),
            OutputDir::create(&at("planted")).unwrap_err(),
            OutputDir::create(&at("planted/below/it")).unwrap_err(),
        ];
        for error in refused {
            let error = error.to_string();
            assert!(error.contains("planted is a link that another account made"), "{error}");
        }
        assert!(names(&at("victim")).is_empty());
    }
}
