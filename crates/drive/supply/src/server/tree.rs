//! Directory and permissions of a server's files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Result, SupplyError};

/// The directory of a server's files in an entry.
pub(crate) const TREE_DIR: &str = "tree";

/// Deepest directory of a server; no installation comes near.
const DEPTH_MAX: usize = 40;

/// The files of a server, its program included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// Their directory.
    #[serde(skip)]
    pub root: PathBuf,
    /// Its program, from the tree's root.
    pub(crate) program: PathBuf,
    /// Directory of an installation used in place; `None` for a cached tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<PathBuf>,
    /// Inventory that reveals damage; `None` when used in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Files>,
}

/// The files of a directory tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Their number, links included, directories not.
    pub count: u64,
    /// Their total size.
    pub bytes: u64,
    /// SHA-256 of the list of their hashes, in hex; `None` in entries of earlier versions.
    #[serde(default, rename = "hashes_sha256", skip_serializing_if = "Option::is_none")]
    pub(crate) list_sha256: Option<String>,
}

/// Makes a cached tree readable for every user, and removes links leaving it.
///
/// Through a link that leaves the tree a server would load foreign files.
pub(crate) fn open_to_all(root: &Path) -> Result<()> {
    widen(root, 0o755)?;
    walk(root, 0, &mut |path, meta| {
        if meta.is_symlink() {
            let target = fs::read_link(path).map_err(SupplyError::io("read", path))?;
            if leaves(root, path, &target) {
                fs::remove_file(path).map_err(SupplyError::io("remove", path))?;
            }
            return Ok(());
        }
        let mode = meta.mode();
        let is_run = meta.is_dir() || mode & 0o111 != 0;
        // Neither set-user-id nor writable for others: only the owner may change a build.
        widen(path, (mode & 0o700) | if is_run { 0o755 } else { 0o644 })
    })
}

/// Returns whether every user may read and run a program.
pub(crate) fn is_open_to_all(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|meta| meta.mode() & 0o5 == 0o5)
}

pub(super) fn widen(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(SupplyError::io("change the permissions of", path))
}

/// Returns whether a link in the tree may lead out of it.
///
/// A `..` behind a name may: the name may be a link, and its target's parent is another directory.
fn leaves(root: &Path, link: &Path, target: &Path) -> bool {
    let from = link.parent().and_then(|dir| dir.strip_prefix(root).ok());
    let depth = from.map_or(0, |dir| dir.components().count());
    let is_up = |part: &Component<'_>| *part == Component::ParentDir;
    let mut parts = target.components().skip_while(|part| *part == Component::CurDir);
    let ups = parts.by_ref().take_while(is_up).count();
    target.is_absolute() || ups > depth || parts.any(|part| is_up(&part))
}

/// Visits each entry below `dir`, directories before their contents; follows no link.
pub(crate) fn walk(
    dir: &Path,
    depth: usize,
    visit: &mut dyn FnMut(&Path, &fs::Metadata) -> Result<()>,
) -> Result<()> {
    if depth > DEPTH_MAX {
        let error = std::io::Error::other("directories are nested too deep");
        return Err(SupplyError::io("list", dir)(error));
    }
    for entry in fs::read_dir(dir).map_err(SupplyError::io("list", dir))? {
        let path = entry.map_err(SupplyError::io("list", dir))?.path();
        let meta = fs::symlink_metadata(&path).map_err(SupplyError::io("read", &path))?;
        visit(&path, &meta)?;
        if meta.is_dir() {
            walk(&path, depth + 1, visit)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn tree() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("bin")).unwrap();
        fs::create_dir_all(dir.path().join("share/sql")).unwrap();
        fs::write(dir.path().join("bin/server"), "program").unwrap();
        fs::write(dir.path().join("share/sql/a.sql"), "select 1").unwrap();
        symlink("../share/sql/a.sql", dir.path().join("bin/inside")).unwrap();
        dir
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn cached_tree_is_readable_by_all_and_writable_by_owner() {
        let dir = tree();
        let at = |name: &str| dir.path().join(name);
        for (name, before) in
            [("bin/server", 0o4700), ("share/sql/a.sql", 0o622), ("share/sql", 0o700)]
        {
            widen(&at(name), before).unwrap();
        }
        open_to_all(dir.path()).unwrap();
        assert_eq!(mode(&at("bin/server")), 0o755);
        assert_eq!(mode(&at("share/sql/a.sql")), 0o644);
        assert_eq!(mode(&at("share/sql")), 0o755);
        assert!(is_open_to_all(&at("bin/server")) && !is_open_to_all(&at("share/sql/a.sql")));
    }

    #[test]
    fn links_leaving_the_tree_are_removed() {
        let dir = tree();
        let link = |target: &str, name: &str| symlink(target, dir.path().join(name)).unwrap();
        link("/tmp/elsewhere/lib.so", "bin/absolute");
        link("../../lib.so", "bin/above");
        // Each stays inside by its text; together they lead to the directory above.
        link("..", "bin/up");
        link("bin/up/../lib.so", "chained");
        open_to_all(dir.path()).unwrap();
        let has = |name: &str| dir.path().join(name).is_symlink();
        assert!(has("bin/inside") && has("bin/up"));
        for name in ["bin/absolute", "bin/above", "chained"] {
            assert!(!has(name), "{name}");
        }
    }
}
