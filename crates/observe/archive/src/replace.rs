//! Replaces files as a whole, by rename.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::ArchiveError;

/// Returns a value as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec_pretty(value).expect("a record is always valid JSON")
}

/// Writes a temporary file, syncs it and renames it over the old one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), ArchiveError> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let write = || {
        // Of a process that was killed; or a link, in a stranger's archive.
        drop(fs::remove_file(&fresh));
        let mut file = File::create_new(&fresh)?;
        file.write_all(content)?;
        file.sync_data()?;
        fs::rename(&fresh, path)
    };
    write().map_err(ArchiveError::write(path))
}
