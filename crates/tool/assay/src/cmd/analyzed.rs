//! Comparison of runs, with its lint findings.

use analysis::{
    Comparison, CutSummary, NoiseCell, NoiseHistory, StorageUse, compare, cut_summary,
    effective_hosts, noise_cells, storage_uses,
};
use archive::{ArchiveError, ExperimentDir, Results, parallel_map};
use lint::{ComparisonContext, LintFinding, block_verdicts, check_comparison};
use miette::Result;
use model::{Experiment, Host, Label, Manifest, RunRecord};
use render::{Compared, Meta, step_sentences};
use serde::{Deserialize, Serialize};

use super::selected::JoinedResults;
use super::steady::{Window, steady_runs};
use crate::diagnostic::IntoReport as _;

/// Earlier experiments in the noise history: the newest are the most relevant.
const EARLIER_EXPERIMENTS: usize = 20;

/// Runs planned in them from which on no further one is read.
///
/// It bounds the reading time of a first comparison to about half a second.
const EARLIER_RUNS: usize = 1_000;

/// Name of an experiment's noise in the derived cache.
const NOISE_CACHE: &str = "noise";
/// Name of an experiment's label in the derived cache.
const LABEL_CACHE: &str = "label";

/// A comparison with its findings, which block verdicts.
pub(crate) struct Analyzed {
    pub(crate) comparison: Comparison,
    /// The findings, most severe first.
    pub(crate) findings: Vec<LintFinding>,
    /// How much of the device's rates the steps use, where its profile is stored.
    pub(crate) storage: Vec<StorageUse>,
}

/// What was measured in an experiment.
pub(crate) struct MeasuredRuns<'a> {
    pub(crate) experiment: &'a Experiment,
    /// Its host; the machines of a fleet take its place.
    pub(crate) host: &'a Host,
    pub(crate) runs: &'a [RunRecord],
    /// What the variants lost in simulated crashes.
    pub(crate) cuts: Vec<CutSummary>,
}

impl<'a> MeasuredRuns<'a> {
    /// Returns the runs of a directory, with its simulated crashes.
    pub(crate) fn of(
        dir: &ExperimentDir,
        manifest: &'a Manifest,
        runs: &'a [RunRecord],
    ) -> Result<Self> {
        let cuts = cut_summaries([dir])?;
        Ok(Self { experiment: &manifest.plan.experiment, host: &manifest.host, runs, cuts })
    }
}

/// Returns what the variants lost in the simulated crashes of experiments.
fn cut_summaries<'d>(dirs: impl IntoIterator<Item = &'d ExperimentDir>) -> Result<Vec<CutSummary>> {
    let mut summaries = Vec::new();
    for dir in dirs {
        summaries.extend(dir.cuts().into_report()?.iter().map(cut_summary));
    }
    Ok(summaries)
}

/// Compares runs with `base` and checks every rule.
///
/// The noise history comes from earlier experiments of `results`.
pub(crate) fn analyze(
    measured: MeasuredRuns<'_>,
    base: &str,
    results: &Results,
) -> Result<Analyzed> {
    let MeasuredRuns { experiment, host, runs, cuts } = measured;
    let hosts = effective_hosts(host, runs);
    let comparison =
        compare(runs, experiment, base, &earlier(results, &hosts, runs)).into_report()?;
    Ok(check(Comparison { cuts, ..comparison }, experiment, &hosts, runs, results))
}

impl Analyzed {
    /// Returns what reports show of the comparison of `runs`.
    pub(crate) fn compared<'a>(
        &'a self,
        meta: &'a Meta,
        runs: &'a [RunRecord],
        host: &Host,
    ) -> Compared<'a> {
        Compared::of(&self.comparison, meta, runs, host, &self.findings)
    }
}

/// Joined results with their comparison and its findings.
pub(crate) struct Study {
    pub(crate) joined: JoinedResults,
    pub(crate) analyzed: Analyzed,
    pub(crate) meta: Meta,
}

impl Study {
    /// Compares joined results with `base`, or with the base of the experiment.
    ///
    /// The planned runs of a variant are the runs of the experiments that have it.
    pub(crate) fn of(joined: JoinedResults, base: Option<&str>, results: &Results) -> Result<Self> {
        let (experiment, runs, hosts) = (&joined.experiment, &joined.runs, joined.hosts());
        let noise_history = earlier(results, &hosts, runs);
        let base = base.unwrap_or(&experiment.base);
        let mut comparison = compare(runs, experiment, base, &noise_history).into_report()?;
        for variant in &mut comparison.variants {
            variant.planned = joined.planned(&variant.name);
        }
        comparison.cuts = cut_summaries(&joined.dirs)?;
        let analyzed = check(comparison, experiment, &hosts, runs, results);
        let selection = joined.names.clone();
        let meta = Meta { selection, ..Meta::of_runs(&joined.manifests[0], runs) };
        Ok(Self { joined, analyzed, meta })
    }

