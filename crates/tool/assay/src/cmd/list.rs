//! `assay list`: what has been run.

use std::process::ExitCode;

use archive::{ArchiveError, ExperimentDir, Results};
use miette::Result;
use render::{RunSummary, render_list};

use crate::environment::Environment;
use crate::told::Told as _;
use crate::ui::Ui;

/// What to list.
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
        Some(name) => list_runs(&results.find(name).told()?, ui)?,
        None => list_experiments(&results, environment, ui),
    };
    for error in damaged {
        ui.remark(error);
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the runs of one experiment; returns what cannot be read of it.
fn list_runs(dir: &ExperimentDir, ui: &Ui) -> Result<Vec<ArchiveError>> {
    let manifest = dir.manifest().told()?;
    let (mut runs, mut damaged) = (Vec::new(), Vec::new());
    for run in dir.each_run(&manifest) {
        match run {
            Ok(run) => runs.push(RunSummary::of(&run)),
            Err(error) => damaged.push(error),
        }
    }
    ui.answer(render_list(&runs, ui.style()));
    Ok(damaged)
}

/// Lists every experiment; returns what cannot be read of them.
fn list_experiments(results: &Results, environment: &Environment, ui: &Ui) -> Vec<ArchiveError> {
    let listing = results.list();
    if listing.experiments.is_empty() && listing.damaged.is_empty() {
        let place = environment.results.display();
        ui.remark(format_args!("nothing has been run yet (looked in {place})"));
    }
    for one in listing.experiments {
        let damaged = match one.damaged.len() {
            0 => String::new(),
            1 => ", 1 record is damaged".to_owned(),
            several => format!(", {several} records are damaged"),
        };
        ui.answer(format_args!(
            "{}/{}  {} of {} runs complete{damaged}  {}",
            one.name, one.id, one.complete, one.cells, one.question,
        ));
    }
    listing.damaged
}
