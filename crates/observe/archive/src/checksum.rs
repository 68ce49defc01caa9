//! Checksums of a finished run's files, and of the manifest.
//!
//! A directory's `checksums` has one line for each file, as `sha256sum` writes and checks them. A
//! run gets them together with its last record, so one that was killed has none, like those of an
//! older Assay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::error::ArchiveError;
use crate::layout::CHECKSUMS;
use crate::limits::{CHECKSUMS_BYTES_MAX, FILE_BYTES_MAX, JSON_BYTES_MAX};
use crate::regular;
use crate::replace::{is_replacement, replace};

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 64;
/// Separates a checksum from its file's name. Source: `sha256sum(1)`.
const SEPARATOR: &str = "  ";

/// Checksums by file; one that is being replaced has two.
pub(crate) type Checksums = BTreeMap<String, BTreeSet<String>>;

/// The files read in this process whose checksum does not hold.
static CHANGED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Returns the files read so far in this process whose checksum does not hold.
pub fn changed_files() -> Vec<PathBuf> {
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

/// Compares a file that was read with its checksum, if it has one; see [`changed_files`].
pub(crate) fn check_read(path: &Path, content: &[u8]) {
    let Some((dir, name)) = path.parent().zip(path.file_name().and_then(|name| name.to_str()))
    else {
        return;
    };
    let Ok(list) = read_list(dir) else { return };
    let known = parse(&list).and_then(|mut sums| sums.remove(name));
    if !known.is_some_and(|known| known.contains(&checksum(content))) {
        let mut changed = CHANGED.lock().unwrap_or_else(PoisonError::into_inner);
        changed.insert(path.to_path_buf());
    }
}

/// Returns the checksums of the files below a directory, once they are on the disk.
pub(crate) fn sums_on_disk(dir: &Path) -> Result<Checksums, ArchiveError> {
    let sum = |name: String| {
        let path = dir.join(&name);
        // Records are synced as they are written; what is appended is not.
        regular::open(&path)?.sync_data()?;
        Ok((name, [checksum_of(&path)?].into()))
    };
    let sums = names(dir).and_then(|names| names.into_iter().map(sum).collect::<io::Result<_>>());
    sums.map_err(ArchiveError::read(dir))
}

/// Replaces a file together with the checksums of its directory, which are `sums` and its own.
///
/// A kill at any moment leaves the old file or the new one, and a checksum that holds.
pub(crate) fn replace_sealed(
    dir: &Path,
    name: &str,
    text: &[u8],
    mut sums: Checksums,
) -> Result<(), ArchiveError> {
    let (path, new) = (dir.join(name), checksum(text));
    let old = match regular::read(&path, JSON_BYTES_MAX) {
        Ok(old) => Some(checksum(&old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(ArchiveError::read(&path)(error)),
    };
    let mut seal = |of_file| {
        sums.insert(name.to_owned(), of_file);
        write(dir, &sums)
    };
    seal(old.iter().chain([&new]).cloned().collect())?;
    replace(&path, text)?;
    old.map_or(Ok(()), |_replaced| seal([new].into()))
}

/// Replaces the list of checksums of a directory.
pub(crate) fn write(dir: &Path, sums: &Checksums) -> Result<(), ArchiveError> {
    let lines = sums
        .iter()
        .flat_map(|(name, sums)| sums.iter().map(move |sum| format!("{sum}{SEPARATOR}{name}\n")));
    replace(&dir.join(CHECKSUMS), lines.collect::<String>().as_bytes())
}

/// Reads the list of checksums of a directory.
pub(crate) fn read_list(dir: &Path) -> io::Result<Vec<u8>> {
    regular::read(&dir.join(CHECKSUMS), CHECKSUMS_BYTES_MAX)
}

/// Parses a list of checksums; `None` when it is damaged.
pub(crate) fn parse(list: &[u8]) -> Option<Checksums> {
    let mut sums = Checksums::new();
    for line in str::from_utf8(list).ok()?.strip_suffix('\n')?.split('\n') {
        let (sum, name) = line.split_once(SEPARATOR)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if sum.len() != DIGITS || !sum.bytes().all(is_digit) {
            return None;
        }
        sums.entry(name.to_owned()).or_default().insert(sum.to_owned());
    }
    Some(sums)
}

/// Returns the files below a directory by their relative names, its list of checksums left out, and
/// replacements that a kill left unfinished.
pub(crate) fn names(dir: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = names_below(dir)?;
    names.remove(CHECKSUMS);
    // An engine may name its files as it likes.
    names.retain(|name| name.contains('/') || !is_replacement(name));
    Ok(names)
}

fn names_below(dir: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            let below = names_below(&entry.path())?;
            names.extend(below.into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Returns the SHA-256 of bytes, in lower-case hex digits.
pub(crate) fn checksum(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// Returns the SHA-256 of a regular file, in hex.
///
/// # Errors
/// When it is not a regular file, or cannot be read.
pub fn checksum_of(path: &Path) -> io::Result<String> {
    checksum_of_file(regular::open(path)?)
}

/// Returns the SHA-256 of a file that a stranger may have sent: a sparse one may claim more bytes
/// than can be read.
pub(crate) fn checksum_within_limit(file: File) -> io::Result<String> {
    regular::check_length(file.metadata()?.len(), FILE_BYTES_MAX)?;
    checksum_of_file(file)
}

/// Returns the SHA-256 of a file, read in parts: an engine's log may be long.
fn checksum_of_file(mut file: File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hex(&hasher.finalize())),
            bytes => hasher.update(&part[..bytes]),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sealed run of two files.
    pub(crate) fn run() -> tempfile::TempDir {
        let run = tempfile::tempdir().unwrap();
        fs::create_dir(run.path().join("engine")).unwrap();
        fs::write(run.path().join("record.json"), "abc").unwrap();
        fs::write(run.path().join("engine/LOG"), "a log").unwrap();
        let sums = sums_on_disk(run.path()).unwrap();
        replace_sealed(run.path(), "record.json", b"abc", sums).unwrap();
        run
    }

    #[test]
    fn lines_are_those_of_sha256sum() {
        let run = run();
        let list = fs::read_to_string(run.path().join(CHECKSUMS)).unwrap();
        // Source: FIPS 180-4, the example of one block, "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(list.ends_with(&format!("\n{abc}  record.json\n")), "{list}");
    }

    #[test]
    fn only_the_run_s_own_list_and_replacements_have_no_checksum() {
        let run = run();
        for name in ["record.json.new", "checksums.new", "engine/OPTIONS.new", "engine/checksums"] {
            fs::write(run.path().join(name), "").unwrap();
        }
        let names: Vec<_> = names(run.path()).unwrap().into_iter().collect();
        assert_eq!(names, ["engine/LOG", "engine/OPTIONS.new", "engine/checksums", "record.json"]);
    }

    #[test]
    fn only_a_file_with_a_checksum_can_be_found_changed() {
        let run = run();
        let (record, other) = (run.path().join("record.json"), tempfile::tempdir().unwrap());
        check_read(&record, b"abc");
        check_read(&other.path().join("record.json"), b"abd");
        assert!(!changed_files().iter().any(|path| path.starts_with(run.path())));
        check_read(&record, b"abd");
        let of_run: Vec<_> =
            changed_files().into_iter().filter(|path| path.starts_with(run.path())).collect();
        assert_eq!(of_run, [record]);
    }
}
