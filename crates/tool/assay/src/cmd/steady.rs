//! Runs trimmed to the window in which all are steady.

use analysis::{WarmupTrims, warmup_trims};
use archive::{ArchiveError, ExperimentDir, parallel_map};
use miette::{Result, miette};
use model::{Manifest, RunRecord};

use crate::diagnostic::IntoReport as _;

/// The measured window of steps.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub(crate) struct Window {
    /// Measure whole steps, without trimming the warm-up
    #[arg(long)]
    whole: bool,
}

impl Window {
    /// Reads the runs of an experiment, warm-up trimmed.
    pub(crate) fn runs(self, dir: &ExperimentDir, manifest: &Manifest) -> Result<Vec<RunRecord>> {
        let mut runs = dir.runs(manifest).into_report()?;
        self.trim(&mut [(dir, &mut runs)])?;
        Ok(runs)
    }

    /// Trims the runs of several experiments in the same way.
    pub(crate) fn trim(self, parts: &mut [(&ExperimentDir, &mut Vec<RunRecord>)]) -> Result<()> {
        if self.whole {
            return Ok(());
        }
        let all: Vec<&RunRecord> = parts.iter().flat_map(|(_, runs)| runs.iter()).collect();
        let warmup_trims = warmup_trims(all);
        if warmup_trims.is_empty() {
            return Ok(());
        }
        for (dir, runs) in parts {
            let whole = std::mem::take(*runs);
            **runs = trim_runs(dir, whole, &warmup_trims).map_err(|error| {
                miette!(
                    help = "measure whole steps with --whole",
                    "the warm-up cannot be trimmed: {error}"
                )
            })?;
        }
        Ok(())
    }
}

/// Returns the runs of an experiment with the warm-up trimmed.
pub(crate) fn steady_runs(
    dir: &ExperimentDir,
    manifest: &Manifest,
) -> Result<Vec<RunRecord>, ArchiveError> {
    let runs = dir.runs(manifest)?;
    let warmup_trims = warmup_trims(&runs);
    trim_runs(dir, runs, &warmup_trims)
}

fn trim_runs(
    dir: &ExperimentDir,
    runs: Vec<RunRecord>,
    warmup_trims: &WarmupTrims,
) -> Result<Vec<RunRecord>, ArchiveError> {
    let trim = |run: RunRecord| {
        let (path, of_run) = (dir.run_dir(&run.cell.id), warmup_trims.of(&run));
        archive::trim_warmup(&path, run, &of_run)
    };
    parallel_map(runs, trim).into_iter().collect()
}
