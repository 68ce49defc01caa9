//! `assay show`: the runs of an experiment, step by step.

use std::process::ExitCode;

use analysis::MeasuredStep;
use archive::{ExperimentDir, Results, parallel_map};
use miette::{Result, miette};
use model::{Manifest, RunRecord};
use render::{Format, RunTimeline, render_run, render_timelines};

use super::published;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay show quickstart                      every run of the newest quickstart
  assay show quickstart lmdb.c1.r2           one of its runs
  assay show quickstart lmdb.c1.r2 --timeline readrandom     one of its steps, second by second")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory
    experiment: String,
    /// Run, as listed by `assay list EXPERIMENT`; all when absent
    run: Option<String>,
    /// Show this step second by second, with what ran in its stalls
    #[arg(long, value_name = "STEP", conflicts_with = "whole")]
    timeline: Option<String>,
    /// Format of a time line: text, markdown, csv, tsv or json
    #[arg(long, default_value = "text", value_name = "FORMAT", requires = "timeline")]
    format: Format,
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
    if let Some(step) = &args.timeline {
        let timelines = timelines(&dir, &manifest, &shown, step)?;
        ui.rendered(&render_timelines(&timelines, args.format, style));
        return Ok(ExitCode::SUCCESS);
    }
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

/// Returns the time line of a step in each run that has intervals of it.
fn timelines<'a>(
    dir: &ExperimentDir,
    manifest: &'a Manifest,
    runs: &[&'a RunRecord],
    step: &str,
) -> Result<Vec<RunTimeline<'a>>> {
    let planned = &manifest.plan.experiment.steps;
    let known = || planned.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(index) = planned.iter().position(|planned| planned.name == step) else {
        return Err(miette!(help = format!("steps: {}", known()), "no step is named `{step}`"));
    };
    let mut timelines = Vec::new();
    for run in runs {
        let recorded = run.steps.iter().find(|recorded| recorded.index as usize == index);
        let begun = || MeasuredStep {
            index: u32::try_from(index).expect("plans are short"),
            step: &planned[index],
            recorded: None,
        };
        let measured = recorded.map_or_else(begun, MeasuredStep::from);
        let intervals = dir.intervals(&run.cell.id).into_report()?;
        timelines.extend(RunTimeline::of(run, measured, &intervals));
    }
    if timelines.is_empty() {
        return Err(miette!(
            help = "a step of maintenance alone has none: choose one in which clients run",
            "no interval of step `{step}` is recorded"
        ));
    }
    Ok(timelines)
}
