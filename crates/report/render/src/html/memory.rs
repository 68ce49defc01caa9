//! Memory: resident, its parts, and what each variant's allocator holds of it.

use maud::{Markup, html};
use model::{Bin, RunRecord};

use super::table::table;
use crate::input::ReportInput;
use crate::memory::{self, Row, allocator, classes, most_wasted, reading};

/// Returns the section; nothing when no allocator was recorded.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let runs: Vec<&RunRecord> =
        input.comparison.variants.iter().filter_map(|one| first(input.runs, &one.name)).collect();
    let data = &input.manifest.plan.experiment.data;
    html! {
        @if !runs.is_empty() {
            section id="memory" {
                h2 { "Memory" }
                p { "Of the first complete run of each variant, at the end of each step. "
                    code { "/cache" } " is the peak of resident memory over the requested cache \
                     size. What an allocator does not report is missing, as is what an engine maps \
                     itself. " i { "Unused" } " is \
                     fragmentation: bytes of the slabs of a size class that no allocation holds." }
                ul.sentences { @for run in &runs { (sentence(run)) } }
                (table(&memory::table(&["variant", "step"], &rows(&runs), data)))
                @for run in &runs {
                    @if let Some((step, malloc)) = most_wasted(run) {
                        @if !malloc.bins.is_empty() { (folded(run, &step.step.name, &malloc.bins)) }
                    }
                }
            }
        }
    }
}

/// Returns a variant's first complete run, if its allocator was recorded.
fn first<'a>(runs: &'a [RunRecord], variant: &str) -> Option<&'a RunRecord> {
    let mut own = runs.iter().filter(|run| run.cell.variant == variant);
    let run = own.find(|run| run.end.is_complete())?;
    run.steps.iter().any(|step| step.malloc.is_some()).then_some(run)
}

fn rows<'a>(runs: &[&'a RunRecord]) -> Vec<Row<'a>> {
    let steps = runs.iter().flat_map(|run| run.steps.iter().map(move |step| (*run, step)));
    let row = |(run, step): (&'a RunRecord, &'a model::StepRecord)| Row {
        names: vec![&run.cell.variant, &step.step.name],
        run,
        step,
    };
    steps.map(row).collect()
}

/// Returns a variant's allocator and the state of its size classes.
fn sentence(run: &RunRecord) -> Markup {
    let malloc = run.steps.iter().find_map(|step| step.malloc.as_ref());
    let read = most_wasted(run).and_then(|(step, _)| Some((&step.step.name, reading(step)?)));
    html! {
        li {
            b { (run.cell.variant) }
            @if let Some(malloc) = malloc { ": " (allocator(malloc)) "." }
            @if let Some((step, reading)) = read { " After " (step) ", " (reading) }
        }
    }
}

fn folded(run: &RunRecord, step: &str, bins: &[Bin]) -> Markup {
    html! {
        details {
            summary { "Size classes of " (run.cell.variant) " after " (step) }
            (table(&classes(bins)))
        }
    }
}
