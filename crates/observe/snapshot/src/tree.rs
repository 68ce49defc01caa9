//! Lists the files of a directory that no other account can write.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::error::SnapshotError;
use crate::record::DirEntry;

/// Directories and files below a directory; the paths begin there.
pub(crate) struct Tree {
    /// Each after the one it is in.
    pub(crate) dirs: Vec<DirEntry>,
    pub(crate) files: Vec<(PathBuf, Metadata)>,
}

/// Lists what is below `root`; sockets are left out.
///
/// # Errors
/// A link, a device, a pipe, or a file with several names, which is not the engine's alone.
pub(crate) fn list(root: &Path) -> Result<Tree, SnapshotError> {
    let mut tree = Tree { dirs: Vec::new(), files: Vec::new() };
    let mut todo = vec![PathBuf::new()];
    while let Some(below) = todo.pop() {
        let dir = root.join(&below);
        let entries = fs::read_dir(&dir).map_err(SnapshotError::at(&dir))?;
        for entry in entries {
            let entry = entry.map_err(SnapshotError::at(&dir))?;
            let path = below.join(entry.file_name());
            let found = entry.metadata().map_err(SnapshotError::at(&entry.path()))?;
            if found.is_dir() {
                let (mode, owner) = (found.mode() & 0o7777, (found.uid(), found.gid()));
                tree.dirs.push(DirEntry { path: path.clone(), mode, owner });
                todo.push(path);
            } else if found.is_file() && found.nlink() == 1 {
                tree.files.push((path, found));
            } else if !found.file_type().is_socket() {
                let what = match (found.is_file(), found.is_symlink()) {
                    (true, _) => "a file with several names",
                    (_, true) => "a link",
                    (false, false) => "a pipe or a device",
                };
                return Err(SnapshotError::NotSaved(path, what));
            }
        }
    }
    // The largest first: threads that share them end together.
    tree.files.sort_by(|(a, one), (b, other)| other.len().cmp(&one.len()).then(a.cmp(b)));
    Ok(tree)
}
