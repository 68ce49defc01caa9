//! `assay list`: experiments and their runs.

use std::process::ExitCode;

use archive::{ArchiveError, ExperimentDir, ExperimentSummary, Results};
use miette::Result;
use model::in_line;
use render::{Document, Format, Report, RunList, RunSummary, Style, complete_runs};
use serde::Serialize;

use super::format::TextOrJson;
use super::fresh_set::FreshSet;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Arguments of `assay list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay list                  every experiment
  assay list quickstart       the runs of the newest experiment of that name
  assay list --format json    the same for programs, here and with an experiment")]
pub(crate) struct Args {
    /// Experiment (name, identifier or directory) whose runs to list
    experiment: Option<String>,
    #[command(flatten)]
    output: TextOrJson,
}

/// Lists experiments, or the runs of one.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    let damaged = match &args.experiment {
        Some(name) => list_runs(&misplaced::find(&results, name)?, args.output, ui)?,
        None => list_experiments(&results, environment, args.output, ui),
    };
    for error in damaged {
        ui.status(error);
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the runs of one experiment; returns those that cannot be read.
fn list_runs(dir: &ExperimentDir, output: TextOrJson, ui: &Ui) -> Result<Vec<ArchiveError>> {
    let manifest = dir.manifest().into_report()?;
    let (mut runs, mut damaged) = (Vec::new(), Vec::new());
    for run in dir.each_run(&manifest) {
        match run {
            Ok(run) => runs.push(RunSummary::of(&run)),
            Err(error) => damaged.push(error),
        }
    }
    let list = RunList { runs: &runs, planned: manifest.plan.cells.len() };
    // The phrase of how a run ended may be long; a list is never split into blocks.
    let style = Style { width: usize::MAX, ..ui.style() };
    ui.rendered(&list.render(output.format, style));
    Ok(damaged)
}

/// Lists every experiment; returns those that cannot be read.
fn list_experiments(
    results: &Results,
    environment: &Environment,
    output: TextOrJson,
    ui: &Ui,
) -> Vec<ArchiveError> {
    let known = FreshSet::of(results, &results.newest(), ui).summaries();
    let listing = results.list(&known);
    if listing.experiments.is_empty() && listing.damaged.is_empty() {
        ui.status(format_args!("no experiment found in {}", environment.results.display()));
    }
    ui.report(&Experiments(listing.experiments), output.format);
    listing.damaged
}

struct Experiments(Vec<ExperimentSummary>);

impl Report for Experiments {
    fn document(&self, _: Format, _: Style) -> Document {
        Document::lines(self.0.iter().map(line))
    }

    fn data(&self) -> impl Serialize {
        &self.0
    }
}

fn line(one: &ExperimentSummary) -> String {
    let damaged = match one.damaged.len() {
        0 => String::new(),
        1 => ", 1 record is damaged".to_owned(),
        several => format!(", {several} records are damaged"),
    };
    let runs = complete_runs(one.complete, one.cells);
    format!("{}/{}  {runs}{damaged}  {}", one.name, one.id, in_line(&one.question))
}
