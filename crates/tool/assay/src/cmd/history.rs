//! `assay history`: what changed over many experiments, here or elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::history::{
    Directions, Gathered, History, HistoryError, HistoryQuery, Past, StudyOptions, gather,
    read_csv, read_json, study,
};
use archive::Results;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use model::BuildRef;
use render::{Format, HistoryInput, plot_history, render_history};
use stats::change::STRICTNESS;

use crate::environment::Environment;
use crate::ui::Ui;

/// The metric of the archive that is shown when none is named.
const METRIC: &str = "throughput_ops_per_s";
/// Heading of what chooses within the archive.
const ARCHIVE: &str = "From the archive";
/// Heading of what reads a file.
const FILE: &str = "From elsewhere";
/// Heading of what a regression is.
const REGRESSION: &str = "Regressions";

/// Which histories, and what is done with them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay history --engine rocksdb                    throughput of every step, over all experiments
  assay history --metric response_ns_p99 --metric cpu_us_per_op --engine lmdb --step readrandom
  assay history --import nightly.csv --lower-is-better p99_ms --plot nightly.svg
  assay history --import nightly.csv --metric ops --higher-is-better ops --fail-on-regression

An imported file:
  time,ops,p99_ms                 the first column is a time, a commit or an index, in order;
  2026-11-19,251000,1.41          every further column is one metric
  2026-11-20,250400,              an empty field is a missing value
  A .json file is a list of such rows: [{\"time\": \"2026-11-19\", \"ops\": 251000}, ...]

A change is there or not by statistics alone; --min-effect only says which of them matter.
With --fail-on-regression the exit code is 1 if a change or drift for the worse matters and is
not made good since.")]
pub(crate) struct Args {
    /// Metric, or column of the file; repeat for more [default: throughput_ops_per_s, or every
    /// column]
    #[arg(long = "metric", value_name = "NAME")]
    metrics: Vec<String>,
    /// Form of output: text, markdown, csv or json
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// Write a picture of the histories to this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Penalty for a change: 4 for alarms, 3 to see more
    #[arg(long, default_value_t = STRICTNESS, value_name = "N", value_parser = strictness)]
    strictness: f64,
    #[command(flatten)]
    regression: Regression,
    #[command(flatten)]
    asked: FromArchive,
    #[command(flatten)]
    elsewhere: FromFile,
}

/// What counts as a regression.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = REGRESSION)]
struct Regression {
    /// End with exit code 1 if there is a regression
    #[arg(long)]
    fail_on_regression: bool,
    /// Smallest change that matters, such as 2% or 0.02
    #[arg(long, default_value = "2%", value_name = "SHARE", value_parser = share)]
    min_effect: f64,
    /// Point from which on a regression counts, by its label [default: the first]
    #[arg(long, value_name = "LABEL")]
    since: Option<String>,
    /// Columns of which more is better, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    higher_is_better: Vec<String>,
    /// Columns of which less is better, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    lower_is_better: Vec<String>,
}

/// What is chosen within the archive.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = ARCHIVE)]
struct FromArchive {
    /// Engine, NAME for all of its builds or NAME@VERSION
    #[arg(long, value_name = "BUILD")]
    engine: Option<BuildRef>,
    /// Variant
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Step [default: every step]
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
    /// Experiment, by name [default: every experiment]
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// Host, by its fingerprint or a part of it [default: the newest experiment's]
    #[arg(long, value_name = "PART")]
    host: Option<String>,
}

/// What is read from a file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = FILE)]
struct FromFile {
    /// Read the histories from a CSV or JSON file in place of the archive
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["engine", "variant", "step", "experiment", "host"])]
    import: Option<PathBuf>,
}

