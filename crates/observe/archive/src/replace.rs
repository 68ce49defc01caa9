//! Replaces files as a whole, by rename.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use model::secret::{is_secret_name, masked, masked_value};
use serde_json::Value;

use crate::error::ArchiveError;

/// Returns a value as JSON, in whose texts passwords are masked.
///
/// A server may quote a password in an error, or list one among its settings.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    const VALID: &str = "a record is always valid JSON";
    let text = serde_json::to_string_pretty(value).expect(VALID);
    if *masked(&text) == text {
        return text.into_bytes();
    }
    let mut value = serde_json::to_value(value).expect(VALID);
    mask("", &mut value);
    serde_json::to_vec_pretty(&value).expect(VALID)
}

/// Masks the passwords in the value of a key.
fn mask(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if is_secret_name(key) => *text = "*".repeat(text.len()),
        Value::String(text) => *text = masked_value(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| mask(key, item)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| mask(key, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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

/// Renames a file or a directory, durably.
///
/// A power cut leaves the old name until the directory is synced. Source: rename(2), fsync(2).
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    match to.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all()) {
        // The file system syncs no directories.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Writes a temporary file, syncs it and renames it over the old one, durably.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), ArchiveError> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(NEW);
    let write = || {
        // Of a process that was killed; or a link, in a stranger's archive.
        drop(fs::remove_file(&fresh));
        let mut file = File::create_new(&fresh)?;
        file.write_all(content)?;
        file.sync_data()?;
        rename(fresh.as_ref(), path)
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
    fn stored_texts_have_no_password() {
        let text = |json: Vec<u8>| String::from_utf8(json).unwrap();
        let plain = serde_json::json!({ "z": 0.1, "a": ["has password: no"], "token": 1 });
        assert_eq!(text(json(&plain)), serde_json::to_string_pretty(&plain).unwrap());
        let conninfo = "host=h password='hu\"sh' user=u";
        let secret = serde_json::json!({
            "reason": "at postgres://u:hush@h/d: x@y",
            "options": { "primary_conninfo": conninfo, "api_key": "hush", "b": 0.1 },
            "command_line": ["assay", "postgres://u:hu sh@h"],
        });
        let masked: Value = serde_json::from_slice(&json(&secret)).unwrap();
        let expected = serde_json::json!({
            "reason": "at postgres://u:****@h/d: x@y",
            "options": { "primary_conninfo": "host=h password='*****' user=u", "api_key": "****", "b": 0.1 },
            "command_line": ["assay", "postgres://u:*****@h"],
        });
        assert_eq!(masked, expected);
    }

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
