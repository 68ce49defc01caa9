//! Replaces files as a whole, by rename.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::ArchiveError;

/// Returns a value as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec_pretty(value).expect("a record is always valid JSON")
}

/// End of the name of a file that replaces the one without it once it is whole.
const NEW: &str = ".new";

/// Returns whether a name is that of a replacement, which a kill leaves unfinished.
pub(crate) fn is_replacement(name: &str) -> bool {
    name.ends_with(NEW)
}

/// Removes the unfinished replacements in a directory that no other process writes.
pub(crate) fn remove_replacements(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let unfinished = entries.filter(|entry| is_replacement(&entry.file_name().to_string_lossy()));
    // One that stays is no part of the archive.
    unfinished.for_each(|entry| drop(fs::remove_file(entry.path())));
}

/// Writes a temporary file, syncs it and renames it over the old one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), ArchiveError> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(NEW);
    let write = || {
        // Of a process that was killed; or a link, in a stranger's archive.
        drop(fs::remove_file(&fresh));
        let mut file = File::create_new(&fresh)?;
        file.write_all(content)?;
        file.sync_data()?;
        fs::rename(&fresh, path)
    };
    write().map_err(|error| {
        // A full disk needs the room.
        fs::remove_file(&fresh).ok();
        ArchiveError::write(path)(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_replacement_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        fs::create_dir(&path).unwrap();
        assert!(matches!(replace(&path, b"{}").unwrap_err(), ArchiveError::Write(..)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(is_replacement("record.json.new") && !is_replacement("record.json"));
    }
}
