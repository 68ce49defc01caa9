//! Summary of an experiment for listings.

use model::{Manifest, RunEnd};
use serde::{Deserialize, Serialize};

use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::parallel;
use crate::run::read_end;

/// Name of the summary in the cache.
const SUMMARY: &str = "summary";

/// One experiment in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentSummary {
    /// Its name.
    pub name: String,
    /// Its identifier: the directory's name.
    pub id: String,
    /// Its question.
    pub question: String,
    /// When it was begun, UTC, RFC 3339.
    pub created_at: String,
    /// Fingerprint of the machine it was run on.
    pub fingerprint: String,
    /// Cells of its plan.
    pub cells: usize,
    /// Cells whose run is complete.
    pub complete: usize,
    /// Cells whose record cannot be read.
    pub damaged: Vec<String>,
}

impl ExperimentDir {
    /// Returns the experiment's summary, from the cache when valid.
    ///
    /// # Errors
    /// When the manifest cannot be read; a record that cannot is counted.
    pub fn summary(&self) -> Result<ExperimentSummary, ArchiveError> {
        self.cached(SUMMARY, || {
            let manifest = self.manifest()?;
            let cells = &manifest.plan.cells;
            let ends = parallel::map(cells, |cell| read_end(&self.run_dir(&cell.id)));
            Ok(summarise(manifest, ends))
        })
    }
}

/// Returns the summary of each experiment, in their order.
///
/// The records of all experiments are read in parallel: a disk with a deep queue is fast.
pub(crate) fn summaries(dirs: &[ExperimentDir]) -> Vec<Result<ExperimentSummary, ArchiveError>> {
    let begun = parallel::map(dirs, Begun::of);
    let runs: Vec<(&ExperimentDir, &str)> = dirs.iter().zip(&begun).flat_map(cells).collect();
    let mut ends = parallel::map(&runs, |(dir, cell)| read_end(&dir.run_dir(cell))).into_iter();
    let finish = |(dir, begun): (&ExperimentDir, Begun)| match begun {
        Begun::Cached(summary) => Ok(summary),
        Begun::Unreadable(error) => Err(error),
        Begun::Read(key, manifest) => {
            let own = manifest.plan.cells.len();
            let summary = summarise(*manifest, ends.by_ref().take(own).collect());
            dir.store_value(SUMMARY, key, &summary);
            Ok(summary)
        }
    };
    dirs.iter().zip(begun).map(finish).collect()
}

/// The state of a summary before the records are read.
enum Begun {
    /// Found in the cache.
    Cached(ExperimentSummary),
    /// The cache key and the manifest; the records are still to be read.
    Read(Option<String>, Box<Manifest>),
    /// The manifest cannot be read.
    Unreadable(ArchiveError),
}

impl Begun {
    fn of(dir: &ExperimentDir) -> Self {
        let key = dir.key();
        if let Some(cached) = dir.lookup(SUMMARY, key.as_deref()) {
            return Self::Cached(cached);
        }
        match dir.manifest() {
            Ok(manifest) => Self::Read(key, Box::new(manifest)),
            Err(error) => Self::Unreadable(error),
        }
    }
}

/// Returns the cells whose records must be read.
fn cells<'a>((dir, begun): (&'a ExperimentDir, &'a Begun)) -> Vec<(&'a ExperimentDir, &'a str)> {
    match begun {
        Begun::Cached(_) | Begun::Unreadable(_) => Vec::new(),
        Begun::Read(_, manifest) => {
            manifest.plan.cells.iter().map(|cell| (dir, cell.id.as_str())).collect()
        }
    }
}

/// Returns the summary of an experiment from its runs' ends, in the plan's order.
fn summarise(manifest: Manifest, ends: Vec<Result<RunEnd, ArchiveError>>) -> ExperimentSummary {
    let Manifest { id, created_at, plan, host, .. } = manifest;
    let (mut complete, mut damaged) = (0, Vec::new());
    for (cell, end) in plan.cells.iter().zip(ends) {
        match end {
            Ok(end) => complete += usize::from(end.is_complete()),
            Err(error) if error.is_absence() => {}
            Err(_) => damaged.push(cell.id.clone()),
        }
    }
    let (cells, experiment) = (plan.cells.len(), plan.experiment);
    ExperimentSummary {
        name: experiment.name,
        id,
        question: experiment.question,
        created_at,
        fingerprint: host.fingerprint,
        cells,
        complete,
        damaged,
    }
}
