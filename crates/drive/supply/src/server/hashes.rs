//! Hashes of a cached server's files, compared before a server is started.
//!
//! A list of them is stored at installation, next to the tree. All files are read once per boot,
//! and after any change of a file's size or times; a stamp makes the other checks cheap.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::tree::{Files, TREE_DIR, walk};
use crate::error::{Result, SupplyError};
use crate::library::{digest, hex};

/// File name of the list in an entry.
pub(super) const LIST_FILE: &str = "tree.sha256.json";
/// File name of the stamp in an entry.
const STAMP_FILE: &str = "tree.checked.json";
/// Identifies a boot. Source: Linux, random(4), `/proc/sys/kernel/random/boot_id`.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// SHA-256 of each file, or of a link's target, by path from the tree's root.
type Hashes = BTreeMap<PathBuf, String>;

/// What was in place when all files were last read and found unchanged.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    boot_id: String,
    /// SHA-256 of the files' paths, sizes, inodes and times of change.
    state: String,
}

/// Sizes and times of a tree's files, without their content.
struct Survey {
    state: String,
    /// The newest time of change, in ns since 1970.
    newest_ns: i128,
    files: Files,
}

/// Reads every file of the tree in `entry` and stores their hashes next to it.
pub(crate) fn store_hashes(entry: &Path) -> Result<Files> {
    let root = entry.join(TREE_DIR);
    let text = serde_json::to_vec_pretty(&hashes(&root)?).expect("hashes are plain text");
    let path = entry.join(LIST_FILE);
    fs::write(&path, &text).map_err(SupplyError::io("write", &path))?;
    let list_sha256 = Some(hex(&Sha256::digest(&text)));
    Ok(Files { list_sha256, ..survey(&root)?.files })
}

/// Checks that the tree in `entry` is as it was stored, or returns what changed.
pub(crate) fn check(entry: &Path, was: &Files) -> Result<(), String> {
    let root = entry.join(TREE_DIR);
    let survey = survey(&root).map_err(|error| error.to_string())?;
    let boot_id = fs::read_to_string(BOOT_ID).unwrap_or_default().trim().to_owned();
    let stamp = Stamp { boot_id, state: survey.state };
    let path = entry.join(STAMP_FILE);
    if !stamp.boot_id.is_empty() && is_checked(&path, &stamp, survey.newest_ns) {
        return Ok(());
    }
    let found = hashes(&root).map_err(|error| error.to_string())?;
    compare(&stored(entry, was, &survey.files)?, &found)?;
    let text = serde_json::to_vec(&stamp).expect("a stamp is plain text");
    let fresh = path.with_extension(std::process::id().to_string());
    // Without a stamp, as in a cache that cannot be written, all is read again the next time.
    if fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &path)).is_err() {
        fs::remove_file(&fresh).ok();
    }
    Ok(())
}

/// Returns whether a stamp is of this boot and state, and younger than any change.
///
/// A file that is written in the same tick of the clock as the stamp has the time it had before.
fn is_checked(path: &Path, stamp: &Stamp, newest_ns: i128) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let read = fs::read(path).ok().and_then(|text| serde_json::from_slice::<Stamp>(&text).ok());
    nanos(meta.mtime(), meta.mtime_nsec()) > newest_ns && read.as_ref() == Some(stamp)
}

/// Reads the list of hashes.
///
/// An entry made before there were lists gets one, if number and size of its files are as recorded.
fn stored(entry: &Path, was: &Files, is: &Files) -> Result<Hashes, String> {
    let path = entry.join(LIST_FILE);
    if was.list_sha256.is_none() && !path.exists() {
        if (is.count, is.bytes) != (was.count, was.bytes) {
            return Err(format!(
                "its files changed: {} files have {} bytes, and {} files of {} bytes were recorded",
                is.count, is.bytes, was.count, was.bytes
            ));
        }
        store_hashes(entry).map_err(|error| error.to_string())?;
    }
    let text = fs::read(&path).map_err(|error| format!("{LIST_FILE}: {error}"))?;
    if was.list_sha256.as_ref().is_some_and(|was| *was != hex(&Sha256::digest(&text))) {
        return Err(format!("{LIST_FILE} changed"));
    }
    serde_json::from_slice(&text).map_err(|error| format!("{LIST_FILE}: {error}"))
}

/// Returns the first difference between stored and found hashes.
fn compare(was: &Hashes, is: &Hashes) -> Result<(), String> {
    let changed = was.iter().find_map(|(path, sha256)| match is.get(path) {
        None => Some(format!("{} is missing", path.display())),
        Some(found) if found != sha256 => Some(format!("the sha256 of {} changed", path.display())),
        Some(_) => None,
    });
    let added = || is.keys().find(|path| !was.contains_key(*path));
    changed.or_else(|| Some(format!("{} was added", added()?.display()))).map_or(Ok(()), Err)
}

