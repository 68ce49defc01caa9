//! What results a word of the command line names: an experiment, or one run of it.

use archive::Results;
use miette::{Result, miette};
use model::{Manifest, RunRecord};

use crate::told::Told as _;

/// An experiment with the runs that were named.
pub(crate) struct Selected {
    pub(crate) manifest: Manifest,
    pub(crate) runs: Vec<RunRecord>,
    /// Whether one run was named, and not the experiment as a whole.
    pub(crate) is_one_run: bool,
}

impl Selected {
    /// Returns what the experiment is called where several are told apart.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.manifest.plan.experiment.name, self.manifest.id)
    }
}

/// Finds `EXPERIMENT` (name, identifier or directory) or `EXPERIMENT/RUN`.
pub(crate) fn select(results: &Results, name: &str) -> Result<Selected> {
    let whole = results.find(name);
    let parts = name.rsplit_once('/');
    let (dir, cell) = match (whole, parts) {
        (Ok(dir), _) => (dir, None),
        (Err(_), Some((experiment, cell))) => (results.find(experiment).told()?, Some(cell)),
        (Err(error), None) => return Err(error).told(),
    };
    let manifest = dir.manifest().told()?;
    let mut runs = dir.runs(&manifest).told()?;
    if let Some(cell) = cell {
        let known: Vec<_> = runs.iter().map(|run| run.cell.id.clone()).collect();
        runs.retain(|run| run.cell.id == cell);
        if runs.is_empty() {
            let help = format!("runs: {}", known.join(", "));
            return Err(miette!(help = help, "no run is named `{cell}`"));
        }
    }
    Ok(Selected { manifest, runs, is_one_run: cell.is_some() })
}
