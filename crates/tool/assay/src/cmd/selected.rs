//! What results words of the command line name: experiments, or runs of them.

use std::collections::BTreeSet;

use analysis::join;
use archive::{ExperimentDir, Results};
use miette::{Result, miette};
use model::{Experiment, Host, Manifest, RunRecord};

use super::steady::Window;
use crate::told::Told as _;

/// An experiment with the runs that were named.
pub(crate) struct Selected {
    dir: ExperimentDir,
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
    Ok(Selected { dir, manifest, runs, is_one_run: cell.is_some() })
}

/// Results that are compared with each other.
pub(crate) struct Joined {
    /// What all of them asked.
    pub(crate) experiment: Experiment,
    /// Of each word, in their order.
    pub(crate) manifests: Vec<Manifest>,
    /// Every run that was named, once.
    pub(crate) runs: Vec<RunRecord>,
}

impl Joined {
    /// Finds every word and joins what it names.
    pub(crate) fn of(results: &Results, words: &[impl AsRef<str>], window: Window) -> Result<Self> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let named = words.iter().map(|name| select(results, name));
        let mut named = named.collect::<Result<Vec<_>>>()?;
        let labels: Vec<String> = named.iter().map(Selected::label).collect();
        let asked = labels.iter().zip(&named);
        let asked: Vec<_> =
            asked.map(|(label, one)| (label.as_str(), &one.manifest.plan.experiment)).collect();
        let mut experiment = join(&asked).told()?;
        let mut parts: Vec<_> = named.iter_mut().map(|one| (&one.dir, &mut one.runs)).collect();
        window.cut(&mut parts)?;
        let runs = runs_of(&mut named);
        if named.iter().any(|one| one.is_one_run) {
            keep_variants_of(&mut experiment, &runs);
            check_pair(&experiment, &words)?;
        }
        let manifests = named.into_iter().map(|one| one.manifest).collect();
        Ok(Self { experiment, manifests, runs })
    }

    /// Returns the machine of each word.
    pub(crate) fn hosts(&self) -> Vec<&Host> {
        self.manifests.iter().map(|manifest| &manifest.host).collect()
    }
}

/// Returns the runs that were named, each once.
fn runs_of(named: &mut [Selected]) -> Vec<RunRecord> {
    let mut evidence = BTreeSet::new();
    let runs = named.iter_mut().flat_map(|one| std::mem::take(&mut one.runs));
    runs.filter(|run| evidence.insert(run.id.clone())).collect()
}

/// Refuses runs that are all of one variant: there is nothing to compare them with.
fn check_pair(experiment: &Experiment, named: &[&str]) -> Result<()> {
    let [only] = &experiment.variants[..] else { return Ok(()) };
    let what = if named.len() == 1 { "is one run" } else { "are runs" };
    let shown = if named.len() == 1 { "shows it" } else { "shows them" };
    Err(miette!(
        help = format!(
            "name a run of another variant beside it; `assay show EXPERIMENT RUN` {shown} alone"
        ),
        "{} {what} of `{}`, and nothing it could be compared with was named",
        named.join(", "),
        only.name
    ))
}

/// Leaves what was named: its variants, with as many repetitions as the best of them has runs; the
/// first is the base if the experiment's own is not among them.
fn keep_variants_of(experiment: &mut Experiment, runs: &[RunRecord]) {
    let count = |name: &str| runs.iter().filter(|run| run.cell.variant == name).count();
    experiment.variants.retain(|variant| count(&variant.name) > 0);
    // Findings on variants that were not named are not asked about.
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
