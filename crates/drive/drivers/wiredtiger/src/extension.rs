//! Finds the extension library of a compressor.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories in which distributions install libraries.
const INSTALLED: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

/// Returns the extension of `compressor` for `library`, if any.
///
/// An extension calls back through structs of its own build. So one in another directory is taken
/// only where that directory has a copy of the library.
pub(crate) fn extension(compressor: &str, library: &Path) -> Option<PathBuf> {
    let name = format!("libwiredtiger_{compressor}.so");
    let adjacent = library.parent()?.join(&name);
    if adjacent.is_file() {
        return Some(adjacent);
    }
    let installed = INSTALLED.iter().map(|dir| Path::new(dir).join(&name));
    installed.filter(|path| path.is_file()).find(|path| has_copy(path.parent(), library))
}

/// Returns whether a directory holds a copy of the library under one of its usual names.
fn has_copy(dir: Option<&Path>, library: &Path) -> bool {
    let Some(entries) = dir.and_then(|dir| fs::read_dir(dir).ok()) else { return false };
    let is_library = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("libwiredtiger.so"))
    };
    let bytes = fs::read(library).ok();
    let is_copy = |path: PathBuf| fs::read(path).ok() == bytes;
    entries.flatten().map(|entry| entry.path()).filter(is_library).any(is_copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_next_to_the_library_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libwiredtiger.so");
        fs::write(&library, "library").unwrap();
        assert_eq!(extension("oak", &library), None);
        let adjacent = dir.path().join("libwiredtiger_oak.so");
        fs::write(&adjacent, "").unwrap();
        assert_eq!(extension("oak", &library), Some(adjacent));
        assert!(has_copy(Some(dir.path()), &library));
        let other = dir.path().join("other.so");
        fs::write(&other, "LIBRARY").unwrap();
        assert!(!has_copy(Some(dir.path()), &other));
    }
}
