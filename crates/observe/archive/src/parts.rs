//! The set of Parquet files next to the experiments: its parts, and which are fresh.
//!
//! The set is a cache: it may be deleted at any time. It is replaced as a whole, by exchanging its
//! directory, so readers and kills see the old set or the new one. Files that stay are linked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use trust::{Dir, Entries};
use twox_hash::XxHash3_64;

use crate::derived::program;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::regular::{self, check_dir};
use crate::replace::{json, replace};
use crate::results::Results;
use crate::scratch::ScratchDir;

/// Directory of the set. The leading dot keeps it out of the experiments' names.
const SET: &str = ".parquet";
/// Start of the name of a directory in which a set is prepared.
const PREPARED: &str = ".parquet-";
/// File that lists the parts.
const INDEX: &str = "set.json";
/// Digits at least of the numbers in the name of a part.
const NUMBER_DIGITS: usize = 6;
/// Largest list of the parts, in bytes: 200 for each experiment, so a million fit.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// Bytes that are hashed at once.
const READ_BYTES: usize = 1 << 20;

/// An experiment in a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartExperiment {
    /// Directory below the archive.
    pub directory: String,
    /// [`ExperimentDir::rows_key`] when it was read.
    pub key: String,
    /// [`ExperimentDir::stamp`] when it was read; `None` when readers must read the plain files,
    /// because a run has not ended, a process writes runs or a file is damaged.
    pub stamp: Option<String>,
    /// What is damaged or changed, with its place.
    pub damaged: Vec<String>,
}

/// A part of the set: one file for each table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Name of its files after the name of the table.
    pub name: String,
    /// Its experiments, in order.
    pub experiments: Vec<PartExperiment>,
    /// Length and checksum of each file, by name.
    files: BTreeMap<String, PartFile>,
}

/// What a file of a part has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PartFile {
    bytes: u64,
    xxh3: u64,
}

/// List of the parts: `set.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Index {
    /// Program that wrote them: another one may compute other values.
    program: Option<String>,
    parts: Vec<Part>,
}

/// The program in a list of parts, also of a list in another format.
#[derive(Debug, Deserialize)]
struct IndexProgram {
    program: Option<String>,
}

/// The parts of a set.
#[derive(Debug)]
pub struct PartSet {
    dir: PathBuf,
    root: PathBuf,
    /// The parts, in the order of their experiments.
    pub parts: Vec<Part>,
    /// Why the list of the parts cannot be read, though it is there.
    pub unreadable: Option<ArchiveError>,
}

impl Part {
    /// Returns the name of the file of a table.
    pub fn file(&self, table: &str) -> String {
        format!("{table}-{}.parquet", self.name)
    }
}

impl PartSet {
    /// Returns the directory of the set.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the paths of the experiments that did not change since, by their directories.
    pub fn fresh(&self, dirs: &[ExperimentDir]) -> BTreeMap<String, PathBuf> {
        let known = self.parts.iter().flat_map(|part| &part.experiments);
        let known: BTreeMap<_, _> =
            known.map(|one| (one.directory.as_str(), one.stamp.as_deref())).collect();
        let fresh = |dir: &ExperimentDir| {
            let directory = self.directory(dir)?;
            let stored = known.get(directory.as_str()).copied().flatten()?;
            (dir.stamp()? == stored).then(|| (directory, dir.path().to_path_buf()))
        };
        dirs.iter().filter_map(fresh).collect()
    }

    /// Returns the directory of an experiment below the archive.
    pub fn directory(&self, dir: &ExperimentDir) -> Option<String> {
        Some(dir.path().strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    /// Opens the file of a table of a part.
    ///
    /// # Errors
    /// When it cannot be read, or differs from what was written.
    pub fn open(&self, part: &Part, table: &str) -> Result<File, ArchiveError> {
        let path = self.dir.join(part.file(table));
        let read = || {
            check_dir(&self.dir)?;
            let mut file = regular::open(&path)?;
            let bytes = file.metadata()?.len();
            let stored = part.files.get(&part.file(table)).filter(|stored| stored.bytes == bytes);
            let is_it = match stored {
                Some(stored) => checksum(&file)? == stored.xxh3,
                None => false,
            };
            file.rewind().map(|()| is_it.then_some(file))
        };
        let file = read().map_err(ArchiveError::read(&path))?;
        let reason = "its length or checksum does not match";
        file.ok_or_else(|| ArchiveError::Damaged(path, reason.to_owned()))
    }
}

impl Results {
    /// Returns the set; one without parts where there is none, its list is damaged, or another
    /// program wrote it.
    pub fn part_set(&self) -> PartSet {
        let dir = self.root().join(SET);
        let (parts, unreadable) = match read_index(&dir) {
            Ok(parts) => (parts, None),
            Err(error) if error.is_absence() => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error)),
        };
        PartSet { dir, root: self.root().to_path_buf(), parts, unreadable }
    }
}