/// Tells what changed; the exit code is 1 on a regression, where that was asked for.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let (mut histories, gathered) = match &args.elsewhere.import {
        Some(path) => (import(path, &args.metrics)?, None),
        None => {
            let gathered = from_archive(args, environment, ui)?;
            (gathered.histories.clone(), Some(gathered))
        }
    };
    let regression = &args.regression;
    let higher = regression.higher_is_better.clone();
    let directions = Directions { higher, lower: regression.lower_is_better.clone() };
    directions.set(&mut histories).map_err(explained)?;
    let options = StudyOptions {
        min_effect: regression.min_effect,
        strictness: args.strictness,
        since: regression.since.clone(),
    };
    let study = study(histories, &options).map_err(explained)?;
    if regression.fail_on_regression {
        study.check_directions().map_err(explained)?;
    }
    let input = HistoryInput { study: &study, gathered: gathered.as_ref() };
    if let Some(path) = &args.plot {
        fs::write(path, plot_history(&input))
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", path.display()))?;
    }
    ui.answer(render_history(&input, args.format, ui.style()));
    let has_failed = regression.fail_on_regression && study.regressions() > 0;
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads a file, and keeps the columns asked for.
fn import(path: &Path, metrics: &[String]) -> Result<Vec<History>> {
    let text = fs::read_to_string(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", path.display()))?;
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let read = if is_json { read_json(&text) } else { read_csv(&text) };
    let histories = read.map_err(explained).wrap_err_with(|| format!("{}", path.display()))?;
    let of = |name: &String| {
        let found = histories.iter().find(|one| one.name == *name).cloned();
        let known = || histories.iter().map(|one| one.name.clone()).collect();
        let name = name.clone();
        found.ok_or_else(|| explained(HistoryError::UnknownMetric { name, known: known() }))
    };
    if metrics.is_empty() { Ok(histories) } else { metrics.iter().map(of).collect() }
}

/// Reads every experiment, oldest first; what is damaged is told and left out.
fn past(environment: &Environment, ui: &Ui) -> Vec<Past> {
    let mut past = Vec::new();
    for dir in Results::at(&environment.results).newest() {
        let manifest = match dir.manifest() {
            Ok(manifest) => manifest,
            Err(error) => {
                ui.remark(error);
                continue;
            }
        };
        let (runs, damaged): (Vec<_>, Vec<_>) =
            dir.each_run(&manifest).into_iter().partition(Result::is_ok);
        damaged.into_iter().filter_map(Result::err).for_each(|error| ui.remark(error));
        past.push(Past { manifest, runs: runs.into_iter().flatten().collect() });
    }
    past.sort_by(|one, other| one.manifest.created_at.cmp(&other.manifest.created_at));
    past
}

fn from_archive(args: &Args, environment: &Environment, ui: &Ui) -> Result<Gathered> {
    let past = past(environment, ui);
    if past.is_empty() {
        return Err(miette!(
            help = "run an experiment first, or read a file with --import",
            "nothing has been run yet (looked in {})",
            environment.results.display()
        ));
    }
    let default = || vec![METRIC.to_owned()];
    let asked = HistoryQuery {
        metrics: if args.metrics.is_empty() { default() } else { args.metrics.clone() },
        engine: args.asked.engine.clone(),
        variant: args.asked.variant.clone(),
        step: args.asked.step.clone(),
        experiment: args.asked.experiment.clone(),
        host: args.asked.host.clone(),
    };
    gather(&past, &asked).map_err(explained)
}

/// Returns an error with what there is in place of what is not.
fn explained(error: HistoryError) -> miette::Report {
    let text = error.to_string();
    match error {
        HistoryError::UnknownMetric { name, known } => {
            let names = || known.iter().map(String::as_str);
            let near = plan::nearest(&name, names());
            let few = known.len() <= 20;
            miette!(
                help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if few => format!("columns: {}", known.join(", ")),
                    None => "GLOSSARY.md lists the metrics".to_owned(),
                },
                "{text}"
            )
        }
        HistoryError::Nothing { known, .. } => {
            miette!(help = format!("there is: {}", known.join("; ")), "{text}")
        }
        HistoryError::Empty { .. }
        | HistoryError::Format(_)
        | HistoryError::Twice { .. }
        | HistoryError::Fields { .. }
        | HistoryError::NoNumber { .. }
        | HistoryError::NoLabel { .. }
        | HistoryError::Unsorted { .. }
        | HistoryError::BothWays { .. }
        | HistoryError::NoDirection { .. }
        | HistoryError::TooFew { .. }
        | HistoryError::UnknownLabel { .. } => miette!("{text}"),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let (number, by) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().ok().map(|number| number * by);
    share
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| format!("`{text}` is no share below 1: write 2% or 0.02"))
}

fn strictness(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.5..=100.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is no strictness: write a number such as 4, or 3"))
}
