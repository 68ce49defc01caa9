//! `assay export`: an experiment in one file.

use std::path::PathBuf;
use std::process::ExitCode;

use archive::{BUNDLE, BundleFacts, Results};
use miette::Result;
use model::Bytes;
use model::units::thousands;

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

The file has manifest, records, seconds, histograms, logs and configuration in force of all runs
and earlier attempts, and the SHA-256 of each file and of the builds. It does not contain the report
page or the data.")]
pub(crate) struct Args {
    /// Experiment (name, identifier or directory)
    experiment: String,
    /// File to write [default: NAME-IDENTIFIER.assay]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the file and prints what is in it.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
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
