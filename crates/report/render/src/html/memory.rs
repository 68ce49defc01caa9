//! Memory: resident, its parts, what each variant's allocator holds, and the client's part.

use model::RunRecord;

use crate::document::Part;
use crate::input::ReportInput;
use crate::memory::{Row, allocator, classes, is_recorded, most_wasted, reading, table};

/// Returns the section; nothing when no engine's memory was recorded.
pub(crate) fn section(input: &ReportInput<'_>) -> Vec<Part> {
    let runs: Vec<&RunRecord> =
        input.comparison.variants.iter().filter_map(|one| first(input.runs, &one.name)).collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let about = "Of the first complete run of each variant, at the end of each step. `/cache` is \
                 the peak of resident memory over the requested cache size. Values that an \
                 allocator does not report, and memory that an engine maps itself, are missing. \
                 Unused is fragmentation: bytes of the slabs of a size class that no allocation \
                 holds. `client` is the peak of Assay's own memory: the counters of its clients, \
                 which the peak of an embedded engine includes, or the whole process of Assay next \
                 to a server.";
    let row = |run| {
        let run: &RunRecord = run;
        let names = |name| vec![run.cell.variant.as_str(), name];
        run.steps.iter().map(move |step| Row { names: names(&step.step.name), run, step })
    };
    let rows: Vec<Row<'_>> = runs.iter().copied().flat_map(row).collect();
    let mut parts = vec![
        Part::Text(about.to_owned()),
        Part::Sentences(runs.iter().map(|run| sentence(run)).collect()),
        Part::Table(table(&["variant", "step"], &rows, &input.manifest.plan.experiment.data)),
    ];
    parts.extend(runs.iter().filter_map(|run| {
        let (step, malloc) = most_wasted(run).filter(|(_, malloc)| !malloc.bins.is_empty())?;
        let summary = format!("Size classes of {} after {}", run.cell.variant, step.step.name);
        Some(Part::Folded(summary, vec![Part::Table(classes(&malloc.bins))]))
    }));
    parts
}

/// Returns a variant's first complete run, if its engine's memory was recorded.
fn first<'a>(runs: &'a [RunRecord], variant: &str) -> Option<&'a RunRecord> {
    let mut own = runs.iter().filter(|run| run.cell.variant == variant);
    own.find(|run| run.end.is_complete()).filter(|run| is_recorded(run))
}

/// Returns a variant's allocator and the state of its size classes.
fn sentence(run: &RunRecord) -> String {
    let read = most_wasted(run)
        .and_then(|(step, _)| Some(format!(" After {}, {}", step.step.name, reading(step)?)));
    format!("{}: {}.{}", run.cell.variant, allocator(run), read.unwrap_or_default())
}
