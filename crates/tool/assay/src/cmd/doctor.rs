//! `assay doctor`: what on this machine can spoil a benchmark.

use std::path::PathBuf;
use std::process::ExitCode;

use doctor::{Source, examine};
use miette::Result;
use model::CheckState;
use model::record::Severity;
use render::{Format, doctor_script};

use super::format::{DOCUMENT, formats};
use crate::directory::check_existing_dir;
use crate::environment::Environment;
use crate::phase;
use crate::ui::Ui;

/// Arguments of `assay doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay doctor                          this machine, and the drive of the data directory
  assay doctor --path /data --format markdown
  assay doctor --format json            every check, for programs
  assay doctor --script >remedies.sh    every remedy as one script, to read and run as root
  assay doctor --fail-on warning        for a script that runs benchmarks

The command changes nothing. A check that cannot be read is unknown and states the reason. Root can
read more.

Exit code: 0 if no finding has the severity of --fail-on or a higher one, 1 if a finding has, 2 if
the check failed.")]
pub(crate) struct Args {
    /// Directory whose drive and file system are checked [default: the data directory]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Print one shell script of all remedies instead of the report
    #[arg(long, conflicts_with = "format")]
    script: bool,
    /// Lowest severity that exits with 1: note, warning or blocking
    #[arg(long, default_value = "blocking", value_name = "SEVERITY")]
    fail_on: Severity,
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(DOCUMENT))]
    format: Format,
}

/// Prints what every check found.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for this machine to be examined");
    args.path.as_deref().map_or(Ok(()), |path| check_existing_dir("--path", path))?;
    let nearest = environment.nearest_dir();
    let dir = args.path.as_deref().unwrap_or(&nearest);
    let results = examine(&Source::this_machine(dir));
    match args.script {
        true => ui.rendered(&doctor_script(&results)),
        false => ui.report(&results[..], args.format),
    }
    let has_failed =
        results.iter().any(|one| one.state == CheckState::Finding && one.severity >= args.fail_on);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
