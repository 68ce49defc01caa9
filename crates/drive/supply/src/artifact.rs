//! A cached build, and the note that lies beside its library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::BuildRef;
use serde::{Deserialize, Serialize};

use crate::server::TreeNote;

/// The note's file name.
pub(crate) const NOTE_FILE: &str = "artifact.json";

/// The name of the directory of an engine's headers, in builds that need a shim.
pub(crate) const HEADERS_DIR: &str = "headers";

/// One build in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name.
    pub build: BuildRef,
    /// Path of its library; of a server, path of its program.
    pub library: PathBuf,
    /// SHA-256 of that file, in hex.
    pub sha256: String,
    /// Where it came from, in words: `Maven artifact org.rocksdb:rocksdbjni:9.10.0`.
    pub origin: String,
    /// Size of the library; of a server, size of all its files, or of
    /// its program when it is used where it lies.
    pub bytes: u64,
    /// How it was made, by name: compiler, flags; empty for builds made elsewhere.
    pub facts: BTreeMap<String, String>,
    /// A server's files; `None` for a library.
    pub tree: Option<Tree>,
}

/// The files of a server, among which its program lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The directory they lie in.
    pub root: PathBuf,
    /// How many files it has; `None` for an installation that is used where it lies.
    pub files: Option<u64>,
}

/// What is written beside the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The build's name.
    pub(crate) build: BuildRef,
    /// SHA-256 of the library or of the server's program, in hex.
    pub(crate) sha256: String,
    /// Where it came from.
    pub(crate) origin: String,
    /// Size of the library or of the server's program.
    pub(crate) bytes: u64,
    /// How it was made.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) facts: BTreeMap<String, String>,
    /// The shim beside it, for engines that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shim: Option<ShimNote>,
    /// The server's files, of which the program is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<TreeNote>,
}

/// What is known of a compiled shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShimNote {
    /// SHA-256 of its source and of the interface it was compiled for, in hex.
    pub(crate) recipe_sha256: String,
    /// SHA-256 of the compiled shim, in hex.
    pub(crate) sha256: String,
}

impl Note {
    /// Returns the artifact this note describes, kept in `dir`.
    pub(crate) fn into_artifact(self, dir: &Path) -> Artifact {
        Artifact {
            library: match &self.tree {
                Some(tree) => tree.root(dir).join(&tree.program),
                None => dir.join(library_name(&self.build.engine)),
            },
            bytes: self
                .tree
                .as_ref()
                .and_then(|tree| tree.files.as_ref())
                .map_or(self.bytes, |files| files.bytes),
            tree: self.tree.map(|tree| Tree {
                root: tree.root(dir),
                files: tree.files.map(|files| files.count),
            }),
            build: self.build,
            sha256: self.sha256,
            origin: self.origin,
            facts: self.facts,
        }
    }
}

/// Returns the file name of an engine's library in the cache.
pub(crate) fn library_name(engine: &str) -> String {
    format!("lib{engine}.so")
}
