//! `assay flame`: where the CPU of a step goes, as a flame graph.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use analysis::profile::{Place, StepProfile, flame_graph, sampled_differently};
use archive::{Results, write_output};
use clap::builder::PossibleValuesParser;
use miette::{Report, Result, miette};
use model::{Experiment, ProfileTarget, RunRecord, StepRecord};
use render::flame::{firefox, folded};
use render::{FlameReport, Meta, Report as _};

use super::explain::{check_different, check_level, check_variant, unknown};
use super::format::DOCUMENT;
use super::profiles::step_profiles;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Arguments of `assay flame`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay flame quickstart lmdb readrandom                      the functions with most CPU
  assay flame quickstart lmdb readrandom -o lmdb.svg          the flame graph, for a browser
  assay flame releases rocksdb-11.8 readrandom --versus rocksdb-9.10 -o difference.svg
  assay flame quickstart lmdb readrandom --format firefox -o lmdb.json   for profiler.firefox.com
  assay flame quickstart lmdb readrandom --format json        every function, for programs")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory
    experiment: String,
    /// Variant to show
    variant: String,
    /// Step
    step: String,
    /// Variant to compare it with: widths stay those of VARIANT, colours are the difference
    #[arg(long, value_name = "VARIANT")]
    versus: Option<String>,
    /// Number of clients [default: the level with most samples]
    #[arg(long, value_name = "N")]
    clients: Option<u32>,
    /// Output format [default: svg with --output, else text]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<String>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Returns a parser of the formats: files for viewers of profiles, and reports.
fn formats() -> PossibleValuesParser {
    let reports = DOCUMENT.iter().map(|format| format.name());
    PossibleValuesParser::new(["svg", "folded", "firefox"].into_iter().chain(reports))
}

/// Prints the flame graph, or writes it to a file.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = misplaced::find(&Results::at(&environment.results), &args.experiment)?;
    let manifest = dir.manifest().into_report()?;
    let experiment = &manifest.plan.experiment;
    for name in [Some(&args.variant), args.versus.as_ref()].into_iter().flatten() {
        check_variant(experiment, name)?;
    }
    args.versus.iter().try_for_each(|versus| check_different(&args.variant, versus))?;
    let runs = Window::default().runs(&dir, &manifest)?;
    let place = place(args, experiment, &runs)?;
    let mut stored = step_profiles(&runs, place, |_| Some(&dir));
    stored.damaged.pop().map_or(Ok(()), Err).into_report()?;
    let side = |variant: &String| {
        let place = Place { variant, ..place };
        let side = StepProfile::side(&stored.profiles, &runs, place);
        if side.runs.is_empty() { Err(unprofiled(&runs, place, &args.step)) } else { Ok(side) }
    };
    let (shown, base) = (side(&args.variant)?, args.versus.as_ref().map(side).transpose()?);
    let all = [Some(&shown), base.as_ref()].into_iter().flatten().flat_map(|side| &side.runs);
    if let Some(ways) = sampled_differently(all, &ProfileTarget::ALL) {
        return Err(miette!(
            help = "repeat the runs with --profile in one experiment on one host",
            "the profiles cannot be compared: the runs were sampled in different ways, {ways}"
        ));
    }
    let (shown, base) = (&shown, base.as_ref());
    let name = step_label(experiment, &args.step, place);
    let report = || {
        let graph = flame_graph(shown, base).ok_or_else(|| no_cpu(&args.step))?;
        let (meta, clients) = (Meta::of_runs(&manifest, &runs), place.clients);
        Ok::<_, Report>(FlameReport { meta, step: &name, clients, shown, base, graph })
    };
    let default = if args.output.is_some() { "svg" } else { "text" };
    let text = match args.format.as_deref().unwrap_or(default) {
        "svg" => report()?.svg(),
        "folded" => folded(shown, base),
        "firefox" => firefox(shown, base),
        format => {
            let format = format.parse().expect("the parser knows no other");
            report()?.render(format, ui.style())
        }
    };
    match &args.output {
        Some(path) => {
            write_output(path, text).into_report()?;
            ui.print(path.display());
        }
        None => ui.rendered(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of a step, with its place where the experiment has several of this name.
fn step_label(experiment: &Experiment, step: &str, place: Place<'_>) -> String {
    let same = experiment.steps.iter().filter(|one| one.name == step).count();
    if same > 1 { format!("{step} (step {})", place.step + 1) } else { step.to_owned() }
}

/// Returns the error of samples that no CPU time divides.
fn no_cpu(step: &str) -> Report {
    miette!(
        help = "the CPU of a server is counted in a control group, which this account may not \
                have made (docs/guide/privileges.md); --format folded and firefox need no CPU",
        "the CPU per operation of step `{step}` is not known"
    )
}

/// Returns the step to show: of several, the one with most samples of the variant.
fn place<'a>(args: &'a Args, experiment: &Experiment, runs: &[RunRecord]) -> Result<Place<'a>> {
    let known: BTreeSet<&str> = experiment.steps.iter().map(|step| step.name.as_str()).collect();
    if !known.contains(args.step.as_str()) {
        let message = format!("`{}` has no step `{}`", experiment.name, args.step);
        return Err(unknown(message, &args.step, "steps", &known.into_iter().collect::<Vec<_>>()));
    }
    check_level(args.clients, &experiment.clients.iter().copied().collect())?;
    let is_wanted = |run: &RunRecord, step: &StepRecord| {
        let is_level = args.clients.is_none_or(|level| run.cell.clients == level);
        is_level && step.step.name == args.step
    };
    Place::most_profiled(runs, &args.variant, is_wanted).ok_or_else(|| {
        miette!(
            help = "`assay list` shows which runs are complete",
            "no valid run of `{}` has step `{}`",
            args.variant,
            args.step
        )
    })
}

/// Returns the error of a variant without a profile, with the reason that its runs recorded.
fn unprofiled(runs: &[RunRecord], place: Place<'_>, step: &str) -> Report {
    let mut records = place.steps(runs).flat_map(|(_, step)| &step.profiles);
    let reason = records.find_map(|profile| profile.refusal.clone());
    let help = reason.unwrap_or_else(|| "repeat the run with --profile".to_owned());
    miette!(help = help, "no run of `{}` has a profile of step `{step}`", place.variant)
}
