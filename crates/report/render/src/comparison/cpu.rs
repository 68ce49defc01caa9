//! Server CPU per operation, where client and server share one CPU.

use analysis::StepComparison;

use super::part::Part;
use super::tables::{bracketed_cell, relative_in};
use crate::input::Compared;
use crate::label::{SERVER_CPU, counts_rows, plain_steps, step_heading, variant_label};
use crate::table::{Cell, Table};

/// The canary: what the client costs, which does the same work whatever the server.
const CLIENT_CPU: &str = "client_cpu_us_per_op";

/// Returns the server's CPU, the same relative to the base, and the client's; `None` where
/// throughput answers.
pub(super) fn part(compared: &Compared<'_>) -> Option<Part> {
    let comparison = compared.comparison;
    let mut steps = plain_steps(comparison);
    steps.retain(|step| step.primary == Some(SERVER_CPU));
    if steps.is_empty() {
        return None;
    }
    let mut tables = vec![medians(compared, &steps, ("server", SERVER_CPU))];
    if comparison.variants.len() > 1 {
        tables.push(relative_in(compared, &steps, SERVER_CPU));
    }
    tables.push(medians(compared, &steps, ("client", CLIENT_CPU)));
    Some(Part {
        title: "Server CPU per operation, its ratio to the base, and the client's CPU".to_owned(),
        sentences: Vec::new(),
        tables,
        remarks: vec![
            "Medians [min..max]; ratios of geometric means [95 % interval]. Client and server share \
             one CPU, so that throughput is that of both. The client does the same work for every \
             variant: where its CPU differs, background writers aside, the placement did."
                .to_owned(),
        ],
    })
}

/// Returns medians and ranges of one metric: a row per variant, a column per step.
fn medians(
    compared: &Compared<'_>,
    steps: &[&StepComparison],
    (whose, metric): (&str, &str),
) -> Table {
    let comparison = compared.comparison;
    let heading = |step: &&StepComparison| {
        let unit = if counts_rows(step) { "per row" } else { "per op" };
        format!("{}\n{unit}", step_heading(comparison, step))
    };
    let mut table = Table::new(std::iter::once(whose.to_owned()).chain(steps.iter().map(heading)));
    for (index, variant) in comparison.variants.iter().enumerate() {
        let mut row = vec![Cell::plain(variant_label(comparison, &variant.name))];
        row.extend(steps.iter().map(|step| bracketed_cell(metric, &step.cells[index])));
        table.push(row);
    }
    table
}
