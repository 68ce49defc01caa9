//! Summary of an experiment for listings.

use std::collections::BTreeMap;
use std::path::PathBuf;

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
    /// Engines with their versions, as the builds report them, each once.
    pub builds: Vec<String>,
    /// Names of its steps, each once.
    pub steps: Vec<String>,
    /// The machine's CPUs and memory.
    pub host: String,
    /// Cells of its plan.
    pub cells: usize,
    /// Cells whose run is complete.
    pub complete: usize,
    /// Cells whose record cannot be read.
    pub damaged: Vec<String>,
}

/// Summaries by the path of the experiment.
pub type Summaries = BTreeMap<PathBuf, ExperimentSummary>;

impl ExperimentDir {
    /// Returns the experiment's summary: one of `known`, or as [`ExperimentDir::summary`].
    ///
    /// # Errors
    /// As [`ExperimentDir::summary`].
    pub fn summary_of(&self, known: &Summaries) -> Result<ExperimentSummary, ArchiveError> {
        known.get(self.path()).map_or_else(|| self.summary(), |summary| Ok(summary.clone()))
    }

    /// Returns the experiment's summary, from the cache when valid.
    ///
    /// # Errors
    /// When the manifest cannot be read; a record that cannot is counted.
    pub fn summary(&self) -> Result<ExperimentSummary, ArchiveError> {
        self.cached("summary", || {
            let manifest = self.manifest()?;
            let builds = builds(&manifest);
            let Manifest { id, created_at, plan, host, .. } = manifest;
            let ends = parallel_map(&plan.cells, |cell| read_end(&self.run_dir(&cell.id)));
            let (mut complete, mut damaged) = (0, Vec::new());
            for (cell, end) in plan.cells.iter().zip(ends) {
                match end {
                    Ok(end) => complete += usize::from(end.is_complete()),
                    Err(error) if error.is_absence() => {}
                    Err(_) => damaged.push(cell.id.clone()),
                }
            }
            let mut steps: Vec<String> = Vec::new();
            for step in plan.experiment.steps {
                if !steps.contains(&step.name) {
                    steps.push(step.name);
                }
            }
            Ok(ExperimentSummary {
                name: plan.experiment.name,
                id,
                question: plan.experiment.question,
                created_at,
                builds,
                steps,
                host: format!("{} CPUs, {}", host.cpus, host.memory_bytes),
                cells: plan.cells.len(),
                complete,
                damaged,
            })
        })
    }
}

/// Returns engines with their versions, each once: a build that reported none has its own name.
fn builds(manifest: &Manifest) -> Vec<String> {
    let mut builds: Vec<String> = Vec::new();
    for variant in &manifest.plan.experiment.variants {
        let reported = manifest.builds.get(&variant.name);
        let build = reported.map_or_else(
            || variant.build.to_string().replace('@', " "),
            |identity| format!("{} {}", identity.engine, identity.version),
        );
        if !builds.contains(&build) {
            builds.push(build);
        }
    }
    builds
}
