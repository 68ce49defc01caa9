//! Folded details: all metrics, order of the runs, options, meanings.

use std::collections::BTreeSet;

use analysis::{CellComparison, Comparison, StepComparison};
use model::{Metric, metric};
use stats::Effect;

use super::options;
use crate::comparison::{absolute, bucket_tables, folded, request_tables};
use crate::document::{Cell, Part, Table, Tone};
use crate::figure;
use crate::input::{Compared, ReportInput};
use crate::label::{plain_steps, step_heading, variant_label};
use crate::run::probe_tables;

/// Returns the section.
pub(crate) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let comparison = input.comparison;
    let mut parts = Vec::new();
    if !plain_steps(comparison).is_empty() {
        let table = Part::Table(absolute(comparison));
        let title = "Throughput as a table: means and ranges".to_owned();
        parts.push(Part::Folded(title, vec![table]));
    }
    let tables = bucket_tables(compared).into_iter().chain(request_tables(compared));
    parts.extend(tables.map(folded));
    parts.extend(input.runs.iter().flat_map(probe_tables));
    for step in &comparison.steps {
        let legend = "Mean; below it the ratio with its verdict, its 95 % interval, p (the \
                      probability of such a difference by chance) and q (p adjusted for all \
                      comparisons of its family).";
        let inner = vec![Part::Note(legend.to_owned()), Part::Table(metrics(compared, step))];
        parts.push(Part::Folded(
            format!("All metrics of {}", step_heading(comparison, step)),
            inner,
        ));
    }
    let order = Part::Table(order(input));
    parts.push(Part::Folded(
        "Order of the runs, their seeds and how they ended".to_owned(),
        vec![order],
    ));
    parts.extend(options::all(input));
    let used = used(comparison);
    let mut meanings = Table::named("metric", used.iter().map(|metric| metric.name));
    meanings.labels("meaning", used.iter().map(|metric| metric.meaning));
    parts.push(Part::Folded("What the metrics mean".to_owned(), vec![Part::Table(meanings)]));
    parts
}

/// Returns every metric of a step: a row per metric, a column per variant.
fn metrics(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let names: BTreeSet<&String> = step.cells.iter().flat_map(|cell| cell.metrics.keys()).collect();
    let known = metric::METRICS.iter().filter(|metric| names.iter().any(|it| **it == metric.name));
    let known: Vec<&Metric> = known.collect();
    let mut table = Table::named("", known.iter().map(|metric| metric.name));
    for cell in &step.cells {
        let cells = known.iter().map(|metric| value(compared, metric, cell));
        table.figures(variant_label(compared.comparison, &cell.variant), cells);
    }
    table
}

fn value(compared: &Compared<'_>, metric: &Metric, cell: &CellComparison) -> Cell {
    let Some(measured) = cell.metric(metric.name) else {
        return Cell::new(figure::MISSING, Tone::Grey);
    };
    let versus = measured.versus_base.as_ref();
    let lines = versus.map(|versus| {
        let interval = versus.interval.as_ref().map(figure::interval);
        let lines = [Some(compared.versus(versus)), interval, chance(versus)];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    });
    Cell::from(figure::figure(metric.unit, measured.spread.mean)).with(lines.unwrap_or_default())
}

/// Returns the chance of such a difference without any, alone and among its family.
fn chance(versus: &Effect) -> Option<String> {
    let p = versus.p.map(|p| format!("p {}", figure::digits(p)))?;
    let q = versus.q.map(|q| format!(", q {}", figure::digits(q)));
    Some(p + &q.unwrap_or_default())
}

fn order(input: &ReportInput<'_>) -> Table {
    let mut table = Table::new(["#", "<run", "seed", "<begun", "<end"]);
    for (index, cell) in input.manifest.plan.cells.iter().enumerate() {
        let run = input.runs.iter().find(|run| run.cell.id == cell.id);
        let end =
            run.map_or_else(|| Cell::new("no record", Tone::Grey), |run| run.end.phrase().into());
        table.push([
            Cell::from((index + 1).to_string()),
            cell.id.as_str().into(),
            cell.seed.to_string().into(),
            run.map(|run| run.started_at.clone()).unwrap_or_default().into(),
            end,
        ]);
    }
    table
}

/// Returns the metrics that appear in the comparison, in the model's order.
fn used(comparison: &Comparison) -> Vec<&'static Metric> {
    let steps = comparison.steps.iter().flat_map(StepComparison::all_cells);
    let cells = steps.chain(comparison.runs.iter().flat_map(|runs| &runs.cells));
    let names: BTreeSet<&str> =
        cells.flat_map(|cell| cell.metrics.keys()).map(String::as_str).collect();
    metric::METRICS.iter().filter(|metric| names.contains(metric.name)).collect()
}
