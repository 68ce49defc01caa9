//! Folded details: all metrics, order of the runs, options, meanings.

use std::collections::BTreeSet;

use analysis::{CellComparison, Comparison, StepComparison};
use maud::{Markup, html};
use model::{Metric, metric};
use stats::Effect;

use super::options;
use super::table::table;
use crate::comparison::{absolute, bucket_tables, relative};
use crate::figure;
use crate::input::Compared;
use crate::input::ReportInput;
use crate::label::{plain_steps, step_heading, variant_label};
use crate::run::probe_tables;

/// Returns the section.
pub(super) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Markup {
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
                    (table(&relative(compared)))
                }
            }
            @if let Some(buckets) = bucket_tables(compared) {
                details {
                    summary { (buckets.title) }
                    @for one in &buckets.tables { (table(one)) }
                    @for remark in &buckets.remarks { p.legend { (remark) } }
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
                    p.legend {
                        "Median; below it the ratio of geometric means with its verdict, its 95 % \
                         interval, the chance p of such a difference without any, and q, the same \
                         among all comparisons of its family."
                    }
                    (metrics(compared, step))
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
fn metrics(compared: &Compared<'_>, step: &StepComparison) -> Markup {
    let comparison = compared.comparison;
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
                    @for cell in &step.cells { (value(compared, metric, cell)) }
                }
            } }
        } }
    }
}

fn value(compared: &Compared<'_>, metric: &Metric, cell: &CellComparison) -> Markup {
    let Some(measured) = cell.metric(metric.name) else {
        return html! { td.none { (figure::MISSING) } };
    };
    html! {
        td {
            (figure::figure(metric.unit, measured.spread.median))
            @if let Some(versus) = &measured.versus_base {
                small { (compared.versus(versus)) }
                @if let Some(interval) = versus.interval { small { (figure::interval(&interval)) } }
                @if let Some(chance) = chance(versus) { small { (chance) } }
            }
        }
    }
}

/// Returns the chance of such a difference without any, alone and among its family.
fn chance(versus: &Effect) -> Option<String> {
    let written = |chance: f64| figure::digits(chance);
    let p = versus.p.map(|p| format!("p {}", written(p)))?;
    let q = versus.q.map(|q| format!(", q {}", written(q)));
    Some(p + &q.unwrap_or_default())
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
