//! `assay show`: the runs of an experiment, step by step.

use std::process::ExitCode;

use archive::{Results, parallel_map};
use miette::{Result, miette};
use render::render_run;

use super::published;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay show quickstart                      every run of the newest quickstart
  assay show quickstart lmdb.c1.r2           one of its runs")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory
    experiment: String,
    /// Run, as listed by `assay list EXPERIMENT`; all when absent
    run: Option<String>,
    #[command(flatten)]
    window: Window,
}

/// Shows the runs.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = Results::at(&environment.results).find(&args.experiment).into_report()?;
    let manifest = dir.manifest().into_report()?;
    let runs = args.window.runs(&dir, &manifest)?;
    let requested = args.run.as_deref();
    let is_selected = |cell: &str| {
        requested.is_none_or(|name| cell == name || name.ends_with(&format!("/{cell}")))
    };
    let shown: Vec<_> = runs.iter().filter(|run| is_selected(&run.cell.id)).collect();
    if let (true, Some(name)) = (shown.is_empty(), requested) {
        let known: Vec<_> = runs.iter().map(|run| run.cell.id.as_str()).collect();
        return Err(miette!(
            help = format!("runs: {}", known.join(", ")),
            "no run is named `{name}`"
        ));
    }
    let style = ui.style();
    let texts = parallel_map(shown, |run| render_run(&manifest, run, style));
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            ui.print("");
        }
        ui.rendered(text);
    }
    if requested.is_none()
        && let Some(findings) = published::shown(&dir, &manifest, &runs, ui.style())?
    {
        ui.rendered(&format!("\n{findings}"));
    }
    Ok(ExitCode::SUCCESS)
}
