//! Everything else, folded: all numbers, the order of the runs, options, what metrics mean.

use std::collections::BTreeSet;

use analysis::{CellComparison, Comparison, StepComparison};
use maud::{Markup, html};
use model::{Metric, metric};

use super::options;
use super::table::table;
use crate::comparison::{absolute, relative};
use crate::figure;
use crate::input::ReportInput;
use crate::label::{plain_steps, step_heading, variant_label, versus_text};
use crate::run::probe_tables;

/// Returns the section.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let comparison = input.comparison;
    html! {
        section id="more" {
            h2 { "Everything else" }
            @if !plain_steps(comparison).is_empty() {
                details {
                    summary {
                        "Throughput as tables: absolute, then relative to " (comparison.base)
                    }
                    (table(&absolute(comparison)))
                    (table(&relative(comparison)))
                }
            }
            @for run in input.runs {
                @for (title, probes) in probe_tables(run) {
                    details { summary { (title) } (table(&probes)) }
                }
            }
            @for step in &comparison.steps {
                details {
                    summary { "All metrics of " (step_heading(comparison, step)) }
                    (metrics(comparison, step))
                }
            }
            details {
                summary { "Order of the runs, their seeds and how they ended" }
                (order(input))
            }
            (options::all(input))
            details {
                summary { "What the metrics mean" }
                dl.facts.metrics { @for metric in used(comparison) {
                    div { dt { (metric.name) } dd { (metric.meaning) } }
                } }
            }
        }
    }
}

/// Returns every metric of a step: a row per metric, a column per variant.
fn metrics(comparison: &Comparison, step: &StepComparison) -> Markup {
    let names: BTreeSet<&String> = step.cells.iter().flat_map(|cell| cell.metrics.keys()).collect();
    let known = metric::METRICS.iter().filter(|metric| names.iter().any(|it| **it == metric.name));
    html! {
        div.wide { table.metrics {
            thead { tr {
                th {}
                @for cell in &step.cells { th { (variant_label(comparison, &cell.variant)) } }
            } }
            tbody { @for metric in known {
                tr {
                    th scope="row" title=(metric.meaning) { (metric.name) }
                    @for cell in &step.cells { (value(metric, cell)) }
                }
            } }
        } }
    }
}

fn value(metric: &Metric, cell: &CellComparison) -> Markup {
    let Some(measured) = cell.metric(metric.name) else {
        return html! { td.none { (figure::MISSING) } };
    };
    html! {
        td {
            (figure::figure(metric.unit, measured.spread.median))
            @if let Some(versus) = &measured.versus_base { small { (versus_text(versus)) } }
        }
    }
}

fn order(input: &ReportInput<'_>) -> Markup {
    let run_of = |id: &str| input.runs.iter().find(|run| run.cell.id == id);
    html! {
        table {
            thead { tr {
                th { "#" } th.text { "run" } th { "seed" } th.text { "begun" } th.text { "end" }
            } }
            tbody { @for (index, cell) in input.manifest.plan.cells.iter().enumerate() {
                tr {
                    td { (index + 1) }
                    th.text scope="row" { (cell.id) }
                    td { (cell.seed) }
                    @match run_of(&cell.id) {
                        Some(run) => {
                            td.text { (run.started_at) }
                            td.text { (run.end.phrase()) }
                        },
                        None => {
                            td.none { "" }
                            td.none { "no record" }
                        },
                    }
                }
            } }
        }
    }
}

/// Returns the metrics that appear in the comparison, in the model's order.
fn used(comparison: &Comparison) -> Vec<&'static Metric> {
    let steps = comparison.steps.iter().flat_map(|step| &step.cells);
    let cells = steps.chain(comparison.runs.iter().flat_map(|runs| &runs.cells));
    let names: BTreeSet<&str> =
        cells.flat_map(|cell| cell.metrics.keys()).map(String::as_str).collect();
    metric::METRICS.iter().filter(|metric| names.contains(metric.name)).collect()
}
