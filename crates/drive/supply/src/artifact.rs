//! A cached build and the metadata file stored with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::BuildRef;
use serde::{Deserialize, Serialize};

use crate::server::TreeMetadata;

/// File name of the metadata.
pub(crate) const METADATA_FILE: &str = "artifact.json";

/// One build in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The build's name.
    pub build: BuildRef,
    /// Path of its library, or of a server's program.
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
    pub facts: BTreeMap<String, String>,
    /// A server's files; `None` for a library.
    pub tree: Option<Tree>,
}

/// The files of a server, its program included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Their directory.
    pub root: PathBuf,
    /// Number of files; `None` for an installation used in place.
    pub files: Option<u64>,
}

/// The metadata file of a cached build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArtifactMetadata {
    pub(crate) build: BuildRef,
    /// SHA-256 of the library or of the server's program, in hex.
    pub(crate) sha256: String,
    pub(crate) origin: String,
    /// Size of the library or of the server's program.
    pub(crate) bytes: u64,
    /// Compiler, flags and other facts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) facts: BTreeMap<String, String>,
    /// The compiled shim, for engines that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shim: Option<ShimMetadata>,
    /// The server's files, its program included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<TreeMetadata>,
}

/// Hashes of a compiled shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShimMetadata {
    /// SHA-256 of its source and of the interface it was compiled for, in hex.
    pub(crate) recipe_sha256: String,
    /// SHA-256 of the compiled shim, in hex.
    pub(crate) sha256: String,
}

impl ArtifactMetadata {
    /// Returns the artifact this metadata describes, stored in `dir`.
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
