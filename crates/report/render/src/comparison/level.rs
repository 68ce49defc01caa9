//! The figures of a single variant: a row per step.

use analysis::Comparison;

use super::tables::{bracketed_cell, is_known, mean_cell};
use crate::document::Table;
use crate::label::{THROUGHPUT, measured_steps, plain_steps, rate_unit, step_heading};

/// What an operation takes: metric and heading.
const FIGURES: [(&str, &str); 7] = [
    ("response_ns_p50", "p50"),
    ("response_ns_p99", "p99"),
    ("response_ns_p999", "p99.9"),
    ("response_ns_max", "max"),
    ("cpu_us_per_op", "CPU/op"),
    ("server_reads_per_op", "server\nreads/op"),
    ("device_reads_per_op", "device\nreads/op"),
];

/// Returns rates, times and costs of each step; `None` where variants are compared.
///
/// `None` too where the experiment names its metrics or gives its rates: those have tables of their
/// own.
pub(super) fn levels_table(comparison: &Comparison) -> Option<Table> {
    let ([variant], steps) = (&comparison.variants[..], plain_steps(comparison)) else {
        return None;
    };
    let is_named = steps.iter().any(|step| !step.answers.is_empty());
    if is_named || steps.is_empty() || steps.len() < measured_steps(comparison).len() {
        return None;
    }
    let cells = || steps.iter().flat_map(|step| &step.cells);
    let headings = steps.iter().map(|step| step_heading(comparison, step));
    let mut table = Table::named(variant.name.as_str(), headings);
    let unit = rate_unit(steps[0]);
    let is_one = steps.iter().all(|step| rate_unit(step) == unit);
    let unit = if is_one { unit } else { "ops/s\nor rows/s" };
    // A step of a single variant has one cell.
    table.figures(unit, cells().map(|cell| bracketed_cell(THROUGHPUT, cell)));
    for (name, heading) in FIGURES.iter().filter(|(name, _)| cells().any(|it| is_known(name, it))) {
        table.figures(*heading, cells().map(|cell| mean_cell(name, cell)));
    }
    Some(table)
}
