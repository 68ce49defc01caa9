//! `assay history`: change points over many experiments, or in a file.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::history::{
    Directions, Gathered, History, HistoryError, HistoryQuery, Past, StepMeans, StudyOptions,
    gather, read_file, step_means, study,
};
use archive::{ExperimentDir, Results, write_output};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use model::units::parse_share;
use model::{BuildRef, Label, Manifest, metric};
use plan::PlanError;
use render::{Format, HistoryInput, plot_history};
use stats::change::STRICTNESS;

use super::format::{ALL, formats};
use super::fresh_set::FreshSet;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Largest imported file, in bytes: a hundred metrics of 100,000 points.
const IMPORT_BYTES_MAX: u64 = 256 << 20;
/// Names of standard input, which may be a pipe.
const STDIN: [&str; 2] = ["-", "/dev/stdin"];

/// Default metric of the archive.
const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;
/// Name of an experiment's means in the derived cache.
const MEANS_CACHE: &str = "means";
/// Heading of the options that select from the archive.
const ARCHIVE: &str = "From the archive";
/// Heading of the options that read a file.
const FILE: &str = "From a file";
/// Heading of the options that define a regression.
const REGRESSION: &str = "Regressions";

/// Arguments of `assay history`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay history --engine rocksdb                    throughput of every step, over all experiments
  assay history --metric response_ns_p99 --metric cpu_us_per_op --engine lmdb --step readrandom
  assay history --import nightly.csv --lower-is-better p99_ms --plot nightly.svg
  assay history --import nightly.csv --metric ops --higher-is-better ops --fail-on-regression
  assay history --engine rocksdb --format json      the same for programs

An imported file:
  time,ops,p99_ms                 the first column is a time, a version, a commit or an index,
  2026-11-19,251000,1.41 ms       oldest first; each further column is one metric
  2026-11-20,250400,              an empty field is a missing value
  Semicolons, tabs, comments (#) and decimal commas are read too, and JSON, a list of such rows:
  [{\"time\": \"2026-11-19\", \"ops\": 251000}, ...]

Statistics alone find the changes, and --min-effect selects the relevant changes.

Exit code: 0 if there is no regression or there are fewer than 4 points, 2 on an error. With
--fail-on-regression: 1 if a relevant change or drift for the worse has not been recovered, 3 if the
newest point has no value or if every history could miss a change by a factor of 2.")]
pub(crate) struct Args {
    /// Metric, or column of the file; repeat for more [default: throughput_ops_per_s, or every
    /// column]
    #[arg(long = "metric", value_name = "NAME")]
    metrics: Vec<String>,
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(ALL))]
    format: Format,
    /// Write a plot of the histories to this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Penalty for a change: 4 for alarms, 3 to detect more
    #[arg(long, default_value_t = STRICTNESS, value_name = "N", value_parser = strictness)]
    strictness: f64,
    /// Exit with code 1 if there is a regression, and with 3 if the newest point has no value or
    /// nothing is decided
    #[arg(long, help_heading = REGRESSION)]
    fail_on_regression: bool,
    /// Smallest change that matters, such as 2%
    #[arg(long, help_heading = REGRESSION, default_value = "2%", value_name = "PERCENT", value_parser = parse_share)]
    min_effect: f64,
    /// Label of the first point at which regressions count [default: the first]
    #[arg(long, help_heading = REGRESSION, value_name = "LABEL")]
    since: Option<String>,
    /// Columns where higher is better, separated by commas
    #[arg(long, help_heading = REGRESSION, value_name = "NAMES")]
    higher_is_better: Vec<String>,
    /// Columns where lower is better, separated by commas
    #[arg(long, help_heading = REGRESSION, value_name = "NAMES")]
    lower_is_better: Vec<String>,
    /// Engine: NAME for all its builds, or NAME@VERSION
    #[arg(long, help_heading = ARCHIVE, value_name = "BUILD")]
    engine: Option<BuildRef>,
    /// Variant
    #[arg(long, help_heading = ARCHIVE, value_name = "NAME")]
    variant: Option<String>,
    /// Step [default: every step]
    #[arg(long, help_heading = ARCHIVE, value_name = "NAME")]
    step: Option<String>,
    /// Experiment, by name [default: every experiment]
    #[arg(long, help_heading = ARCHIVE, value_name = "NAME")]
    experiment: Option<String>,
    /// Host, by its fingerprint or a part of it [default: the host of the newest experiment]
    #[arg(long, help_heading = ARCHIVE, value_name = "PART")]
    host: Option<String>,
    /// Read the histories from a CSV or JSON file instead of the archive; - for standard input
    #[arg(long, value_name = "FILE", help_heading = FILE,
        conflicts_with_all = ["engine", "variant", "step", "experiment", "host"])]
    import: Option<PathBuf>,
}

/// Prints the changes; fails on a regression if --fail-on-regression is set.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let (mut histories, gathered) = match &args.import {
        Some(path) => (import(path, &args.metrics)?, None),
        None => {
            let gathered = from_archive(args, environment, ui)?;
            (gathered.histories.clone(), Some(gathered))
        }
    };
    let higher = args.higher_is_better.clone();
    let directions = Directions { higher, lower: args.lower_is_better.clone() };
    directions.set(&mut histories).map_err(to_report)?;
    let options = StudyOptions {
        min_effect: args.min_effect,
        strictness: args.strictness,
        since: args.since.clone(),
    };
    let study = study(histories, &options).map_err(to_report)?;
    if args.fail_on_regression {
        study.check_directions().map_err(to_report)?;
    }
    let input = HistoryInput { study: &study, gathered: gathered.as_ref() };
    if let Some(path) = &args.plot {
        write_output(path, plot_history(&input)).into_report()?;
    }
    ui.report(&input, args.format);
    Ok(if args.fail_on_regression && study.regressions() > 0 {
        ExitCode::FAILURE
    } else if args.fail_on_regression
        && (study.is_newest_unknown(input.gathered) || study.has_decided_nothing())
    {
        ExitCode::from(Label::EXIT_NOTHING)
    } else {
        ExitCode::SUCCESS
    })
}

