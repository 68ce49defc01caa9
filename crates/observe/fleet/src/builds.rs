//! Builds of an experiment in one file, which is sent once and unpacked once, by its hash.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use tar::{Archive, Builder, HeaderMode};

use crate::directory::Fleet;
use crate::error::FleetError;

/// A build of the cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildEntry {
    /// Place below the cache, such as `engines/rocksdb/9.10.0`.
    pub name: String,
    /// Its directory.
    pub dir: PathBuf,
}

impl Fleet {
    /// Writes builds to the file that machines get; returns its SHA-256.
    ///
    /// # Errors
    /// When a build cannot be read, or the file cannot be written.
    pub fn write_builds(&self, entries: &[BuildEntry]) -> Result<String, FleetError> {
        let path = self.builds();
        let write = || -> io::Result<()> {
            let mut tar = Builder::new(BufWriter::new(File::create(&path)?));
            // A server's tree has links to its own libraries.
            tar.follow_symlinks(false);
            tar.mode(HeaderMode::Deterministic);
            for BuildEntry { name, dir } in entries {
                tar.append_dir_all(name, dir)?;
            }
            tar.into_inner()?.flush()
        };
        write().map_err(FleetError::file(&path))?;
        sha256_of(&path)
    }
}

/// Unpacks the builds of a file into a directory that is absent; it is there whole, or not at all.
///
/// # Errors
/// When the file is damaged, or the directory cannot be written.
pub fn unpack_builds(file: &Path, sha256: &str, to: &Path) -> Result<(), FleetError> {
    let found = sha256_of(file)?;
    if found != sha256 {
        let reason = format!("its sha256 is {found}, and {sha256} was sent");
        return Err(FleetError::file(file)(io::Error::other(reason)));
    }
    let part = to.with_extension(std::process::id().to_string());
    let unpack = || {
        let mut tar = Archive::new(File::open(file)?);
        tar.set_preserve_permissions(true);
        tar.unpack(&part)?;
        match fs::rename(&part, to) {
            // Another process was first.
            Err(_) if to.exists() => fs::remove_dir_all(&part),
            renamed => renamed,
        }
    };
    unpack().map_err(FleetError::file(to))
}

/// Returns the SHA-256 of a file, in hex.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(path: &Path) -> Result<String, FleetError> {
    archive::checksum_of(path).map_err(FleetError::file(path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn builds_arrive_with_links_and_rights() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("tree/lib")).unwrap();
        fs::write(from.join("tree/lib/liba.so.1"), "code").unwrap();
        symlink("liba.so.1", from.join("tree/lib/liba.so")).unwrap();
        let program = from.join("program");
        fs::write(&program, "x").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let fleet = Fleet::at(root.path().to_path_buf());
        let entry = BuildEntry { name: "engines/a/1".to_owned(), dir: from };
        let sha256 = fleet.write_builds(&[entry]).unwrap();
        unpack_builds(&fleet.builds(), &sha256, &to).unwrap();
        let build = to.join("engines/a/1");
        assert_eq!(fs::read(build.join("tree/lib/liba.so")).unwrap(), b"code");
        assert!(fs::symlink_metadata(build.join("tree/lib/liba.so")).unwrap().is_symlink());
        let mode = fs::metadata(build.join("program")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let error = unpack_builds(&fleet.builds(), "other", &root.path().join("no")).unwrap_err();
        assert!(error.to_string().contains("other was sent"), "{error}");
    }
}
