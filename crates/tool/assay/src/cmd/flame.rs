//! `assay flame`: where the CPU of a step goes, as a flame graph.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use analysis::profile::{Place, Side, StepProfile, flame_graph, sampled_differently};
use archive::{Results, write_output};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use miette::{Report, Result, miette};
use model::{Experiment, RunRecord, StepRecord};
use render::{FlameReport, Format, Meta, Report as _};

use super::explain::{check_variant, unknown};
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
    format: Option<FlameFormat>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A format of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlameFormat {
    /// The picture, with zoom and search.
    Svg,
    /// Folded stacks.
    Folded,
    /// The format of Firefox Profiler.
    Firefox,
    /// The functions as a report.
    Functions(Format),
}

/// Names of the formats that reports do not have.
const FILES: [(&str, FlameFormat); 3] =
    [("svg", FlameFormat::Svg), ("folded", FlameFormat::Folded), ("firefox", FlameFormat::Firefox)];

/// Returns a parser of the formats.
fn formats() -> impl TypedValueParser<Value = FlameFormat> {
    let files = FILES.map(|(name, _)| name).into_iter();
    let names = PossibleValuesParser::new(files.chain(DOCUMENT.iter().map(|format| format.name())));
    names.map(|name| {
        let file = FILES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format);
        let report = || FlameFormat::Functions(name.parse().expect("it is one of them"));
        file.unwrap_or_else(report)
    })
}

/// Prints the flame graph, or writes it to a file.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = misplaced::find(&Results::at(&environment.results), &args.experiment)?;
    let manifest = dir.manifest().into_report()?;
    let experiment = &manifest.plan.experiment;
    let names: Vec<&str> =
        [&args.variant].into_iter().chain(&args.versus).map(|it| &**it).collect();
    names.iter().try_for_each(|name| check_variant(experiment, name))?;
    if args.versus.as_ref() == Some(&args.variant) {
        return Err(miette!(
            help = "name two variants of an experiment",
            "`{}` does not differ from itself",
            args.variant
        ));
    }
    let runs = Window::default().runs(&dir, &manifest)?;
    let (step, clients) = place(args, experiment, &runs)?;
    let places: Vec<Place<'_>> =
        names.iter().map(|variant| Place { variant, clients, step }).collect();
    if let Some(ways) = sampled_differently(&runs, &places) {
        return Err(miette!(
            help = "repeat the runs with --profile in one experiment on one host",
            "the profiles cannot be compared: the runs were sampled in different ways, {ways}"
        ));
    }
    let mut stored = step_profiles(&runs, (step, clients), |_| Some(&dir));
    stored.damaged.pop().map_or(Ok(()), Err).into_report()?;
    let profiles = stored.profiles;
    let sides: Vec<Side<'_>> =
        places.iter().map(|place| StepProfile::side(&profiles, &runs, place)).collect();
    if let Some(place) = places.iter().zip(&sides).find(|(_, side)| side.runs.is_empty()) {
        return Err(unprofiled(&runs, place.0, &args.step));
    }
    let (shown, base) = (&sides[0], sides.get(1));
    let graph = flame_graph(shown, base)
        .ok_or_else(|| miette!("the CPU per operation of step `{}` is not known", args.step))?;
    let meta = Meta::of(&manifest);
    let name = step_label(experiment, &args.step, step);
    write(args, &FlameReport { meta: &meta, step: &name, clients, shown, base, graph: &graph }, ui)
}

/// Returns the name of a step, with its place where the experiment has several of this name.
fn step_label(experiment: &Experiment, name: &str, index: u32) -> String {
    let same = experiment.steps.iter().filter(|step| step.name == name).count();
    if same > 1 { format!("{name} (step {})", index + 1) } else { name.to_owned() }
}

/// Writes the report in the format of the arguments.
fn write(args: &Args, flame: &FlameReport<'_>, ui: &Ui) -> Result<ExitCode> {
    let default = match &args.output {
        Some(_) => FlameFormat::Svg,
        None => FlameFormat::Functions(Format::Text),
    };
    let text = match args.format.unwrap_or(default) {
        FlameFormat::Svg => flame.svg(),
        FlameFormat::Folded => flame.folded(),
        FlameFormat::Firefox => flame.firefox(),
        FlameFormat::Functions(format) => flame.render(format, ui.style()),
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

/// Returns index and clients of the step: of several, those with most samples of the variant.
fn place(args: &Args, experiment: &Experiment, runs: &[RunRecord]) -> Result<(u32, u32)> {
    let steps = experiment.steps.iter().map(|step| step.name.as_str());
    let known: BTreeSet<&str> = steps.collect();
    if !known.contains(args.step.as_str()) {
        let message = format!("`{}` has no step `{}`", experiment.name, args.step);
        return Err(unknown(message, &args.step, "steps", &known.into_iter().collect::<Vec<_>>()));
    }
    if let Some(level) = args.clients.filter(|level| !experiment.clients.contains(level)) {
        let known: Vec<String> = experiment.clients.iter().map(u32::to_string).collect();
        return Err(miette!(
            help = format!("levels of clients: {}", known.join(", ")),
            "no run had {}",
            model::units::clients(level)
        ));
    }
    let is_cell = |run: &&RunRecord| {
        let is_level = args.clients.is_none_or(|level| run.cell.clients == level);
        is_level && run.is_counted() && run.cell.variant == args.variant
    };
    let all = runs.iter().filter(is_cell).flat_map(|run| run.steps.iter().map(move |it| (run, it)));
    let own = all.filter(|(_, step)| step.step.name == args.step);
    let most = own.max_by_key(|(_, step)| samples(step));
    most.map(|(run, step)| (step.index, run.cell.clients)).ok_or_else(|| {
        miette!(
            help = "`assay list` shows which runs are complete",
            "no valid run of `{}` has step `{}`",
            args.variant,
            args.step
        )
    })
}

fn samples(step: &StepRecord) -> u64 {
    step.profiles.iter().map(|profile| profile.samples).sum()
}

/// Returns the error of a variant without a profile, with the reason that its runs recorded.
fn unprofiled(runs: &[RunRecord], place: &Place<'_>, step: &str) -> Report {
    let has_any = runs.iter().flat_map(|run| &run.steps).any(|step| !step.profiles.is_empty());
    let mut records = place.steps(runs).flat_map(|(_, step)| &step.profiles);
    let reason = records.find_map(|profile| profile.refusal.clone());
    let help = reason.unwrap_or_else(|| "repeat the run with --profile".to_owned());
    let of_step = if has_any { format!(" of step `{step}`") } else { String::new() };
    miette!(help = help, "no run of `{}` has a profile{of_step}", place.variant)
}
