//! Runs with everything that is concluded of them: what `compare`, `run` and `report` begin with.

use std::collections::BTreeSet;

use analysis::{Comparison, NoiseCell, NoiseHistory, compare, noise_cells};
use archive::{ArchiveError, ExperimentDir, Results};
use lint::{ComparisonContext, LintFinding, check_comparison};
use miette::Result;
use model::{Experiment, Host, RunRecord};

use super::steady::steady_runs;
use crate::told::Told as _;

/// Earlier experiments whose noise is taken into account: the newest tell most of today's noise,
/// and their number bounds how long a first comparison reads.
const EARLIER_EXPERIMENTS: usize = 20;

/// Name of an experiment's noise in the archive's cache.
const LEDGER: &str = "ledger";

/// What is concluded of some runs.
pub(crate) struct Judged {
    pub(crate) comparison: Comparison,
    /// What doubts it, the gravest first.
    pub(crate) findings: Vec<LintFinding>,
}

/// Compares the runs of `experiment` with `base` and asks every rule about them.
///
/// What is known of the noise comes from earlier experiments of `results`.
pub(crate) fn judge(
    experiment: &Experiment,
    hosts: &[&Host],
    runs: &[RunRecord],
    base: &str,
    results: &Results,
) -> Result<Judged> {
    let comparison = compare(runs, experiment, base, &earlier(results, hosts, runs)).told()?;
    let context = ComparisonContext { experiment, hosts, runs, comparison: &comparison };
    let findings = check_comparison(&context);
    Ok(Judged { comparison, findings })
}

/// Returns the noise of the newest other experiments on the same machine.
///
/// Of runs from several machines nothing is known. An experiment that cannot be read is passed
/// over: `assay list` names it.
pub(crate) fn earlier(results: &Results, hosts: &[&Host], runs: &[RunRecord]) -> NoiseHistory {
    let machines: BTreeSet<&str> = hosts.iter().map(|host| host.fingerprint.as_str()).collect();
    let [machine] = machines.into_iter().collect::<Vec<_>>()[..] else {
        return NoiseHistory::default();
    };
    let own = runs.iter().filter_map(|run| run.id.rsplit_once('/'));
    let own: BTreeSet<&str> = own.map(|(experiment, _)| experiment).collect();
    // What came later is left out: a comparison made again says the same again.
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

/// Returns the noise of one experiment.
fn noise(dir: &ExperimentDir) -> Result<Vec<NoiseCell>, ArchiveError> {
    dir.cached(LEDGER, || {
        let manifest = dir.manifest()?;
        Ok(noise_cells(&steady_runs(dir)?, &manifest.plan.experiment.data))
    })
}
