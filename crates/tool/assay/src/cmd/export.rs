//! `assay export`: an experiment in one file, or its metrics for monitoring systems.

use std::path::PathBuf;
use std::process::ExitCode;

use archive::{BUNDLE, BundleFacts, Results, write_output};
use miette::Result;
use model::Bytes;
use model::units::{many, thousands};
use render::{render_otlp, render_prometheus};

use super::selected::{Selected, select};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Arguments of `assay export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay export quickstart                       writes quickstart-IDENTIFIER.assay
  assay export quickstart -o result.assay
  assay compare result.assay                    reads it, as report, show, list and verify do
  assay export quickstart/lmdb.c1.r1 --format prometheus -o /var/lib/node_exporter/assay.prom
  assay export quickstart --format otlp         writes quickstart-IDENTIFIER.otlp.jsonl

The file has manifest, records, seconds, histograms, logs and configuration in force of all runs
and earlier attempts, and the SHA-256 of each file and of the builds. It does not contain the report
page or the data.

prometheus and otlp write the metrics of the finished steps of each valid run, with the run, variant
and step as labels: text for the directory of a node exporter, or OpenTelemetry metrics as JSON.")]
pub(crate) struct Args {
    /// Experiment (name, identifier or directory); for metrics also EXPERIMENT/RUN
    experiment: String,
    /// File to write [default: NAME-IDENTIFIER with the suffix of the format]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to write: the whole experiment, or metrics of its runs
    #[arg(long, default_value = "assay", value_name = "FORMAT")]
    format: ExportFormat,
}

/// Format of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// The whole experiment, for other commands
    Assay,
    /// Metrics as text for Prometheus
    Prometheus,
    /// Metrics of OpenTelemetry in JSON
    Otlp,
}

/// Writes the file and prints what is in it.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let (render, suffix): (fn(&_, &_) -> String, _) = match args.format {
        ExportFormat::Assay => return export_whole(args, environment, ui),
        ExportFormat::Prometheus => (|manifest, runs| render_prometheus(manifest, runs), "prom"),
        ExportFormat::Otlp => (|manifest, runs| render_otlp(manifest, runs), "otlp.jsonl"),
    };
    let Selected { manifest, runs, .. } =
        select(&Results::at(&environment.results), &args.experiment)?;
    let default = || format!("{}-{}.{suffix}", manifest.plan.experiment.name, manifest.id);
    let to = args.output.clone().unwrap_or_else(|| default().into());
    write_output(&to, render(&manifest, &runs)).into_report()?;
    ui.print(format_args!("{}: metrics of {}", to.display(), many(runs.len() as u64, "run")));
    Ok(ExitCode::SUCCESS)
}

/// Writes the whole experiment.
fn export_whole(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = misplaced::find(&Results::at(&environment.results), &args.experiment)?;
    let to = match &args.output {
        Some(to) => to.clone(),
        None => {
            let manifest = dir.manifest().into_report()?;
            format!("{}-{}.{BUNDLE}", manifest.plan.experiment.name, manifest.id).into()
        }
    };
    let facts = dir.pack(&to).into_report()?;
    let bytes = std::fs::metadata(&to).map_or(0, |file| file.len());
    ui.print(format_args!("{}: {}, {}", to.display(), Bytes(bytes), content(&facts)));
    Ok(ExitCode::SUCCESS)
}

/// Returns what a file has, in words.
pub(super) fn content(facts: &BundleFacts) -> String {
    format!(
        "{} files of {}/{} with {}",
        thousands(facts.files as u64),
        facts.experiment,
        facts.id,
        Bytes(facts.content_bytes)
    )
}
