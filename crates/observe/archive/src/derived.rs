//! Cache of values computed from an experiment's records.
//!
//! `derived/` may be deleted at any time, and need not be writable.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use trust::Entries;

use crate::checksum::{changed_files, checksum};
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::{CHECKSUMS, INTERVALS, MANIFEST, RECORD, RUN_DIRS};
use crate::limits::JSON_BYTES_MAX;
use crate::regular::{self, check_dir};
use crate::run::RunWriter;

/// Directory of the cache, in that of the experiment.
const DERIVED: &str = "derived";
/// File of an experiment whose run in hand a page shows.
const WATCHED: &str = "watched";

impl ExperimentDir {
    /// Returns the result of `compute`, cached as `name`.
    ///
    /// Valid until the manifest, a record, the program or the cached value changes. What was
    /// computed from a file whose checksum does not hold is not cached: the next reader is warned.
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
        let stored = key.as_ref().and_then(|key| read(&path, key));
        if let Some(value) = stored {
            return Ok(value);
        }
        let value = compute()?;
        let is_sound = || !changed_files().iter().any(|file| file.starts_with(self.path()));
        if let Some(key) = key.filter(|_| is_sound() && self.may_derive()) {
            // A read-only archive is slower, and equally correct.
            let _written: io::Result<()> = write(&path, &key, &value);
        }
        Ok(value)
    }

    /// Returns whether files of the cache may be written.
    ///
    /// None for a file that is read in place: a request to stop may be removing the directory.
    /// Root writes none where another account can put a link.
    fn may_derive(&self) -> bool {
        !self.is_unpacked() && trust::check(self.path(), Entries::Closed).is_ok()
    }

    /// Notes that a page shows the run in hand; [`crate::RunWriter::is_watched`] reads the note.
    ///
    /// An archive that this account cannot write to gets no note.
    pub fn mark_watched(&self) {
        let mark = self.path().join(DERIVED).join(WATCHED);
        if !mark.exists()
            && self.may_derive()
            && fs::create_dir_all(self.path().join(DERIVED)).is_ok()
        {
            fs::write(mark, b"").ok();
        }
    }

    /// Returns a key of the experiment's content; `None` when a file's metadata cannot be read.
    ///
    /// It takes 5 us for each run, and changes with the manifest, any record and the program. A
    /// record is always replaced as a whole, by rename, so its inode changes with it; size and time
    /// detect edits by hand.
    pub fn key(&self) -> Option<String> {
        self.key_of(&[RECORD])
    }

    /// Returns a key that changes also with the checksums and the intervals of any run.
    ///
    /// It takes 15 us for each run.
    pub fn rows_key(&self) -> Option<String> {
        self.key_of(&[RECORD, CHECKSUMS, INTERVALS])
    }

    /// Returns a key of the manifest and of these files of each run.
    fn key_of(&self, files: &[&str]) -> Option<String> {
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
            files.iter().for_each(|file| identity(&run.join(file)).ok().hash(&mut hasher));
        }
        Some(format!("{} {:016x}", env!("CARGO_PKG_VERSION"), hasher.finish()))
    }

    /// Returns a key of the experiment's content that takes 10 us however many runs it has.
    ///
    /// It changes with the manifest, a run that begins or ends, and one that is moved or removed:
    /// the list of ended runs is replaced. It does not change with an edit of a record
    /// by hand. Without the list, as in an older archive, it is [`ExperimentDir::key`].
    pub fn stamp(&self) -> Option<String> {
        let Ok(list) = identity(&self.path().join(CHECKSUMS)) else { return self.key() };
        let manifest = identity(&self.path().join(MANIFEST)).ok()?;
        let mut hasher = DefaultHasher::new();
        (list, manifest, identity(&self.path().join(RUN_DIRS[0])).ok()).hash(&mut hasher);
        Some(format!("{:016x}", hasher.finish()))
    }
}

impl RunWriter {
    /// Returns the file that a page makes while it shows this run.
    fn mark(&self) -> Option<PathBuf> {
        Some(self.dir().ancestors().nth(2)?.join(DERIVED).join(WATCHED))
    }

    /// Returns whether a page has shown this run.
    pub fn is_watched(&self) -> bool {
        self.mark().is_some_and(|mark| mark.exists())
    }

    /// Forgets that a page showed an earlier run.
    pub(crate) fn unmark(&self) {
        if let Some(mark) = self.mark() {
            fs::remove_file(mark).ok();
        }
    }
}

/// Returns a key of the program; `None` when it cannot be read.
pub(crate) fn program() -> Option<String> {
    let mut hasher = DefaultHasher::new();
    identity(&std::env::current_exe().ok()?).ok()?.hash(&mut hasher);
    Some(format!("{} {:016x}", env!("CARGO_PKG_VERSION"), hasher.finish()))
}

/// Returns inode, size and modification time of a file.
fn identity(path: &Path) -> io::Result<(u64, u64, i64, i64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// Returns the first line of a cached value: the key of its inputs and its own checksum.
fn head(key: &str, value: &[u8]) -> String {
    format!("\"{key} {}\"", checksum(value))
}

/// Reads a cached value of that key; `None` when it is absent, outdated or damaged.
fn read<T: DeserializeOwned>(path: &Path, key: &str) -> Option<T> {
    check_dir(path.parent()?).ok()?;
    let text = regular::read(path, JSON_BYTES_MAX).ok()?;
    let at = text.iter().position(|byte| *byte == b'\n')?;
    let (first, value) = (&text[..at], &text[at + 1..]);
    if first != head(key, value).as_bytes() {
        return None;
    }
    serde_json::from_slice(value).ok()
}

/// Writes a temporary file and renames it, so that readers see complete files.
fn write<T: Serialize>(path: &Path, key: &str, value: &T) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    check_dir(dir)?;
    fs::create_dir_all(dir)?;
    let value = serde_json::to_vec(value)?;
    // The umask takes from it what it takes from any new file.
    let readable = fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(dir)?;
    file.write_all(&[head(key, &value).as_bytes(), b"\n", &value].concat())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