    /// Returns what reports show of the results.
    pub(crate) fn compared(&self) -> Compared<'_> {
        self.analyzed.compared(&self.meta, &self.joined.runs, &self.joined.manifests[0].host)
    }
}

/// Checks every rule of a comparison.
fn check(
    mut comparison: Comparison,
    experiment: &Experiment,
    hosts: &[&Host],
    runs: &[RunRecord],
    results: &Results,
) -> Analyzed {
    let (profiles, _) = results.devices();
    let context = ComparisonContext::of(experiment, hosts, runs, &comparison);
    let findings = check_comparison(&context.with_profiles(&profiles));
    block_verdicts(&mut comparison, &findings);
    // Of storage itself, each use is the whole.
    let storage = match hosts {
        [host] if experiment.device.is_none() => storage_uses(&profiles, host, runs, &comparison),
        _ => Vec::new(),
    };
    Analyzed { comparison, findings, storage }
}

/// Returns the noise of the newest other experiments on the same machine.
///
/// Empty for runs from several machines. Unreadable experiments are skipped: `assay list` shows
/// them.
pub(crate) fn earlier(results: &Results, hosts: &[&Host], runs: &[RunRecord]) -> NoiseHistory {
    let [machine, others @ ..] = hosts else { return NoiseHistory::default() };
    if !others.iter().all(|host| machine.is_same_machine(host)) {
        return NoiseHistory::default();
    }
    // Later experiments are excluded: repeating a comparison gives the same result.
    let own = runs.iter().filter_map(|run| run.id.rsplit_once('/'));
    let first = own.map(|(experiment, _)| experiment).min();
    let is_earlier = |one: &Manifest| {
        machine.is_same_machine(&one.host) && first.is_none_or(|first| one.id.as_str() < first)
    };
    let mut earlier = results.newest().into_iter().filter_map(|dir| {
        let manifest = dir.manifest().ok().filter(is_earlier)?;
        Some((dir, manifest))
    });
    let (mut experiments, mut runs_read) = (Vec::new(), 0);
    loop {
        // Those without repetitions have no noise: others are read in their place.
        let missing = EARLIER_EXPERIMENTS - experiments.len();
        let has_room = |one: &(ExperimentDir, Manifest)| {
            let is_within = runs_read < EARLIER_RUNS;
            runs_read += one.1.plan.cells.len();
            is_within
        };
        let next: Vec<_> = earlier.by_ref().take_while(has_room).take(missing).collect();
        if next.is_empty() {
            return NoiseHistory { experiments };
        }
        let noise = parallel_map(next, |(dir, manifest)| noise(&dir, &manifest));
        experiments.extend(noise.into_iter().flatten().filter(|cells| !cells.is_empty()));
    }
}

/// How far an experiment can be trusted, and what it found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Classified {
    pub(crate) label: Label,
    /// The first sentence of its answer; empty without one.
    pub(crate) answer: String,
}

/// Returns the label of one experiment, from the cache if derived.
///
/// It is what the first reader found: later profiles of the device do not change it.
pub(crate) fn classified(results: &Results, dir: &ExperimentDir) -> Result<Classified> {
    let classify = || -> Result<Classified> {
        let name = dir.path().display().to_string();
        let joined = JoinedResults::of(results, &[name], Window::default())?;
        let study = Study::of(joined, None, results)?;
        let compared = study.compared();
        let answer = step_sentences(&compared).into_iter().next().unwrap_or_default();
        Ok(Classified { label: compared.label(), answer })
    };
    let unreadable = |report: miette::Report| {
        ArchiveError::Damaged(dir.path().to_path_buf(), report.to_string())
    };
    dir.cached(LABEL_CACHE, || classify().map_err(unreadable)).into_report()
}

/// Returns the noise of one experiment, from the cache if derived.
///
/// Nothing of a fleet whose machines are of another class than the host of the manifest.
fn noise(dir: &ExperimentDir, manifest: &Manifest) -> Result<Vec<NoiseCell>, ArchiveError> {
    let data = &manifest.plan.experiment.data;
    dir.cached(NOISE_CACHE, || {
        let runs = steady_runs(dir, manifest)?;
        let hosts = effective_hosts(&manifest.host, &runs);
        let is_of_host = hosts.iter().all(|host| host.is_same_machine(&manifest.host));
        Ok(if is_of_host { noise_cells(&runs, data) } else { Vec::new() })
    })
}