/// Reads every file below `root`.
fn hashes(root: &Path) -> Result<Hashes> {
    let mut found = Hashes::new();
    walk(root, 0, &mut |path, meta| {
        let sha256 = if meta.is_dir() {
            return Ok(());
        } else if meta.is_symlink() {
            let target = fs::read_link(path).map_err(SupplyError::io("read", path))?;
            hex(&Sha256::digest(target.as_os_str().as_bytes()))
        } else {
            digest(path)?.0
        };
        found.insert(path.strip_prefix(root).unwrap_or(path).to_owned(), sha256);
        Ok(())
    })?;
    Ok(found)
}

/// Reads sizes and times of the files below `root`.
fn survey(root: &Path) -> Result<Survey> {
    let mut list = Vec::new();
    let mut newest_ns = 0;
    let mut files = Files { count: 0, bytes: 0, list_sha256: None };
    walk(root, 0, &mut |path, meta| {
        let changed_ns = nanos(meta.ctime(), meta.ctime_nsec());
        newest_ns = newest_ns.max(changed_ns);
        if !meta.is_dir() {
            files.count += 1;
            files.bytes += meta.len();
        }
        list.push((path.as_os_str().as_bytes().to_owned(), meta.ino(), meta.len(), changed_ns));
        Ok(())
    })?;
    list.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, inode, bytes, changed_ns) in list {
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update(inode.to_le_bytes());
        hasher.update(bytes.to_le_bytes());
        hasher.update(changed_ns.to_le_bytes());
    }
    Ok(Survey { state: hex(&hasher.finalize()), newest_ns, files })
}

/// Returns a time of a file in ns since 1970.
fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn entry() -> (TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join(TREE_DIR);
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join("bin/initdb"), "program").unwrap();
        fs::write(root.join("a.sql"), "select 1").unwrap();
        symlink("../a.sql", root.join("bin/link")).unwrap();
        let files = store_hashes(dir.path()).unwrap();
        (dir, files)
    }

    #[test]
    fn every_change_of_a_tree_is_named() {
        let (dir, files) = entry();
        let root = dir.path().join(TREE_DIR);
        let checked = || check(dir.path(), &files);
        assert_eq!((files.count, files.bytes), (3, 7 + 8 + 8));
        assert_eq!(checked(), Ok(()));
        fs::write(root.join("a.sql"), "select 2").unwrap();
        assert_eq!(checked().unwrap_err(), "the sha256 of a.sql changed");
        fs::write(root.join("a.sql"), "select 1").unwrap();
        assert_eq!(checked(), Ok(()));
        fs::remove_file(root.join("bin/link")).unwrap();
        symlink("../b.sql", root.join("bin/link")).unwrap();
        assert_eq!(checked().unwrap_err(), "the sha256 of bin/link changed");
        fs::remove_file(root.join("bin/link")).unwrap();
        assert_eq!(checked().unwrap_err(), "bin/link is missing");
        symlink("../a.sql", root.join("bin/link")).unwrap();
        fs::write(root.join("b.sql"), "").unwrap();
        assert_eq!(checked().unwrap_err(), "b.sql was added");
    }

    #[test]
    fn a_damaged_list_is_detected_and_a_missing_old_one_is_made() {
        let (dir, files) = entry();
        let list = dir.path().join(LIST_FILE);
        fs::write(&list, fs::read_to_string(&list).unwrap().replace("initdb", "initdc")).unwrap();
        assert_eq!(check(dir.path(), &files).unwrap_err(), format!("{LIST_FILE} changed"));
        fs::remove_file(&list).unwrap();
        assert!(check(dir.path(), &files).unwrap_err().starts_with(LIST_FILE));
        let old = Files { list_sha256: None, ..files.clone() };
        let wrong = Files { bytes: 1, ..old.clone() };
        let reason = "its files changed: 3 files have 23 bytes, and 3 files of 1 bytes were \
                      recorded";
        assert_eq!(check(dir.path(), &wrong).unwrap_err(), reason);
        assert_eq!(check(dir.path(), &old), Ok(()));
        assert!(list.exists());
    }

    /// Goal: files are read again after a change, a boot, or with a stamp no younger than they are.
    /// Method: a stamp that is trusted hides a list that would not match.
    #[test]
    fn a_stamp_is_trusted_for_its_boot_and_state_if_it_is_younger() {
        let (dir, files) = entry();
        check(dir.path(), &files).unwrap();
        let stamp = dir.path().join(STAMP_FILE);
        let set_time = |seconds: u64| {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs::File::options().write(true).open(&stamp).unwrap().set_modified(time).unwrap();
        };
        fs::write(dir.path().join(LIST_FILE), "{}").unwrap();
        set_time(1 << 33);
        assert_eq!(check(dir.path(), &files), Ok(()));
        set_time(1);
        assert!(check(dir.path(), &files).is_err());
        let text = fs::read_to_string(&stamp).unwrap().replace("boot_id\":\"", "boot_id\":\"0");
        fs::write(&stamp, text).unwrap();
        set_time(1 << 33);
        assert!(check(dir.path(), &files).is_err());
    }
}
