//! Streaming extraction of server archives.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use lzma_rust2::XzReader;
use tar::{Archive, EntryType};

use super::limits::{Allowance, CheckedTar, XZ_MEMORY_KIB};
use crate::error::{Result, SupplyError};

/// How an archive is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// `.tar.gz`, `.tgz`.
    Gzip,
    /// `.tar.xz`, `.txz`.
    Xz,
}

/// Maps a path in an archive to its target; `None` skips it.
pub(super) type Placed = fn(&Path) -> Option<PathBuf>;

pub(super) fn as_packed(path: &Path) -> Option<PathBuf> {
    Some(path.to_owned())
}

/// Unpacks an archive into the new directory `into`; `shown` names it in errors.
pub(super) fn unpack(
    archive: impl Read,
    packing: Packing,
    placed: Placed,
    into: &Path,
    shown: &Path,
) -> Result<()> {
    fs::create_dir_all(into).map_err(SupplyError::io("create", into))?;
    let unpacked = match packing {
        Packing::Gzip => entries(GzDecoder::new(archive), placed, into),
        Packing::Xz => entries(XzReader::new_mem_limit(archive, true, XZ_MEMORY_KIB), placed, into),
    };
    unpacked.map_err(SupplyError::io("unpack", shown))
}

/// Unpacks the members of an archive.
fn entries(archive: impl Read, placed: Placed, into: &Path) -> io::Result<()> {
    let mut archive = Archive::new(CheckedTar::new(archive, Allowance::default()));
    archive.set_preserve_mtime(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let Some(place) = placed(&path) else { continue };
        if place == path {
            // Skips paths and links that lead outside.
            entry.unpack_in(into)?;
        } else if entry.header().entry_type() == EntryType::Regular && is_below(&place) {
            let place = into.join(place);
            fs::create_dir_all(place.parent().unwrap_or(into))?;
            entry.unpack(place)?;
        }
    }
    Ok(())
}

/// Returns whether a path has names alone, and leads nowhere but down; `unpack` does not check it.
pub(super) fn is_below(place: &Path) -> bool {
    place.components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    /// Returns an archive of files with their contents.
    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, text) in files {
            let mut header = Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o755);
            // Set directly, because the builder rejects paths that lead outside.
            let name = &mut header.as_old_mut().name;
            name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    fn unpacked(archive: &[u8], placed: Placed) -> (tempfile::TempDir, Result<()>) {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("a/tree");
        let result = unpack(archive, Packing::Gzip, placed, &into, Path::new("x.tgz"));
        (dir, result)
    }

    #[test]
    fn files_never_leave_the_target_directory() {
        let archive = packed(&[("bin/server", "#!"), ("../../evil", "e"), ("share/x", "x")]);
        let (dir, result) = unpacked(&archive, as_packed);
        result.unwrap();
        let at = |name: &str| fs::read_to_string(dir.path().join("a/tree").join(name)).ok();
        assert_eq!((at("bin/server"), at("share/x")), (Some("#!".into()), Some("x".into())));
        assert!(!dir.path().join("evil").exists() && !dir.path().join("a/evil").exists());
    }

    #[test]
    fn relocated_files_never_leave_it_either() {
        let archive = packed(&[("package/share/../../../evil", "e"), ("package/share/x", "x")]);
        let placed: Placed = |path| path.strip_prefix("package").ok().map(Path::to_owned);
        let (dir, result) = unpacked(&archive, placed);
        result.unwrap();
        assert_eq!(fs::read(dir.path().join("a/tree/share/x")).unwrap(), b"x");
        assert!(!dir.path().join("evil").exists() && !dir.path().join("a/evil").exists());
    }

    #[test]
    fn files_are_relocated_or_skipped() {
        let archive = packed(&[("package/server/mysqld", "m"), ("package/data/x", "x")]);
        let placed: Placed = |path| path.ends_with("mysqld").then(|| "bin/mysqld".into());
        let (dir, result) = unpacked(&archive, placed);
        result.unwrap();
        assert_eq!(fs::read(dir.path().join("a/tree/bin/mysqld")).unwrap(), b"m");
        assert!(!dir.path().join("a/tree/package").exists());
    }

    #[test]
    fn truncated_archive_is_an_error() {
        let archive = packed(&[("bin/server", &"x".repeat(5000))]);
        let (_dir, result) = unpacked(&archive[..archive.len() / 2], as_packed);
        assert!(result.unwrap_err().to_string().starts_with("cannot unpack x.tgz: "));
    }
}
