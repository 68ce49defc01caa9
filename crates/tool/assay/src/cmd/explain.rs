//! `assay explain`: attributes a difference between two variants.

use std::collections::BTreeSet;
use std::process::ExitCode;

use analysis::explain::{Question, StepProfiles};
use analysis::profile::Place;
use analysis::{Comparison, Explanation, StepComparison, StorageUse, effective_hosts, explain};
use archive::{ExperimentDir, Results};
use lint::LintFinding;
use miette::{Report, Result, miette};
use model::{Experiment, Manifest, Plan, ShellCommand};
use plan::PlanError;
use render::{Compared, Explained, Format, Meta};

use super::analyzed::{MeasuredRuns, analyze};
use super::compare::{known_metric, missing_metric};
use super::format::{DOCUMENT, formats};
use super::profiles::step_profiles;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Arguments of `assay explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay explain rocksdb-9.10 rocksdb-11.8 readrandom     one step of the newest experiment with both
  assay explain sqlite lmdb --in quickstart              every step of that experiment
  assay explain sqlite lmdb readrandom --metric cpu_us_per_op   where its CPU goes
  assay explain sqlite lmdb readrandom --clients 4 --format markdown
  assay explain sqlite lmdb --format json                        the same for programs")]
pub(crate) struct Args {
    /// Base variant
    a: String,
    /// Variant to compare with the base variant
    b: String,
    /// Step [default: every measured step]
    step: Option<String>,
    /// Experiment (name, identifier or directory) [default: the newest with both variants]
    #[arg(long = "in", value_name = "EXPERIMENT")]
    experiment: Option<String>,
    /// Number of clients [default: every level]
    #[arg(long, value_name = "N")]
    clients: Option<u32>,
    /// Metric to explain [default: the metric of each step's verdict]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// List functions also with all they call, in runs with CPU profiles
    #[arg(long)]
    inclusive: bool,
    /// Output format; for figures as CSV use assay compare --format csv
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(DOCUMENT))]
    format: Format,
}

/// Prints the explanation.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    check_different(&args.a, &args.b)?;
    let metric = args.metric.as_deref().map(known_metric).transpose()?;
    let results = Results::at(&environment.results);
    let dir = find(args, &results)?;
    let manifest = dir.manifest().into_report()?;
    let experiment = &manifest.plan.experiment;
    for name in [&args.a, &args.b] {
        check_variant(experiment, name)?;
    }
    let runs = Window::default().runs(&dir, &manifest)?;
    let analyzed = analyze(MeasuredRuns::of(&dir, &manifest, &runs)?, &args.a, &results)?;
    let steps = steps(args, &analyzed.comparison)?;
    if let Some(metric) = metric {
        let cells = || steps.iter().flat_map(|step| &step.cells);
        if cells().all(|cell| cell.metric(metric).is_none()) {
            return Err(missing_metric(metric.name, cells()));
        }
    }
    let storage = storage_of(args, analyzed.storage, &steps);
    let findings = findings_of(args, analyzed.findings);
    let blocking = |step: &StepComparison| -> Vec<String> {
        let concerns = |found: &&LintFinding| {
            let names = [&args.a, &args.b];
            found.is_blocking() && names.iter().any(|name| found.concerns(Some(&step.name), name))
        };
        let text =
            |found: &LintFinding| format!("{} {}: {}", found.code, found.name, found.evidence);
        findings.iter().filter(concerns).map(text).collect()
    };
    let explained = |step: &StepComparison| {
        let (clients, step_index) = (step.clients.level, step.index);
        let place = Place { variant: &args.b, clients, step: step_index };
        let stored = step_profiles(&runs, place, |_| Some(&dir));
        stored.damaged.iter().for_each(|error| ui.status(format_args!("warning   {error}")));
        let stored = &stored.profiles;
        explain(&Question {
            experiment,
            runs: &runs,
            comparison: &analyzed.comparison,
            step,
            variant: &args.b,
            metric,
            cpus: effective_hosts(&manifest.host, &runs)[0].cpus,
            blocking: &blocking(step),
            profiles: StepProfiles { stored, with_inclusive: args.inclusive },
        })
    };
    let explanations: Vec<Explanation> = steps.iter().copied().filter_map(explained).collect();
    if explanations.is_empty() {
        let step = args.step.as_ref().map(|step| format!("step `{step}`"));
        let list = ShellCommand::of("assay list").operands([&manifest.id]);
        return Err(miette!(
            help = format!("list the runs: {list}"),
            "`{}` and `{}` have no valid runs of {}",
            args.a,
            args.b,
            step.as_deref().unwrap_or("a step with operations")
        ));
    }
    let meta = Meta::of_runs(&manifest, &runs);
    let compared = Compared::of(&analyzed.comparison, &meta, &runs, &manifest.host, &findings);
    let (explanations, storage) = (&explanations[..], &storage[..]);
    ui.report(&Explained { compared: &compared, explanations, storage }, args.format);
    Ok(ExitCode::SUCCESS)
}

/// Returns the uses of the device by the variants, in the steps explained.
fn storage_of(
    args: &Args,
    mut storage: Vec<StorageUse>,
    steps: &[&StepComparison],
) -> Vec<StorageUse> {
    let is_step = |of: &StorageUse| {
        steps.iter().any(|step| (&step.name, step.clients) == (&of.step, of.clients))
    };
    storage.retain(|of| [&args.a, &args.b].contains(&&of.variant) && is_step(of));
    storage
}

/// Returns the named experiment, or the newest with both variants.
fn find(args: &Args, results: &Results) -> Result<ExperimentDir> {
    if let Some(name) = &args.experiment {
        return misplaced::find(results, name);
    }
    let newest = results.newest();
    let has_both = |dir: &ExperimentDir| {
        dir.manifest().is_ok_and(|manifest| {
            let experiment = &manifest.plan.experiment;
            [&args.a, &args.b].iter().all(|name| experiment.variant(name).is_some())
        })
    };
    let known = newest.first().and_then(|dir| dir.manifest().ok());
    if let Some(dir) = newest.into_iter().find(has_both) {
        return Ok(dir);
    }
    let help = match &known {
        _ if misplaced::is_step(&args.a) => {
            format!("a step comes after the variants: assay explain BASE VARIANT {}", args.a)
        }
        Some(Manifest { plan: Plan { experiment, .. }, .. }) => {
            format!("the newest, {}, has {}", experiment.name, variants(experiment).join(", "))
        }
        None => "run an experiment: assay run readrandom --engine lmdb --engine redb".to_owned(),
    };
    Err(miette!(help = help, "no experiment has both variants, `{}` and `{}`", args.a, args.b))
}

/// Checks that two variants differ.
pub(crate) fn check_different(one: &str, other: &str) -> Result<()> {
    if one != other {
        return Ok(());
    }
    let help = "name two variants of an experiment";
    Err(miette!(help = help, "`{one}` does not differ from itself"))
}

/// Checks that runs had a level of clients.
pub(crate) fn check_level(wanted: Option<u32>, levels: &BTreeSet<u32>) -> Result<()> {
    let Some(level) = wanted.filter(|level| !levels.contains(level)) else { return Ok(()) };
    let known: Vec<String> = levels.iter().map(u32::to_string).collect();
    let help = format!("levels of clients: {}", known.join(", "));
    Err(miette!(help = help, "no run had {}", model::units::clients(level)))
}

/// Checks that the experiment has the variant.
pub(crate) fn check_variant(experiment: &Experiment, name: &str) -> Result<()> {
    if experiment.variant(name).is_some() {
        return Ok(());
    }
    let message = format!("`{}` has no variant `{name}`", experiment.name);
    Err(unknown(message, name, "variants", &variants(experiment)))
}

fn variants(experiment: &Experiment) -> Vec<&str> {
    experiment.variants.iter().map(|variant| variant.name.as_str()).collect()
}

/// Returns the error of an unknown name, with the nearest of the known ones, or all of them.
pub(crate) fn unknown(message: String, name: &str, what: &str, known: &[&str]) -> Report {
    let otherwise = format!("{what}: {}", known.join(", "));
    PlanError::new(message).meant(name, known.iter().copied(), otherwise).into()
}

/// Returns the selected steps, by level and then in order.
fn steps<'a>(args: &Args, comparison: &'a Comparison) -> Result<Vec<&'a StepComparison>> {
    check_level(args.clients, &comparison.levels())?;
    let mut names: Vec<&str> = Vec::new();
    for step in &comparison.steps {
        if !names.contains(&step.name.as_str()) {
            names.push(&step.name);
        }
    }
    if names.is_empty() {
        return Err(miette!(
            help = "assay lint shows why runs do not count",
            "no measured step has a run that counts"
        ));
    }
    if let Some(name) = args.step.as_deref().filter(|name| !names.contains(name)) {
        return Err(unknown(format!("no run has a step `{name}`"), name, "steps", &names));
    }
    let is_selected = |step: &&StepComparison| {
        args.clients.is_none_or(|level| step.clients.level == level)
            && args.step.as_deref().is_none_or(|name| step.name == name)
    };
    Ok(comparison.steps.iter().filter(is_selected).collect())
}

/// Retains findings on either variant, or on all.
fn findings_of(args: &Args, mut findings: Vec<LintFinding>) -> Vec<LintFinding> {
    findings.retain(|found| {
        let variants = &found.place.variants;
        variants.is_empty() || variants.contains(&args.a) || variants.contains(&args.b)
    });
    findings
}
