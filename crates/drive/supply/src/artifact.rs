//! A cached build and the metadata file stored with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::BuildRef;
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

impl Artifact {
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
