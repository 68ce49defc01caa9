//! Runs measured from where on all of them are steady.

use analysis::{WarmupTrims, warmup_trims};
use archive::{ArchiveError, ExperimentDir};
use miette::{Result, miette};
use model::{Manifest, RunRecord};

use crate::told::Told as _;

/// From where on steps are measured.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub(crate) struct Window {
    /// Count each step from its first measured second, and not from where all runs are steady
    #[arg(long)]
    whole: bool,
}

impl Window {
    /// Reads the runs of an experiment, each step counted from where on it is steady in all.
    pub(crate) fn runs(self, dir: &ExperimentDir, manifest: &Manifest) -> Result<Vec<RunRecord>> {
        let mut runs = dir.runs(manifest).told()?;
        self.cut(&mut [(dir, &mut runs)])?;
        Ok(runs)
    }

    /// Cuts the runs of several experiments, all of them alike.
    pub(crate) fn cut(self, parts: &mut [(&ExperimentDir, &mut Vec<RunRecord>)]) -> Result<()> {
        if self.whole {
            return Ok(());
        }
        let all: Vec<&RunRecord> = parts.iter().flat_map(|(_, runs)| runs.iter()).collect();
        let warmup_trims = warmup_trims(all);
        if warmup_trims.is_empty() {
            return Ok(());
        }
        for (dir, runs) in parts {
            let whole = std::mem::take(*runs).into_iter();
            **runs = whole
                .map(|run| cut(dir, run, &warmup_trims))
                .collect::<Result<_, _>>()
                .map_err(|error| {
                    miette!(
                        help = "count all that was measured: --whole",
                        "the seconds in which all runs are steady cannot be told apart: {error}"
                    )
                })?;
        }
        Ok(())
    }
}

/// Returns the runs of an experiment as a comparison counts them.
pub(crate) fn steady_runs(dir: &ExperimentDir) -> Result<Vec<RunRecord>, ArchiveError> {
    let runs = dir.runs(&dir.manifest()?)?;
    let warmup_trims = warmup_trims(&runs);
    runs.into_iter().map(|run| cut(dir, run, &warmup_trims)).collect()
}

fn cut(
    dir: &ExperimentDir,
    run: RunRecord,
    warmup_trims: &WarmupTrims,
) -> Result<RunRecord, ArchiveError> {
    let (path, of_run) = (dir.run_dir(&run.cell.id), warmup_trims.of(&run));
    runner::trim_warmup(&path, run, &of_run)
}
