//! The list of runs in the archive.

use model::RunRecord;
use serde::Serialize;

use crate::document::{Cell, Document, Part, Table, Tone};
use crate::format::{Format, Style};
use crate::label::run_name;
use crate::report::Report;

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Identifier: experiment id, a slash, cell id.
    pub id: String,
    /// The engine build, with the version it reported where it was opened.
    pub build: String,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// Steps executed.
    pub steps: usize,
    /// How it ended, and why it is invalid if so.
    pub end: String,
    /// Whether every step was executed and may be used.
    pub is_complete: bool,
}

impl RunSummary {
    /// Returns the line of `run`.
    pub fn of(run: &RunRecord) -> Self {
        let build = run.identity.as_ref().map_or_else(
            || run.variant.build.to_string(),
            |identity| format!("{} {}", identity.engine, identity.version),
        );
        Self {
            id: run.id.clone(),
            build,
            started_at: run.started_at.clone(),
            steps: run.steps.len(),
            end: match &run.invalid {
                Some(reason) => format!("{}, INVALID: {reason}", run.end.phrase()),
                None => run.end.phrase(),
            },
            is_complete: run.end.is_complete() && run.is_counted(),
        }
    }
}

/// Runs, grouped by experiment.
#[derive(Debug, Clone, Copy)]
pub struct RunList<'a> {
    /// The runs, in order.
    pub runs: &'a [RunSummary],
    /// Runs planned of each experiment.
    pub planned: usize,
}

impl Report for RunList<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        if self.runs.is_empty() {
            let none = "No runs are stored here yet: make some with `assay run`.".to_owned();
            return Document::from([vec![Part::Text(none)]]);
        }
        let mut document = Document::default();
        let is_same =
            |run: &RunSummary, next: &RunSummary| experiment(&run.id) == experiment(&next.id);
        for group in self.runs.chunk_by(is_same) {
            document.add(self.group(group));
        }
        document
    }

    fn data(&self) -> impl Serialize {
        self.runs
    }
}

impl RunList<'_> {
    /// Returns the runs of one experiment below their number.
    fn group(&self, runs: &[RunSummary]) -> [Part; 2] {
        let complete = runs.iter().filter(|run| run.is_complete).count();
        let mut table = Table::new(["run", "<build", "<begun", "steps", "<end"]);
        for run in runs {
            let tone = if run.is_complete { Tone::Plain } else { Tone::Worse };
            table.push([
                Cell::from(run_name(&run.id)),
                run.build.as_str().into(),
                run.started_at.as_str().into(),
                run.steps.to_string().into(),
                Cell::new(run.end.as_str(), tone),
            ]);
        }
        let all = self.planned.max(runs.len());
        let head = format!("{}  {}", experiment(&runs[0].id), complete_runs(complete, all));
        [Part::Text(head), Part::Table(table)]
    }
}

/// Returns how many of the runs planned are complete.
pub fn complete_runs(complete: usize, planned: usize) -> String {
    match (complete, planned) {
        (0, 1) => "its run is not complete".to_owned(),
        (1, 1) => "its run is complete".to_owned(),
        (1, _) => format!("1 of {planned} runs is complete"),
        _ => format!("{complete} of {planned} runs are complete"),
    }
}

fn experiment(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(experiment, _)| experiment)
}
