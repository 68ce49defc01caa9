//! Lists and checks the files of a directory that no other account can write.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::error::SnapshotError;
use crate::record::{DirEntry, SnapshotRecord};

/// Directories and files below a directory; the paths begin there.
pub(crate) struct Tree {
    /// Each after the one it is in.
    pub(crate) dirs: Vec<DirEntry>,
    pub(crate) files: Vec<(PathBuf, Metadata)>,
}

/// Lists what is below `root`; sockets are left out.
///
/// # Errors
/// A link, a device, a pipe, or a name that is not UTF-8, which the record cannot hold.
pub(crate) fn list(root: &Path) -> Result<Tree, SnapshotError> {
    let mut tree = Tree { dirs: Vec::new(), files: Vec::new() };
    let mut todo = vec![PathBuf::new()];
    while let Some(below) = todo.pop() {
        let dir = root.join(&below);
        let entries = fs::read_dir(&dir).map_err(SnapshotError::at(&dir))?;
        for entry in entries {
            let entry = entry.map_err(SnapshotError::at(&dir))?;
            let path = below.join(entry.file_name());
            if path.to_str().is_none() {
                return Err(SnapshotError::NotSaved(path, "a name that is not UTF-8"));
            }
            let found = entry.metadata().map_err(SnapshotError::at(&entry.path()))?;
            if found.is_dir() {
                let (mode, owner) = (found.mode() & 0o7777, (found.uid(), found.gid()));
                tree.dirs.push(DirEntry { path: path.clone(), mode, owner });
                todo.push(path);
            } else if found.is_file() {
                tree.files.push((path, found));
            } else if !found.file_type().is_socket() {
                let what = if found.is_symlink() { "a link" } else { "a pipe or a device" };
                return Err(SnapshotError::NotSaved(path, what));
            }
        }
    }
    // The largest first: threads that share them end together.
    tree.files.sort_by(|(a, one), (b, other)| other.len().cmp(&one.len()).then(a.cmp(b)));
    Ok(tree)
}

/// Checks that `root` has the files and directories of a record, and no others.
///
/// A link in the place of one of them would lead elsewhere, however it is opened below.
///
/// # Errors
/// [`SnapshotError::Damaged`] with the first that differs.
pub(crate) fn check(record: &SnapshotRecord, root: &Path) -> Result<(), SnapshotError> {
    let damaged = |what: String| SnapshotError::Damaged(record.id.clone(), what);
    if !fs::symlink_metadata(root).is_ok_and(|found| found.is_dir()) {
        return Err(damaged("its directory of files is absent, or a link".to_owned()));
    }
    let tree = match list(root) {
        Err(SnapshotError::NotSaved(path, what)) => {
            return Err(damaged(format!("{} is {what}", path.display())));
        }
        tree => tree?,
    };
    let dirs = |dirs: &[DirEntry]| dirs.iter().map(|dir| (dir.path.clone(), None)).collect();
    let (mut found, mut saved): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (dirs(&tree.dirs), dirs(&record.dirs));
    found.extend(tree.files.into_iter().map(|(path, found)| (path, Some(found.len()))));
    saved.extend(record.files.iter().map(|file| (file.path.clone(), Some(file.bytes.0))));
    let differing = found.iter().find(|(path, bytes)| saved.get(*path) != Some(*bytes));
    let absent = saved.keys().find(|path| !found.contains_key(*path));
    match (differing, absent) {
        (None, None) => Ok(()),
        (Some((path, _)), _) => Err(SnapshotError::changed(&record.id, path)),
        (None, Some(path)) => Err(damaged(format!("{} is absent", path.display()))),
    }
}
