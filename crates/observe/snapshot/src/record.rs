//! What is known about a snapshot: `record.json`.

use std::path::PathBuf;

use model::{Bytes, StepRecord};
use serde::{Deserialize, Serialize};

use crate::key::Key;

/// Version of the format; another one is not read.
pub const FORMAT: u32 = 1;

/// A snapshot's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRecord {
    /// Version of the format.
    pub format: u32,
    /// Identifier: the name of its directory.
    pub id: String,
    /// SHA-256 of the key, in hex.
    pub key_sha256: String,
    /// What the database depends on.
    pub key: Key,
    /// Identifier of the run that loaded it.
    pub made_by: String,
    /// When it was saved, UTC, RFC 3339.
    pub made_at: String,
    /// The load's own measurements, with the state of the engine after each step.
    pub steps: Vec<StepRecord>,
    /// Ends of the names of files that the engine never rewrites.
    pub immutable: Vec<String>,
    /// Its directories, each after the one it is in.
    pub dirs: Vec<DirEntry>,
    /// Its files.
    pub files: Vec<FileEntry>,
}

/// One directory of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirEntry {
    /// Path below the snapshot's files.
    pub path: PathBuf,
    /// Permissions.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path below the snapshot's files.
    pub path: PathBuf,
    /// Length.
    pub bytes: Bytes,
    /// XXH3 of its content, 64 bits in hex.
    pub xxh3: String,
    /// Permissions.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
}

impl SnapshotRecord {
    /// Returns the length of all files.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.files.iter().map(|file| file.bytes.0).fold(0, u64::saturating_add))
    }

    /// Returns whether the engine never rewrites a file, by its name.
    pub(crate) fn is_immutable(&self, file: &FileEntry) -> bool {
        let name = file.path.as_os_str().as_encoded_bytes();
        self.immutable.iter().any(|end| name.ends_with(end.as_bytes()))
    }
}
