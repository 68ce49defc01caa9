//! Cache of values computed from an experiment's records.
//!
//! `derived/` may be deleted at any time, and need not be writable.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::ArchiveError;
use crate::experiment::{ExperimentDir, MANIFEST};
use crate::run::RECORD;

/// Directory of the cache, in that of the experiment.
const DERIVED: &str = "derived";

/// A cached value and the key of its inputs.
#[derive(Serialize, Deserialize)]
struct Cached<T> {
    key: String,
    value: T,
}

impl ExperimentDir {
    /// Returns the result of `compute`, cached as `name`.
    ///
    /// Valid until the manifest, a record or the program changes.
    ///
    /// # Errors
    /// Those of `compute`; a cache that cannot be read or written is no error.
    pub fn cached<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        compute: impl FnOnce() -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        // Taken before the records are read: a change in between invalidates the key.
        let key = self.key();
        let path = self.path().join(DERIVED).join(format!("{name}.json"));
        let stored = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let stored = stored.filter(|cached: &Cached<T>| key.as_ref() == Some(&cached.key));
        if let Some(cached) = stored {
            return Ok(cached.value);
        }
        let value = compute()?;
        let Some(key) = key else { return Ok(value) };
        let cached = Cached { key, value };
        // A read-only archive is slower, and equally correct.
        let _written: io::Result<()> = write(&path, &cached);
        Ok(cached.value)
    }

    /// Returns the cache key; `None` when a file's metadata cannot be read.
    ///
    /// It changes with the manifest, any record and the program. A record is always replaced as a
    /// whole, by rename, so its inode changes with it; size and time detect edits by hand.
    fn key(&self) -> Option<String> {
        let mut hasher = DefaultHasher::new();
        identity(&std::env::current_exe().ok()?).ok()?.hash(&mut hasher);
        identity(&self.path().join(MANIFEST)).ok()?.hash(&mut hasher);
        let mut records: Vec<_> = fs::read_dir(self.path().join("runs"))
            .ok()?
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect();
        records.sort();
        for run in &records {
            run.file_name().hash(&mut hasher);
            // A run without a record counts as not executed, here as elsewhere.
            identity(&run.join(RECORD)).ok().hash(&mut hasher);
        }
        Some(format!("{} {:016x}", env!("CARGO_PKG_VERSION"), hasher.finish()))
    }
}

/// Returns inode, size and modification time of a file.
fn identity(path: &Path) -> io::Result<(u64, u64, i64, i64)> {
    let file = fs::metadata(path)?;
    Ok((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// Writes a temporary file and renames it, so that readers see complete files.
fn write<T: Serialize>(path: &Path, cached: &Cached<T>) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let fresh = path.with_extension(format!("json.{}", std::process::id()));
    fs::write(&fresh, serde_json::to_vec(cached)?)?;
    fs::rename(&fresh, path)
}
