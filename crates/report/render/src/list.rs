//! The list of runs in the archive.

use model::RunRecord;

use crate::document::{Cell, Document, Part, Table, Tone};
use crate::format::{Format, Style};
use crate::label::run_name;

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Returns the runs as a table, grouped by experiment, each of which has so many planned.
pub fn render_list(runs: &[RunSummary], planned: usize, style: Style) -> String {
    if runs.is_empty() {
        return "No runs are stored here yet: `assay run` makes some.\n".to_owned();
    }
    let mut document = Document::default();
    for group in runs.chunk_by(|one, next| experiment(&one.id) == experiment(&next.id)) {
        let complete = group.iter().filter(|run| run.is_complete).count();
        let mut table = Table::new(["run", "<build", "<begun", "steps", "<end"]);
        for run in group {
            let tone = if run.is_complete { Tone::Plain } else { Tone::Worse };
            table.push([
                Cell::from(run_name(&run.id)),
                run.build.as_str().into(),
                run.started_at.as_str().into(),
                run.steps.to_string().into(),
                Cell::new(run.end.as_str(), tone),
            ]);
        }
        let head = experiment(&group[0].id);
        let all = planned.max(group.len());
        let head = format!("{head}  {complete} of {all} runs complete");
        document.add([Part::Text(head), Part::Table(table)]);
    }
    // The phrase of how a run ended may be long; a list is never split into blocks.
    document.render(Format::Text, Style { width: usize::MAX, ..style })
}

fn experiment(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(experiment, _)| experiment)
}
