//! Copies of cached servers in a place that every account can enter.
//!
//! A server started by root runs as an account without rights, which cannot enter a closed home.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use trust::{Dir, Entries};

use super::hashes::{LIST_FILE, check};
use super::tree::{TREE_DIR, open_to_all, walk, widen};
use crate::artifact::Artifact;
use crate::entry::open_lock;
use crate::error::{Result, SupplyError};

/// Directory of the copies: of root, and open to all. Source: FHS 3.0, `/var/lib`.
const ROOT: &str = "/var/lib/assay/servers";
/// File that is locked while a copy is made.
const LOCK: &str = ".lock";
/// Hex digits of each hash in a copy's name.
const NAME_DIGITS: usize = 16;

impl Artifact {
    /// Returns the server where every account can run it, copied once if its cache is closed.
    ///
    /// Only root needs that; libraries and installations used in place are returned as they are.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn open_to_all(self) -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(self);
        }
        self.open_below(Path::new(ROOT))
    }

    /// Removes its copy, if it has one.
    pub(crate) fn remove_copy(&self) -> Result<()> {
        match copy_of(self, Path::new(ROOT)) {
            Some(copy) if copy.exists() && rustix::process::geteuid().is_root() => {
                fs::remove_dir_all(&copy).map_err(SupplyError::io("remove", &copy))
            }
            _ => Ok(()),
        }
    }

    fn open_below(mut self, root: &Path) -> Result<Self> {
        let Some(copy) = copy_of(&self, root) else { return Ok(self) };
        let Some(tree) = self.tree.as_mut().filter(|tree| first_closed(&tree.root).is_some())
        else {
            return Ok(self);
        };
        let from = std::mem::replace(&mut tree.root, copy.join(TREE_DIR));
        let files = tree.files.as_ref();
        let is_good =
            || is_trusted(&copy) && files.is_some_and(|files| check(&copy, files).is_ok());
        if !is_good() {
            make(&from, &copy, is_good).map_err(|error| {
                SupplyError::Unavailable(format!(
                    "no other account can enter {}, so Assay copies {}, but {error}: name with \
                     --cache-dir a cache that every account can enter",
                    from.display(),
                    self.build
                ))
            })?;
        }
        self.library = tree.root.join(&tree.program);
        Ok(self)
    }
}

/// Returns where the copy of a cached server is, named by its content.
fn copy_of(artifact: &Artifact, root: &Path) -> Option<PathBuf> {
    let files = artifact.tree.as_ref()?.files.as_ref()?;
    let list = files.list_sha256.as_ref().unwrap_or(&artifact.sha256);
    let [program, list] = [&artifact.sha256, list].map(|hash| hash.get(..NAME_DIGITS));
    let name = format!("{}-{}-{}", artifact.build.engine, program?, list?);
    Some(root.join(name))
}

/// Returns the first directory on a path that other accounts cannot enter.
pub(super) fn first_closed(dir: &Path) -> Option<&Path> {
    let is_closed = |dir: &&Path| fs::metadata(dir).is_ok_and(|meta| meta.mode() & 0o001 == 0);
    dir.ancestors().filter(is_closed).last()
}

/// Returns whether a directory is there that only trusted accounts can have written.
fn is_trusted(dir: &Path) -> bool {
    dir.is_dir() && trust::check(dir, Entries::Closed).is_ok()
}

/// Copies a tree and its hashes unless `is_good`, complete or not at all; others wait meanwhile.
fn make(from: &Path, to: &Path, is_good: impl Fn() -> bool) -> Result<()> {
    let root = to.parent().unwrap_or(to);
    Dir::create_open(root).map_err(SupplyError::io("use", root))?;
    for dir in root.ancestors().take(2) {
        widen(dir, 0o755)?;
    }
    let path = root.join(LOCK);
    let lock = open_lock(&path).map_err(SupplyError::io("create", &path))?;
    lock.lock().map_err(SupplyError::io("lock", &path))?;
    if is_good() {
        return Ok(());
    }
    let partial = to.with_extension("partial");
    // Of a process that was killed.
    drop(fs::remove_dir_all(&partial));
    copy(from, &partial)?;
    if to.exists() {
        fs::remove_dir_all(to).map_err(SupplyError::io("remove", to))?;
    }
    fs::rename(&partial, to).map_err(SupplyError::io("create", to))
}

fn copy(from: &Path, entry: &Path) -> Result<()> {
    let to = &entry.join(TREE_DIR);
    fs::create_dir_all(to).map_err(SupplyError::io("create", to))?;
    let list = from.with_file_name(LIST_FILE);
    fs::copy(&list, entry.join(LIST_FILE)).map_err(SupplyError::io("copy", &list))?;
    walk(from, 0, &mut |path, meta| {
        let target = to.join(path.strip_prefix(from).unwrap_or(path));
        let copied = if meta.is_dir() {
            fs::create_dir(&target)
        } else if meta.is_symlink() {
            fs::read_link(path).and_then(|link| std::os::unix::fs::symlink(link, &target))
        } else {
            fs::copy(path, &target).map(drop)
        };
        copied.map_err(SupplyError::io("write", &target))
    })?;
    open_to_all(entry)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use model::BuildRef;

    use super::*;
    use crate::library::digest;
    use crate::server::hashes::store_hashes;
    use crate::server::tree::Tree;

    /// Goal: a server below a closed directory is copied once and whole, again when damaged.
    #[test]
    fn closed_server_is_copied_to_where_all_can_run_it() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root needs copies");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let (home, copies) = (dir.path().join("home"), dir.path().join("lib/servers"));
        let root = home.join(TREE_DIR);
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join("bin/mysqld"), "program").unwrap();
        let (sha256, bytes) = digest(&root.join("bin/mysqld")).unwrap();
        let files = Some(store_hashes(&home).unwrap());
        let tree = Tree { root: root.clone(), program: "bin/mysqld".into(), at: None, files };
        let artifact = Artifact {
            build: "mysql@8.0.31".parse::<BuildRef>().unwrap(),
            library: root.join("bin/mysqld"),
            sha256,
            origin: String::new(),
            bytes,
            facts: std::collections::BTreeMap::new(),
            shim: None,
            tree: Some(tree),
        };
        let open = || artifact.clone().open_below(&copies).unwrap().library;
        assert_eq!(open(), artifact.library, "its directories are open");
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(open().starts_with(&copies)));
            }
        });
        let program = open();
        assert_eq!(fs::read_to_string(&program).unwrap(), "program");
        assert_eq!(fs::metadata(&program).unwrap().mode() & 0o022, 0);
        fs::write(&program, "changed").unwrap();
        assert_eq!(fs::read_to_string(open()).unwrap(), "program");
    }
}
