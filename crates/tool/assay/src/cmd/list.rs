//! `assay list`: experiments and their runs.

use std::process::ExitCode;

use archive::{ArchiveError, ExperimentDir, Results};
use miette::Result;
use model::in_line;
use render::{RunSummary, render_list};

use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay list                  every experiment
  assay list quickstart       the runs of the newest experiment of that name")]
pub(crate) struct Args {
    /// Experiment (name, identifier or directory) whose runs to list
    experiment: Option<String>,
}

/// Lists experiments, or the runs of one.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    let damaged = match &args.experiment {
        Some(name) => list_runs(&results.find(name).into_report()?, ui)?,
        None => list_experiments(&results, environment, ui),
    };
    for error in damaged {
        ui.status(error);
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the runs of one experiment; returns those that cannot be read.
fn list_runs(dir: &ExperimentDir, ui: &Ui) -> Result<Vec<ArchiveError>> {
    let manifest = dir.manifest().into_report()?;
    let (mut runs, mut damaged) = (Vec::new(), Vec::new());
    for run in dir.each_run(&manifest) {
        match run {
            Ok(run) => runs.push(RunSummary::of(&run)),
            Err(error) => damaged.push(error),
        }
    }
    ui.rendered(&render_list(&runs, manifest.plan.cells.len(), ui.style()));
    Ok(damaged)
}

/// Lists every experiment; returns those that cannot be read.
fn list_experiments(results: &Results, environment: &Environment, ui: &Ui) -> Vec<ArchiveError> {
    let listing = results.list();
    if listing.experiments.is_empty() && listing.damaged.is_empty() {
        let place = environment.results.display();
        ui.status(format_args!("no experiment found in {place}"));
    }
    for one in listing.experiments {
        let damaged = match one.damaged.len() {
            0 => String::new(),
            1 => ", 1 record is damaged".to_owned(),
            several => format!(", {several} records are damaged"),
        };
        ui.print(format_args!(
            "{}/{}  {} of {} runs complete{damaged}  {}",
            one.name,
            one.id,
            one.complete,
            one.cells,
            in_line(&one.question),
        ));
    }
    listing.damaged
}