/// Reads the parts in the list of a set; none when another program wrote it.
fn read_index(dir: &Path) -> Result<Vec<Part>, ArchiveError> {
    let path = dir.join(INDEX);
    let list = check_dir(dir).and_then(|()| regular::read(&path, INDEX_BYTES_MAX));
    let list = list.map_err(ArchiveError::read(&path))?;
    let is_ours = |of: &Option<String>| of.is_some() && *of == program();
    match serde_json::from_slice::<Index>(&list) {
        Ok(mut index) if is_ours(&index.program) => {
            index.parts.retain(|part| !part.experiments.is_empty());
            Ok(index.parts)
        }
        Ok(_) => Ok(Vec::new()),
        Err(error) => match serde_json::from_slice::<IndexProgram>(&list) {
            Ok(index) if !is_ours(&index.program) => Ok(Vec::new()),
            Ok(_) | Err(_) => Err(ArchiveError::Damaged(path, error.to_string())),
        },
    }
}

/// Checks that the place of a set is free, or a directory with files of a set alone.
fn check_replaceable(set: &Path) -> Result<(), ArchiveError> {
    let foreign = |path: &Path| Err(ArchiveError::Foreign(path.to_path_buf()));
    match fs::symlink_metadata(set) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(ArchiveError::read(set)(error)),
        Ok(found) if !found.is_dir() => return foreign(set),
        Ok(_) => {}
    }
    for entry in fs::read_dir(set).map_err(ArchiveError::read(set))? {
        let entry = entry.map_err(ArchiveError::read(set))?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name();
        if !is_file || !name.to_str().is_some_and(|name| name == INDEX || is_part_file(name)) {
            return foreign(&entry.path());
        }
    }
    Ok(())
}

/// Returns whether a part has files of this name, such as `runs-000001-000016.parquet`.
fn is_part_file(name: &str) -> bool {
    let parts: Option<Vec<_>> = name.strip_suffix(".parquet").map(|name| name.split('-').collect());
    let is_number =
        |text: &str| text.len() >= NUMBER_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|parts| match parts[..] {
        [table, first, last] => {
            let is_table = !table.is_empty() && table.bytes().all(|byte| byte.is_ascii_lowercase());
            is_table && is_number(first) && is_number(last)
        }
        _ => false,
    })
}

/// A set in preparation, removed unless it is finished.
#[derive(Debug)]
pub struct PartSetWriter {
    prepared: ScratchDir,
    old: PartSet,
}

impl PartSetWriter {
    /// Begins the set that replaces another.
    ///
    /// # Errors
    /// When the archive cannot be written, or a foreign file is in the place of the set.
    pub fn begin(old: PartSet) -> Result<Self, ArchiveError> {
        check_replaceable(&old.dir)?;
        let begin = || {
            // Before a directory is made below a path that others can replace.
            Dir::create(&old.root, Entries::Shared)?;
            trust::check(&old.dir, Entries::Closed)?;
            let prepared = ScratchDir::make(&old.root, PREPARED)?;
            fs::create_dir(prepared.path().join(SET))?;
            Ok(prepared)
        };
        let prepared = begin().map_err(ArchiveError::write(&old.root))?;
        Ok(Self { prepared, old })
    }

    /// Returns the set that is replaced.
    pub const fn old(&self) -> &PartSet {
        &self.old
    }

    fn path(&self, name: &str) -> PathBuf {
        self.prepared.path().join(SET).join(name)
    }

    /// Creates a file of the new set.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path(name))
    }

    /// Takes a file of the old set over.
    ///
    /// # Errors
    /// When it can neither be linked nor copied.
    pub fn link(&self, old: &str, new: &str) -> Result<(), ArchiveError> {
        let (from, to) = (self.old.dir.join(old), self.path(new));
        let linked = fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop));
        linked.map_err(ArchiveError::write(&to))
    }

    /// Returns a part after its files were written or linked.
    ///
    /// # Errors
    /// When a file cannot be read again.
    pub fn part(
        &self,
        name: String,
        experiments: Vec<PartExperiment>,
        tables: &[&str],
    ) -> Result<Part, ArchiveError> {
        let mut part = Part { name, experiments, files: BTreeMap::new() };
        for table in tables {
            let name = part.file(table);
            let path = self.path(&name);
            let file = File::open(&path)
                .and_then(|file| {
                    Ok(PartFile { bytes: file.metadata()?.len(), xxh3: checksum(&file)? })
                })
                .map_err(ArchiveError::read(&path))?;
            part.files.insert(name, file);
        }
        Ok(part)
    }

    /// Replaces the old set by the new one of these parts.
    ///
    /// # Errors
    /// When the list cannot be written or the directory cannot be replaced: the old set stays.
    pub fn finish(self, parts: Vec<Part>) -> Result<(), ArchiveError> {
        check_replaceable(&self.old.dir)?;
        replace(&self.path(INDEX), &json(&Index { program: program(), parts }))?;
        let (new, old) = (self.path(""), &self.old.dir);
        let exchanged = match renameat_with(CWD, &new, CWD, old, RenameFlags::EXCHANGE) {
            Err(Errno::NOENT) => fs::rename(&new, old),
            // The file system cannot exchange: for a moment the set is absent.
            Err(Errno::INVAL | Errno::NOSYS) => fs::rename(old, self.prepared.path().join("old"))
                .and_then(|()| fs::rename(&new, old)),
            other => other.map_err(io::Error::from),
        };
        exchanged.map_err(ArchiveError::write(old))
    }
}

