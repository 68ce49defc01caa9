//! Summary of an experiment for listings.

use model::Manifest;
use serde::{Deserialize, Serialize};

use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::parallel::parallel_map;
use crate::run::read_end;

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
        self.cached("summary", || {
            let Manifest { id, created_at, plan, .. } = self.manifest()?;
            let ends = parallel_map(&plan.cells, |cell| read_end(&self.run_dir(&cell.id)));
            let (mut complete, mut damaged) = (0, Vec::new());
            for (cell, end) in plan.cells.iter().zip(ends) {
                match end {
                    Ok(end) => complete += usize::from(end.is_complete()),
                    Err(error) if error.is_absence() => {}
                    Err(_) => damaged.push(cell.id.clone()),
                }
            }
            let (cells, name, question) =
                (plan.cells.len(), plan.experiment.name, plan.experiment.question);
            Ok(ExperimentSummary { name, id, question, created_at, cells, complete, damaged })
        })
    }
}