/// Reads the requested columns of a file.
fn import(path: &Path, metrics: &[String]) -> Result<Vec<History>> {
    let bytes = bytes_of(path).into_diagnostic();
    let bytes = bytes.wrap_err_with(|| format!("cannot read {}", path.display()))?;
    let read = read_file(&bytes).map_err(to_report);
    let histories = read.wrap_err_with(|| format!("{}", path.display()))?;
    let of = |name: &String| {
        let found = histories.iter().find(|one| one.name == *name).cloned();
        let known = || histories.iter().map(|one| one.name.clone()).collect();
        let name = name.clone();
        found.ok_or_else(|| to_report(HistoryError::UnknownMetric { name, known: known() }))
    };
    if metrics.is_empty() { Ok(histories) } else { metrics.iter().map(of).collect() }
}

/// Reads a regular file, or standard input.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut read =
        |source: &mut dyn Read| source.take(IMPORT_BYTES_MAX + 1).read_to_end(&mut bytes);
    let length = match STDIN.iter().any(|name| path == Path::new(name)) {
        true => read(&mut io::stdin().lock())?,
        false => read(&mut dynlib::open_regular(path)?)?,
    };
    match u64::try_from(length) {
        Ok(length) if length <= IMPORT_BYTES_MAX => Ok(bytes),
        Ok(_) | Err(_) => {
            Err(io::Error::other("the file is larger than 256 MiB: import fewer points"))
        }
    }
}

/// Reads every experiment, oldest first, and the means of those that match; reports and skips
/// damaged ones.
///
/// From the Parquet files of the archive, only the means of the query's metrics are read.
pub(super) fn past(environment: &Environment, query: &HistoryQuery, ui: &Ui) -> Vec<Past> {
    let results = Results::at(&environment.results);
    let dirs = results.newest();
    let metrics = query.metrics.iter().filter_map(|name| metric::find(name));
    let mut metrics: Vec<&str> = metrics.map(|metric| metric.name).collect();
    if query.metrics.is_empty() {
        metrics.push(METRIC);
    }
    let mut stored = FreshSet::of(&results, &dirs, ui).past(query, &metrics);
    let mut past = Vec::new();
    for dir in dirs {
        if let Some(one) = stored.remove(dir.path()) {
            past.push(one);
            continue;
        }
        match dir.manifest() {
            Ok(manifest) => {
                let is_wanted = query.has(&manifest);
                let means = if is_wanted { means(&dir, &manifest, ui) } else { Vec::new() };
                past.push(Past { manifest, means });
            }
            Err(error) => ui.status(error),
        }
    }
    past.reverse();
    past
}

/// Returns the means of an experiment's runs, from the cache when valid.
///
/// The means of an experiment with damaged runs are not cached: each reader is warned.
fn means(dir: &ExperimentDir, manifest: &Manifest, ui: &Ui) -> Vec<StepMeans> {
    let mut of_others = Vec::new();
    let cached = dir.cached(MEANS_CACHE, || {
        let read = dir.each_run(manifest);
        let (runs, damaged): (Vec<_>, Vec<_>) = read.into_iter().partition(Result::is_ok);
        let runs: Vec<_> = runs.into_iter().flatten().collect();
        let means = step_means(manifest, &runs);
        let mut errors =
            damaged.into_iter().filter_map(Result::err).inspect(|error| ui.status(error));
        let Some(last) = errors.by_ref().last() else { return Ok(means) };
        of_others = means;
        Err(last)
    });
    cached.unwrap_or(of_others)
}

fn from_archive(args: &Args, environment: &Environment, ui: &Ui) -> Result<Gathered> {
    let query = HistoryQuery {
        metrics: args.metrics.clone(),
        engine: args.engine.clone(),
        variant: args.variant.clone(),
        step: args.step.clone(),
        experiment: args.experiment.clone(),
        host: args.host.clone(),
    };
    let past = past(environment, &query, ui);
    gathered(&past, query, environment)
}

/// Gathers histories from experiments; without a metric, of the default one.
pub(super) fn gathered(
    past: &[Past],
    mut query: HistoryQuery,
    environment: &Environment,
) -> Result<Gathered> {
    if query.metrics.is_empty() {
        query.metrics.push(METRIC.to_owned());
    }
    if past.is_empty() {
        return Err(miette!(
            help = "run an experiment first, or read a file with --import",
            "no experiment found in {}",
            environment.results.display()
        ));
    }
    gather(past, &query).map_err(to_report)
}

/// Returns an error as a report, with suggestions.
pub(super) fn to_report(error: HistoryError) -> miette::Report {
    let report = PlanError::new(error.to_string());
    let report = if let HistoryError::UnknownMetric { name, known } = &error {
        let otherwise = match known.len() {
            ..=20 => format!("columns: {}", known.join(", ")),
            _ => "docs/reference/metrics.md lists the metrics".to_owned(),
        };
        report.meant(name, known.iter().map(String::as_str), otherwise)
    } else if let HistoryError::Nothing { known, .. } = &error {
        report.remedy(format!("available: {}", known.join("; ")))
    } else {
        report
    };
    report.into()
}

fn strictness(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.5..=100.0).contains(number));
    number.ok_or_else(|| {
        format!("`{text}` is not a penalty between 0.5 and 100: write a number such as 3 or 4")
    })
}
