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
use crate::limits::INDEX_BYTES_MAX;
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
/// Bytes that are hashed at once.
const READ_BYTES: usize = 1 << 20;

/// An experiment in a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartExperiment {
    /// Directory below the archive.
    pub directory: String,
    /// [`ExperimentDir::key`] when it was read.
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
    /// XXH3 of each file, by name.
    sums: BTreeMap<String, u64>,
}

/// List of the parts: `set.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Index {
    /// Program that wrote them: another one may compute other values.
    program: Option<String>,
    parts: Vec<Part>,
}

/// The parts of a set.
#[derive(Debug)]
pub struct PartSet {
    dir: PathBuf,
    root: PathBuf,
    /// The parts, in the order of their experiments.
    pub parts: Vec<Part>,
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
            let sum = checksum(&file)?;
            file.rewind().map(|()| (file, sum))
        };
        let (file, sum) = read().map_err(ArchiveError::read(&path))?;
        match part.sums.get(&part.file(table)) == Some(&sum) {
            true => Ok(file),
            false => Err(ArchiveError::Damaged(path, "its checksum does not match".to_owned())),
        }
    }
}

impl Results {
    /// Returns the set; one without parts where there is none, its list is damaged, or another
    /// program wrote it.
    pub fn part_set(&self) -> PartSet {
        let dir = self.root().join(SET);
        let list = check_dir(&dir).and_then(|()| regular::read(&dir.join(INDEX), INDEX_BYTES_MAX));
        let index = list.ok().and_then(|list| serde_json::from_slice::<Index>(&list).ok());
        let index = index.filter(|index| index.program.is_some() && index.program == program());
        let parts = index.map_or_else(Vec::new, |index| index.parts);
        PartSet { dir, root: self.root().to_path_buf(), parts }
    }
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
    /// When the archive cannot be written.
    pub fn begin(old: PartSet) -> Result<Self, ArchiveError> {
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

    /// Returns a part whose files are written or linked.
    ///
    /// # Errors
    /// When a file cannot be read again.
    pub fn part(
        &self,
        name: String,
        experiments: Vec<PartExperiment>,
        tables: &[&str],
    ) -> Result<Part, ArchiveError> {
        let mut part = Part { name, experiments, sums: BTreeMap::new() };
        for table in tables {
            let name = part.file(table);
            let path = self.path(&name);
            let sum = File::open(&path)
                .and_then(|file| checksum(&file))
                .map_err(ArchiveError::read(&path))?;
            part.sums.insert(name, sum);
        }
        Ok(part)
    }

    /// Replaces the old set by the new one of these parts.
    ///
    /// # Errors
    /// When the list cannot be written or the directory cannot be replaced: the old set stays.
    pub fn finish(self, parts: Vec<Part>) -> Result<(), ArchiveError> {
        replace(&self.path(INDEX), &json(&Index { program: program(), parts }))?;
        let (new, old) = (self.path(""), &self.old.dir);
        let exchanged = match renameat_with(CWD, &new, CWD, old, RenameFlags::EXCHANGE) {
            Err(Errno::NOENT) => fs::rename(&new, old),
            // The file system cannot exchange: for a moment there is no set.
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