/// Returns the XXH3 of a file.
fn checksum(mut file: &File) -> io::Result<u64> {
    let mut hasher = XxHash3_64::new();
    let mut bytes = vec![0; READ_BYTES];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(hasher.finish()),
            read => hasher.write(&bytes[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Goal: no file that another program wrote is removed.
    #[test]
    fn foreign_files_in_the_place_of_the_set_are_refused_and_stay() {
        let root = tempfile::tempdir().unwrap();
        let (results, set) = (Results::at(root.path()), root.path().join(SET));
        let refusal = || PartSetWriter::begin(results.part_set()).unwrap_err().to_string();
        fs::write(&set, "notes").unwrap();
        assert!(refusal().contains(&set.display().to_string()));
        fs::remove_file(&set).unwrap();
        std::os::unix::fs::symlink("/", &set).unwrap();
        assert!(refusal().contains("move it elsewhere"));
        fs::remove_file(&set).unwrap();
        fs::create_dir(&set).unwrap();
        for own in [INDEX, "runs-000001-000016.parquet", "experiments-1000001-1000256.parquet"] {
            fs::write(set.join(own), "").unwrap();
            PartSetWriter::begin(results.part_set()).unwrap();
        }
        for name in ["notes", "own.parquet", "runs-1-2.parquet", "my-runs-000001-000016.parquet"] {
            fs::write(set.join(name), "").unwrap();
            assert!(refusal().contains(&set.join(name).display().to_string()), "{name}");
            fs::remove_file(set.join(name)).unwrap();
        }
        let writer = PartSetWriter::begin(results.part_set()).unwrap();
        fs::write(set.join("notes"), "").unwrap();
        writer.finish(Vec::new()).unwrap_err();
        assert!(names(&set).contains(&"notes".to_owned()));
        assert_eq!(names(root.path()), [SET]);
    }

    #[test]
    fn parts_without_experiments_are_ignored_and_damaged_lists_are_named() {
        let root = tempfile::tempdir().unwrap();
        let results = Results::at(root.path());
        let writer = PartSetWriter::begin(results.part_set()).unwrap();
        let part = writer.part("000001-000001".to_owned(), Vec::new(), &[]).unwrap();
        writer.finish(vec![part]).unwrap();
        let set = results.part_set();
        assert!(set.parts.is_empty() && set.unreadable.is_none());
        let index = set.dir().join(INDEX);
        let text = fs::read_to_string(&index).unwrap();
        let damaged = |text: &str| {
            fs::write(&index, text).unwrap();
            results.part_set().unreadable.map(|error| error.to_string())
        };
        assert!(damaged("{").unwrap().contains(&index.display().to_string()));
        assert!(damaged(&text.replace("files", "sums")).unwrap().contains("missing field"));
        assert_eq!(damaged(r#"{"program": "another", "parts": 1}"#), None);
        File::options().write(true).open(&index).unwrap().set_len(INDEX_BYTES_MAX + 1).unwrap();
        let large = results.part_set().unreadable.unwrap().to_string();
        assert!(large.contains("larger than 256 MiB"), "{large}");
    }

    #[test]
    fn a_file_of_another_length_or_content_is_not_opened() {
        let root = tempfile::tempdir().unwrap();
        let results = Results::at(root.path());
        let writer = PartSetWriter::begin(results.part_set()).unwrap();
        drop(writer.create("runs-000001-000001.parquet").unwrap());
        let part = writer.part("000001-000001".to_owned(), Vec::new(), &["runs"]).unwrap();
        writer.finish(vec![part.clone()]).unwrap();
        let set = results.part_set();
        set.open(&part, "runs").unwrap();
        let path = set.dir().join(part.file("runs"));
        for length in [1, 1 << 40] {
            File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
            let error = set.open(&part, "runs").unwrap_err().to_string();
            assert!(error.contains("its length or checksum does not match"), "{error}");
        }
    }
}
