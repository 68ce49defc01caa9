//! Opens the files that users name.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use engine::{EngineError, Result};
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

/// Opens a regular file for reading, links followed.
///
/// A pipe would be waited for, and a device may have no end: neither is opened for long.
///
/// # Errors
/// The system's reason, or that it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other("it is a directory, a pipe or a device, and not a regular file"))
}

/// Reads a whole regular file.
///
/// # Errors
/// As [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The file of a library, as it was read.
///
/// The loader reads it again by its path.
///
/// It is not given the descriptor, because it finds the libraries that a shim needs next to the
/// path (`$ORIGIN`).
#[derive(Debug)]
pub struct ImageFile {
    path: PathBuf,
    /// What the file held.
    pub(crate) image: Vec<u8>,
    version: FileVersion,
}

/// Device, inode, size and time of the last change.
type FileVersion = (u64, u64, u64, i64, i64);

impl ImageFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or is no regular file.
    pub fn read(path: PathBuf) -> Result<Self> {
        let read = || {
            let mut file = open_regular(&path)?;
            let (version, mut image) = (version(&file.metadata()?), Vec::new());
            file.read_to_end(&mut image)?;
            Ok((version, image))
        };
        let (version, image) = read().map_err(unreadable(&path))?;
        Ok(Self { path, image, version })
    }

    /// Returns the SHA-256 of what was read, in hex.
    pub fn sha256(&self) -> String {
        Sha256::digest(&self.image).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Checks that the file at the path is still the one read.
    ///
    /// # Errors
    /// When it was replaced or changed meanwhile.
    pub fn check_unchanged(&self) -> Result<()> {
        let now = fs::metadata(&self.path).map_err(unreadable(&self.path))?;
        if version(&now) == self.version {
            return Ok(());
        }
        let path = self.path.display();
        Err(EngineError::build(format!(
            "`{path}` was changed while it was loaded: repeat the command"
        )))
    }
}

fn version(file: &Metadata) -> FileVersion {
    (file.dev(), file.ino(), file.len(), file.ctime(), file.ctime_nsec())
}

/// Returns the error for a file that cannot be read.
pub fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::Fatal(format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn a_file_replaced_or_changed_after_it_was_read_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| dir.path().join(name));
        std::fs::write(&file, "rows").unwrap();
        let read = ImageFile::read(file.clone()).unwrap();
        read.check_unchanged().unwrap();
        std::fs::write(&other, "rows").unwrap();
        std::fs::rename(&other, &file).unwrap();
        let error = read.check_unchanged().unwrap_err().to_string();
        assert!(error.contains("was changed while it was loaded"), "{error}");
        let read = ImageFile::read(file.clone()).unwrap();
        std::fs::write(&file, "more rows").unwrap();
        assert!(read.check_unchanged().is_err());
    }

    #[test]
    fn only_regular_files_are_read_and_a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "rows").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_regular(&link).unwrap(), b"rows");
        let pipe = dir.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        for other in [&pipe, Path::new("/dev/zero"), dir.path()] {
            let error = read_regular(other).unwrap_err().to_string();
            assert!(error.ends_with("not a regular file"), "{error}");
        }
    }
}
