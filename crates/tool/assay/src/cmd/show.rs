//! `assay show`: one run, or every run of an experiment, step by step.

use std::process::ExitCode;

use archive::Results;
use miette::{Result, miette};
use render::render_run;

use super::published;
use super::steady::Window;
use crate::environment::Environment;
use crate::told::Told as _;
use crate::ui::Ui;

/// What to show.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay show quickstart                      every run of the newest quickstart
  assay show quickstart lmdb.c1.r2           one of its runs")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory
    experiment: String,
    /// Run, as `assay list EXPERIMENT` names it; all when absent
    run: Option<String>,
    #[command(flatten)]
    window: Window,
}

/// Shows the runs.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = Results::at(&environment.results).find(&args.experiment).told()?;
    let manifest = dir.manifest().told()?;
    let runs = args.window.runs(&dir, &manifest)?;
    let wanted = args.run.as_deref();
    let asked =
        |cell: &str| wanted.is_none_or(|name| cell == name || name.ends_with(&format!("/{cell}")));
    let shown: Vec<_> = runs.iter().filter(|run| asked(&run.cell.id)).collect();
    if let (true, Some(name)) = (shown.is_empty(), wanted) {
        let known: Vec<_> = runs.iter().map(|run| run.cell.id.as_str()).collect();
        return Err(miette!(
            help = format!("runs: {}", known.join(", ")),
            "no run is named `{name}`"
        ));
    }
    for (index, run) in shown.into_iter().enumerate() {
        if index > 0 {
            ui.answer("");
        }
        ui.answer(render_run(&manifest, run, ui.style()));
    }
    if wanted.is_none()
        && let Some(held) = published::shown(&dir, &manifest, &runs, ui.style())?
    {
        ui.answer(format_args!("\n{held}"));
    }
    Ok(ExitCode::SUCCESS)
}
