//! Comparison of runs, with its lint findings.

use std::collections::BTreeSet;

use analysis::{Comparison, NoiseCell, NoiseHistory, compare, noise_cells};
use archive::{ArchiveError, ExperimentDir, Results};
use lint::{ComparisonContext, LintFinding, block_verdicts, check_comparison};
use miette::Result;
use model::{Experiment, Host, RunRecord};

use super::steady::steady_runs;
use crate::diagnostic::IntoReport as _;

/// Earlier experiments in the noise history.
///
/// The newest are the most relevant, and the number bounds the reading time of a first comparison.
const EARLIER_EXPERIMENTS: usize = 20;

/// Name of an experiment's noise in the derived cache.
const NOISE_CACHE: &str = "noise";

/// A comparison with its findings, which block verdicts.
pub(crate) struct Analyzed {
    pub(crate) comparison: Comparison,
    /// The findings, most severe first.
    pub(crate) findings: Vec<LintFinding>,
}

/// Compares the runs of `experiment` with `base` and checks every rule.
///
/// The noise history comes from earlier experiments of `results`.
pub(crate) fn analyze(
    experiment: &Experiment,
    hosts: &[&Host],
    runs: &[RunRecord],
    base: &str,
    results: &Results,
) -> Result<Analyzed> {
    let mut comparison =
        compare(runs, experiment, base, &earlier(results, hosts, runs)).into_report()?;
    let context = ComparisonContext { experiment, hosts, runs, comparison: &comparison };
    let findings = check_comparison(&context);
    block_verdicts(&mut comparison, &findings);
    Ok(Analyzed { comparison, findings })
}

/// Returns the noise of the newest other experiments on the same machine.
///
/// Empty for runs from several machines. Unreadable experiments are skipped: `assay list` shows
/// them.
pub(crate) fn earlier(results: &Results, hosts: &[&Host], runs: &[RunRecord]) -> NoiseHistory {
    let machines: BTreeSet<&str> = hosts.iter().map(|host| host.fingerprint.as_str()).collect();
    let [machine] = machines.into_iter().collect::<Vec<_>>()[..] else {
        return NoiseHistory::default();
    };
    let own = runs.iter().filter_map(|run| run.id.rsplit_once('/'));
    let own: BTreeSet<&str> = own.map(|(experiment, _)| experiment).collect();
    // Later experiments are excluded: repeating a comparison gives the same result.
    let begun = runs.iter().map(|run| run.started_at.as_str()).min();
    let is_earlier = |dir: &ExperimentDir| {
        dir.summary().is_ok_and(|one| {
            one.fingerprint == machine
                && begun.is_none_or(|begun| one.created_at.as_str() < begun)
                && !own.contains(one.id.as_str())
        })
    };
    let dirs = results.newest().into_iter().filter(is_earlier);
    let noise = dirs.filter_map(|dir| noise(&dir).ok()).filter(|cells| !cells.is_empty());
    NoiseHistory { experiments: noise.take(EARLIER_EXPERIMENTS).collect() }
}

/// Returns the noise of one experiment, from the cache if derived.
fn noise(dir: &ExperimentDir) -> Result<Vec<NoiseCell>, ArchiveError> {
    dir.cached(NOISE_CACHE, || {
        let manifest = dir.manifest()?;
        Ok(noise_cells(&steady_runs(dir)?, &manifest.plan.experiment.data))
    })
}
