//! `assay archive merge`: adds the experiments of other archives.

use std::path::PathBuf;
use std::process::ExitCode;

use archive::Results;
use miette::Result;
use model::units::thousands;

use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::phase;
use crate::ui::Ui;

/// Arguments of `assay archive merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay archive merge /mnt/one/results /mnt/two/results
  assay archive merge old --results results && assay verify

Each experiment is copied with its name and identifier, so commands and links stay valid. One that
is here already with the same files stays as it is. If an experiment is here with other files,
nothing is copied, and the error names both. Copied experiments count as experiments of other
people: a command that runs one needs consent. Pages, caches and marks of ownership are not copied.")]
pub(super) struct Args {
    /// Archives with the experiments to add
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,
}

/// Adds the experiments; names those that are left out, and fails if there are any.
pub(super) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for experiments to be compared and copied");
    let others: Vec<_> = args.directories.iter().map(|dir| Results::at(dir)).collect();
    let merged = Results::at(&environment.results).merge(&others).into_report()?;
    for error in &merged.skipped {
        ui.status(format_args!("left out: {error}"));
    }
    ui.print(format_args!(
        "{}: {} experiments added, {} were there already, {} left out",
        environment.results.display(),
        thousands(merged.added as u64),
        thousands(merged.same as u64),
        merged.skipped.len()
    ));
    Ok(if merged.skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
