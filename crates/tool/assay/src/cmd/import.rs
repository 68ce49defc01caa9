//! `assay import`: brings an experiment from one file into the archive.

use std::path::PathBuf;
use std::process::ExitCode;

use archive::Results;
use miette::Result;

use super::export::content;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay import result.assay
  assay import result.assay && assay compare EXPERIMENT

The whole file is checked before anything is added to the archive. A changed byte, a file that does
not belong to an experiment, or a name that points outside of the archive is an error.")]
pub(crate) struct Args {
    /// File that assay export wrote
    file: PathBuf,
}

/// Imports the file and prints the place.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    let (dir, facts) = results.import(&args.file).into_report()?;
    ui.print(format_args!("{}: {}", dir.path().display(), content(&facts)));
    Ok(ExitCode::SUCCESS)
}
