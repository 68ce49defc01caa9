//! `assay show`: the runs of an experiment, step by step.

use std::process::ExitCode;

use analysis::MeasuredStep;
use archive::{ExperimentDir, Results, parallel_map};
use miette::{Result, miette};
use model::{Manifest, RunRecord};
use render::{Document, Format, Meta, PublishedFindings, Report, RunReport, RunTimeline, Style};
use serde::Serialize;
use serde_json::json;

use super::format::{ALL, formats};
use super::published;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Arguments of `assay show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay show quickstart                      every run of the newest quickstart
  assay show quickstart lmdb.c1.r2           one of its runs
  assay show quickstart lmdb.c1.r2 --timeline readrandom     one of its steps, second by second
  assay show quickstart --format json        every figure of every run, for programs")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory
    experiment: String,
    /// Run, as listed by `assay list EXPERIMENT` [default: every run]
    run: Option<String>,
    /// Show this step second by second, with the background work in its stalls
    #[arg(long, value_name = "STEP", conflicts_with = "whole")]
    timeline: Option<String>,
    /// Output format; csv and tsv only with --timeline
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(ALL))]
    format: Format,
    #[command(flatten)]
    window: Window,
}

/// Shows the runs.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    if args.timeline.is_none() && matches!(args.format, Format::Csv | Format::Tsv) {
        return Err(miette!(
            help = "name a step with --timeline, use --format json, or run: assay compare \
                    --format csv",
            "runs have no CSV or TSV format, only their time lines"
        ));
    }
    let dir = misplaced::find(&Results::at(&environment.results), &args.experiment)?;
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
    if let Some(step) = &args.timeline {
        ui.report(&timelines(&dir, &manifest, &shown, step)?[..], args.format);
        return Ok(ExitCode::SUCCESS);
    }
    let analyzed = match requested {
        None => published::analyzed(&dir, &manifest, &runs)?,
        Some(_) => None,
    };
    let meta = Meta::of_runs(&manifest, &runs);
    let compared = analyzed.as_ref().map(|of| of.compared(&meta, &runs, &manifest.host));
    let published = compared.as_ref().map(PublishedFindings);
    ui.report(&Shown { manifest: &manifest, runs: shown, published }, args.format);
    Ok(ExitCode::SUCCESS)
}

/// Runs, then the published findings of their experiment.
struct Shown<'a> {
    manifest: &'a Manifest,
    runs: Vec<&'a RunRecord>,
    published: Option<PublishedFindings<'a>>,
}

impl Shown<'_> {
    fn reports(&self) -> Vec<RunReport<'_>> {
        self.runs.iter().map(|run| RunReport { manifest: self.manifest, run }).collect()
    }
}

impl Report for Shown<'_> {
    fn document(&self, format: Format, style: Style) -> Document {
        let mut all = Document::default();
        let documents = parallel_map(self.reports(), |run| run.document(format, style));
        documents.into_iter().for_each(|one| all.append(one));
        self.published.iter().for_each(|one| all.append(one.document(format, style)));
        all
    }

    fn data(&self) -> impl Serialize {
        let reports = self.reports();
        let runs: Vec<_> = reports.iter().map(|run| json!(run.data())).collect();
        let published = self.published.as_ref().map(|one| json!(one.data()));
        json!({ "runs": runs, "published": published })
    }
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
            help = "a step with maintenance only has no time line: choose a step in which clients \
                    run",
            "no interval of step `{step}` is recorded"
        ));
    }
    Ok(timelines)
}
