//! `assay list`: what has been run.

use std::process::ExitCode;

use archive::Results;
use miette::Result;
use report::{RunSummary, render_list};

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
    match &args.experiment {
        Some(name) => {
            let dir = results.find(name).told()?;
            let manifest = dir.manifest().told()?;
            let runs = dir.runs(&manifest).told()?;
            let runs: Vec<_> = runs.iter().map(RunSummary::of).collect();
            ui.answer(render_list(&runs, ui.style()));
        }
        None => {
            let experiments = results.list().told()?;
            if experiments.is_empty() {
                let place = environment.results.display();
                ui.remark(format_args!("nothing has been run yet (looked in {place})"));
            }
            for one in experiments {
                let plan = &one.manifest.plan;
                ui.answer(format_args!(
                    "{}/{}  {} of {} runs complete  {}",
                    plan.experiment.name,
                    one.manifest.id,
                    one.complete,
                    plan.cells.len(),
                    plan.experiment.question,
                ));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
