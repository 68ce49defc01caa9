//! The results directory: every experiment ever run there.

use std::fs;
use std::path::{Path, PathBuf};

use model::Manifest;

use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;

/// The root of an archive.
#[derive(Debug, Clone)]
pub struct Results {
    root: PathBuf,
}

/// One experiment in a listing.
#[derive(Debug, Clone)]
pub struct ExperimentSummary {
    /// The experiment's directory.
    pub path: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Cells whose run is complete.
    pub complete: usize,
}

impl Results {
    /// Returns the archive at `root`; nothing is touched.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Creates the directory of a new experiment.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self, manifest: &Manifest) -> Result<ExperimentDir, ArchiveError> {
        let name = &manifest.plan.experiment.name;
        ExperimentDir::create(&self.root.join(name).join(&manifest.id), manifest)
    }

    /// Checks that the archive can be written, leaving nothing behind.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_writable(&self) -> Result<(), ArchiveError> {
        // A root that is not there yet is made when there is something to put into it.
        let existing = self.root.ancestors().find(|dir| dir.exists() || dir.as_os_str().is_empty());
        let probe =
            existing.unwrap_or(&self.root).join(format!(".assay-probe-{}", std::process::id()));
        fs::write(&probe, b"probe").map_err(ArchiveError::write(&self.root))?;
        fs::remove_file(&probe).map_err(ArchiveError::write(&self.root))
    }

    /// Finds an experiment by path, by identifier, or by name (its newest).
    ///
    /// # Errors
    /// [`ArchiveError::Unknown`] when there is none.
    pub fn find(&self, name: &str) -> Result<ExperimentDir, ArchiveError> {
        let as_path = Path::new(name);
        if ExperimentDir::is_at(as_path) {
            return ExperimentDir::open(as_path);
        }
        let mut by_name = experiments(&self.root.join(name));
        let by_id = || {
            let all = directories(&self.root).into_iter().flat_map(|dir| experiments(&dir));
            all.into_iter().find(|path| path.file_name().is_some_and(|id| id == name))
        };
        match by_name.pop().or_else(by_id) {
            Some(path) => ExperimentDir::open(&path),
            None => Err(ArchiveError::Unknown { name: name.to_owned(), root: self.root.clone() }),
        }
    }

    /// Lists every experiment, oldest first.
    ///
    /// # Errors
    /// When a manifest or record is damaged.
    pub fn list(&self) -> Result<Vec<ExperimentSummary>, ArchiveError> {
        let mut found = Vec::new();
        for dir in directories(&self.root).iter().flat_map(|dir| experiments(dir)) {
            let experiment = ExperimentDir::open(&dir)?;
            let manifest = experiment.manifest()?;
            let runs = experiment.runs(&manifest)?;
            let complete = runs.iter().filter(|run| run.end.is_complete()).count();
            found.push(ExperimentSummary { path: dir, manifest, complete });
        }
        found.sort_by(|a, b| a.manifest.created_at.cmp(&b.manifest.created_at));
        Ok(found)
    }
}

/// Returns the experiments below `path`, oldest first.
fn experiments(path: &Path) -> Vec<PathBuf> {
    let mut found = directories(path);
    found.retain(|path| ExperimentDir::is_at(path));
    found
}

/// Returns the sub-directories of `path` in the order of their names; none when it has none.
fn directories(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && !is_hidden(path))
        .collect();
    found.sort();
    found
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}
