//! A cached build, and the note that lies beside its library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::BuildRef;
use serde::{Deserialize, Serialize};

/// The note's file name.
pub(crate) const NOTE_FILE: &str = "artifact.json";

/// The name of the directory of an engine's headers, in builds that need a shim.
pub(crate) const HEADERS_DIR: &str = "headers";

/// One build in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name.
    pub build: BuildRef,
    /// Path of its library.
    pub library: PathBuf,
    /// SHA-256 of the library, in hex.
    pub sha256: String,
    /// Where it came from, in words: `Maven artifact org.rocksdb:rocksdbjni:9.10.0`.
    pub origin: String,
    /// Size of the library.
    pub bytes: u64,
    /// How it was made, by name: compiler, flags; empty for builds made elsewhere.
    pub facts: BTreeMap<String, String>,
}

/// What is written beside the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The build's name.
    pub(crate) build: BuildRef,
    /// SHA-256 of the library, in hex.
    pub(crate) sha256: String,
    /// Where it came from.
    pub(crate) origin: String,
    /// Size of the library.
    pub(crate) bytes: u64,
    /// How it was made.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) facts: BTreeMap<String, String>,
    /// The shim beside it, for engines that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shim: Option<ShimNote>,
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
            library: dir.join(library_name(&self.build.engine)),
            build: self.build,
            sha256: self.sha256,
            origin: self.origin,
            bytes: self.bytes,
            facts: self.facts,
        }
    }
}

/// Returns the file name of an engine's library in the cache.
pub(crate) fn library_name(engine: &str) -> String {
    format!("lib{engine}.so")
}
