//! What was computed from an experiment's records, kept beside them: a cache, never the truth.
//!
//! `derived/` may be deleted at any time. Where it cannot be written, everything still works.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::ArchiveError;
use crate::experiment::{ExperimentDir, MANIFEST};
use crate::run::RECORD;

/// Directory of the cache, in that of the experiment.
const DERIVED: &str = "derived";

/// A cached value and what it was computed from.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    key: String,
    value: T,
}

impl ExperimentDir {
    /// Returns what `compute` makes of the manifest and the records, kept under `name` until one
    /// of these changes, or the program.
    ///
    /// # Errors
    /// Those of `compute`; a cache that cannot be read or written is no error.
    pub fn cached<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        compute: impl FnOnce() -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        // Taken before the records are read: a change in between leaves a key that does not hold.
        let key = self.key();
        if let Some(kept) = self.kept(name, key.as_deref()) {
            return Ok(kept);
        }
        let value = compute()?;
        self.keep(name, key, &value);
        Ok(value)
    }

    /// Returns the value kept under `name`; `None` when there is none of this key.
    pub(crate) fn kept<T: DeserializeOwned>(&self, name: &str, key: Option<&str>) -> Option<T> {
        let text = fs::read(self.kept_path(name)).ok()?;
        let kept: Kept<T> = serde_json::from_slice(&text).ok()?;
        (key == Some(&kept.key)).then_some(kept.value)
    }

    /// Keeps a value under `name`, with the key that held before the records were read.
    pub(crate) fn keep<T: Serialize>(&self, name: &str, key: Option<String>, value: &T) {
        if let Some(key) = key {
            // An archive that cannot be written is slower, and as right.
            let _written: io::Result<()> = write(&self.kept_path(name), &Kept { key, value });
        }
    }

    fn kept_path(&self, name: &str) -> PathBuf {
        self.path().join(DERIVED).join(format!("{name}.json"))
    }

    /// Returns what changes when the manifest, a record or the program does; `None` when a file
    /// cannot be asked.
    ///
    /// A record is always replaced as a whole, by rename, so its inode changes with it; size and
    /// time are for those who edit by hand. The hash may differ in another build of the program,
    /// and so may the meaning of what was computed.
    pub(crate) fn key(&self) -> Option<String> {
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
            // A run without a record counts as one that was not made, here as elsewhere.
            identity(&run.join(RECORD)).ok().hash(&mut hasher);
        }
        Some(format!("{} {:016x}", env!("CARGO_PKG_VERSION"), hasher.finish()))
    }
}

/// Returns inode, size and time of the last change of a file.
fn identity(path: &Path) -> io::Result<(u64, u64, i64, i64)> {
    let file = fs::metadata(path)?;
    Ok((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// Writes beside the place and renames, so that a reader never meets half a file.
fn write<T: Serialize>(path: &Path, kept: &Kept<T>) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let fresh = path.with_extension(format!("json.{}", std::process::id()));
    fs::write(&fresh, serde_json::to_vec(kept)?)?;
    fs::rename(&fresh, path)
}
