//! Experiments and runs selected on the command line.

use std::collections::BTreeSet;

use analysis::{effective_hosts, join};
use archive::{ArchiveError, ExperimentDir, Results};
use miette::{Result, miette};
use model::{Experiment, Host, Manifest, RunRecord, count};

use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::misplaced;

/// An experiment with its selected runs.
pub(crate) struct Selected {
    dir: ExperimentDir,
    /// Its plan has only the selected runs, its host is the first machine of a fleet.
    pub(crate) manifest: Manifest,
    pub(crate) runs: Vec<RunRecord>,
    /// Whether a single run was selected.
    pub(crate) is_one_run: bool,
}

impl Selected {
    /// Returns the experiment's directory and its runs, to trim them.
    pub(crate) const fn runs_mut(&mut self) -> (&ExperimentDir, &mut Vec<RunRecord>) {
        (&self.dir, &mut self.runs)
    }
}

/// Finds `EXPERIMENT` (name, identifier or directory) or `EXPERIMENT/RUN`.
pub(crate) fn select(results: &Results, name: &str) -> Result<Selected> {
    let whole = results.find(name);
    let parts = name.rsplit_once('/').filter(|(experiment, _)| !experiment.is_empty());
    let (dir, cell) = match (whole, parts) {
        (Ok(dir), _) => (dir, None),
        (Err(ArchiveError::Unknown(..)), Some((experiment, cell))) => {
            (misplaced::find(results, experiment)?, Some(cell))
        }
        (Err(error), _) => return Err(misplaced::report(&error, name)),
    };
    let mut manifest = dir.manifest().into_report()?;
    let mut runs = dir.runs(&manifest).into_report()?;
    if let Some(cell) = cell {
        let known: Vec<_> = runs.iter().map(|run| run.cell.id.clone()).collect();
        runs.retain(|run| run.cell.id == cell);
        if runs.is_empty() {
            let help = format!("runs: {}", known.join(", "));
            return Err(miette!(help = help, "no run is named `{cell}`"));
        }
        manifest.plan.cells.retain(|one| one.id == cell);
    }
    manifest.host = effective_hosts(&manifest.host, &runs)[0].clone();
    Ok(Selected { dir, manifest, runs, is_one_run: cell.is_some() })
}

/// Selected results, joined for a comparison.
pub(crate) struct JoinedResults {
    /// The names that selected the results.
    pub(crate) names: Vec<String>,
    /// The common experiment.
    pub(crate) experiment: Experiment,
    /// One per name, in order.
    pub(crate) manifests: Vec<Manifest>,
    /// Their directories, in the same order.
    pub(crate) dirs: Vec<ExperimentDir>,
    /// Every selected run, once.
    pub(crate) runs: Vec<RunRecord>,
}

impl JoinedResults {
    /// Selects every name and joins the results.
    pub(crate) fn of(results: &Results, names: &[impl AsRef<str>], window: Window) -> Result<Self> {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        let named = names.iter().map(|name| select(results, name));
        let mut named = named.collect::<Result<Vec<_>>>()?;
        let mut experiment = joined(&named)?;
        let mut parts: Vec<_> = named.iter_mut().map(Selected::runs_mut).collect();
        window.trim(&mut parts)?;
        let runs = runs_of(&mut named);
        if named.iter().any(|one| one.is_one_run) {
            retain_variants_of(&mut experiment, &runs);
            check_pair(&experiment, &names)?;
        }
        let (manifests, dirs) = named.into_iter().map(|one| (one.manifest, one.dir)).unzip();
        Ok(Self { names, experiment, manifests, dirs, runs })
    }

    /// Selects the results of each name, without joining them.
    pub(crate) fn each(results: &Results, names: &[String], window: Window) -> Result<Vec<Self>> {
        names.iter().map(|name| Self::of(results, &[name], window)).collect()
    }

    /// Returns the hosts of each name: one host, or each machine of a fleet.
    pub(crate) fn hosts(&self) -> Vec<&Host> {
        let mut hosts = Vec::new();
        for manifest in &self.manifests {
            let is_own = |run: &&RunRecord| {
                run.id.rsplit_once('/').is_some_and(|(experiment, _)| experiment == manifest.id)
            };
            hosts.extend(effective_hosts(&manifest.host, self.runs.iter().filter(is_own)));
        }
        hosts
    }

    /// Returns how many of the selected runs were planned of a variant, in all experiments.
    pub(crate) fn planned(&self, variant: &str) -> u32 {
        let mut planned = BTreeSet::new();
        for manifest in &self.manifests {
            let own = manifest.plan.cells.iter().filter(|cell| cell.variant == variant);
            planned.extend(own.map(|cell| (&manifest.id, &cell.id)));
        }
        count(planned.len())
    }
}

/// Joins the experiments that were selected.
pub(crate) fn joined(named: &[Selected]) -> Result<Experiment> {
    let label =
        |one: &Selected| format!("{}/{}", one.manifest.plan.experiment.name, one.manifest.id);
    let labels: Vec<String> = named.iter().map(label).collect();
    let experiments = named.iter().map(|one| &one.manifest.plan.experiment);
    let labelled: Vec<_> = labels.iter().map(String::as_str).zip(experiments).collect();
    join(&labelled).into_report()
}

/// Returns the selected runs, each once.
fn runs_of(named: &mut [Selected]) -> Vec<RunRecord> {
    let mut ids = BTreeSet::new();
    let runs = named.iter_mut().flat_map(|one| std::mem::take(&mut one.runs));
    runs.filter(|run| ids.insert(run.id.clone())).collect()
}

/// Rejects runs that are all of one variant.
fn check_pair(experiment: &Experiment, named: &[String]) -> Result<()> {
    let [only] = &experiment.variants[..] else { return Ok(()) };
    let is_one = named.len() == 1;
    let what = if is_one { "is one run" } else { "are runs" };
    let them = if is_one { "it" } else { "them" };
    Err(miette!(
        help =
            format!("add a run of another variant; `assay show EXPERIMENT RUN` shows {them} alone"),
        "{} {what} of `{}`, and there is no other variant to compare {them} with",
        named.join(", "),
        only.name
    ))
}

/// Reduces the experiment to the variants that have runs.
///
/// Repetitions are the most runs of a variant; the first variant is the base if its own is absent.
fn retain_variants_of(experiment: &mut Experiment, runs: &[RunRecord]) {
    let count = |name: &str| runs.iter().filter(|run| run.cell.variant == name).count();
    experiment.variants.retain(|variant| count(&variant.name) > 0);
    // Findings on other variants are dropped.
    for publication in &mut experiment.published {
        let is_named = |name: &str| count(name) > 0;
        publication.findings.retain(|one| is_named(&one.variant) && is_named(&one.base));
    }
    experiment.published.retain(|one| !one.findings.is_empty());
    let most = experiment.variants.iter().map(|variant| count(&variant.name)).max();
    experiment.repetitions = u32::try_from(most.unwrap_or(1)).unwrap_or(u32::MAX);
    if let (None, Some(first)) = (experiment.variant(&experiment.base), experiment.variants.first())
    {
        experiment.base.clone_from(&first.name);
    }
}
