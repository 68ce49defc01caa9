//! A cached build and the metadata file stored with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::units::many;
use model::{BuildRef, Bytes};
use serde::{Deserialize, Serialize};

use crate::server::{TREE_DIR, Tree};

/// File name of the metadata.
pub(crate) const METADATA_FILE: &str = "artifact.json";

/// One build in the cache; its metadata file holds everything but its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The build's name.
    pub build: BuildRef,
    /// Path of its library, or of a server's program.
    #[serde(skip)]
    pub library: PathBuf,
    /// SHA-256 of that file, in hex.
    pub sha256: String,
    /// Where it came from: `Maven artifact org.rocksdb:rocksdbjni:9.10.0`.
    pub origin: String,
    /// Size of the library, or of all files of a server.
    ///
    /// Of a server used in place, size of its program.
    pub bytes: u64,
    /// Compiler, flags and other facts by name; empty when unknown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// The compiled shim, for engines that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shim: Option<ShimMetadata>,
    /// A server's files, its program included; `None` for a library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
}

/// Hashes of a compiled shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShimMetadata {
    /// SHA-256 of its source and of the interface it was compiled for, in hex.
    pub(crate) recipe_sha256: String,
    /// SHA-256 of the compiled shim, in hex.
    pub(crate) sha256: String,
}

/// Hex digits of a hash in a list of builds.
const HASH_DIGITS: usize = 12;
/// Directories of an installation that a server used in place reads: it may be a home.
///
/// Our choice, after the file system hierarchy of Linux.
const INSTALLED: [&str; 6] = ["bin", "lib", "lib64", "libexec", "sbin", "share"];

impl Artifact {
    /// Returns the files of the build: those of a server, or the library.
    ///
    /// A cached library has others next to it: the cache is a place of its own.
    pub fn places(&self) -> Vec<PathBuf> {
        match &self.tree {
            Some(Tree { root, at: None, .. }) => vec![root.clone()],
            Some(Tree { root, program, .. }) => {
                let mut places = INSTALLED.map(|name| root.join(name)).to_vec();
                // Debian's Postgres has its shared files outside.
                let version = root.file_name().unwrap_or_default();
                let prefix = root
                    .ancestors()
                    .nth(3)
                    .filter(|_| root.ends_with(Path::new("lib/postgresql").join(version)));
                places.extend(prefix.map(|dir| dir.join("share/postgresql").join(version)));
                let is_at_root = program.components().count() == 1;
                places.extend(is_at_root.then(|| root.join(program)));
                places
            }
            None => {
                let library = self.library.canonicalize().ok();
                library.into_iter().chain([self.library.clone()]).collect()
            }
        }
    }

    /// Returns its name, size, begin of its hash, and origin: a row of a list.
    ///
    /// The metadata file may be damaged: nothing in it is checked.
    pub fn row(&self) -> [String; 4] {
        let sha256: String = self.sha256.chars().take(HASH_DIGITS).collect();
        [self.build.to_string(), self.size(), format!("sha256 {sha256}"), self.origin.clone()]
    }

    /// Returns its size, with the number of a server's files.
    pub fn size(&self) -> String {
        let bytes = Bytes(self.bytes);
        match self.tree.as_ref().map(|tree| tree.files.as_ref().map(|files| files.count)) {
            None => bytes.to_string(),
            Some(Some(files)) => format!("{bytes} in {}", many(files, "file")),
            Some(None) => format!("{bytes}, used in place"),
        }
    }

    /// Returns the artifact with its place, the directory of its entry.
    pub(crate) fn placed(mut self, dir: &Path) -> Self {
        self.library = match &mut self.tree {
            Some(tree) => {
                tree.root = tree.at.clone().unwrap_or_else(|| dir.join(TREE_DIR));
                tree.root.join(&tree.program)
            }
            None => dir.join(library_name(&self.build.engine)),
        };
        self
    }
}

/// Returns the file name of an engine's library in the cache.
pub(crate) fn library_name(engine: &str) -> String {
    format!("lib{engine}.so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_hash_is_listed() {
        let artifact: Artifact = serde_json::from_str(
            r#"{"build": "rocksdb@1.0", "sha256": "0123456789a\u00e4\u00e4", "origin": "x", "bytes": 2048}"#,
        )
        .unwrap();
        let row = ["rocksdb@1.0", "2.00 KiB", "sha256 0123456789a\u{e4}", "x"];
        assert_eq!(artifact.row(), row);
    }

    /// Goal: an engine that is confined reaches its build, and no home around it.
    #[test]
    fn a_build_lies_in_its_tree_or_the_parts_of_an_installation_or_is_a_library() {
        let dir = tempfile::tempdir().unwrap();
        let at = |tree: &str| {
            let text = format!(
                r#"{{"build": "postgres@1.0", "sha256": "", "origin": "x", "bytes": 1{tree}}}"#
            );
            serde_json::from_str::<Artifact>(&text).unwrap().placed(dir.path())
        };
        let cached = at(r#", "tree": {"program": "bin/postgres"}"#);
        assert_eq!(cached.places(), [dir.path().join(TREE_DIR)]);
        let in_place = at(r#", "tree": {"program": "bin/postgres", "at": "/home/a"}"#).places();
        assert!(in_place.contains(&PathBuf::from("/home/a/bin")), "{in_place:?}");
        assert!(!in_place.contains(&PathBuf::from("/home/a")), "{in_place:?}");
        let library = at("");
        std::fs::write(dir.path().join("real.so"), "").unwrap();
        std::os::unix::fs::symlink("real.so", &library.library).unwrap();
        let real = dir.path().join("real.so").canonicalize().unwrap();
        assert_eq!(library.places(), [real, library.library.clone()]);
    }
}
