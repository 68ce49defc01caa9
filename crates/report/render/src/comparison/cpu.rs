//! Server CPU per operation, where client and server share one CPU.

use analysis::StepComparison;

use super::section::Section;
use super::tables::{bracketed_cell, of_variants, relative_in};
use crate::document::Table;
use crate::input::Compared;
use crate::label::{SERVER_CPU, counts_rows, plain_steps, step_heading};

/// The canary: what the client costs, which does the same work whatever the server.
const CLIENT_CPU: &str = "client_cpu_us_per_op";

/// Returns the server's CPU, the same relative to the base, and the client's; `None` where
/// throughput answers.
pub(super) fn part(compared: &Compared<'_>) -> Option<Section> {
    let comparison = compared.comparison;
    let mut steps = plain_steps(comparison);
    steps.retain(|step| step.primary == Some(SERVER_CPU));
    if steps.is_empty() {
        return None;
    }
    let mut tables = vec![means(compared, &steps, "server", SERVER_CPU)];
    if comparison.variants.len() > 1 {
        tables.push(relative_in(compared, &steps, SERVER_CPU));
    }
    tables.push(means(compared, &steps, "client", CLIENT_CPU));
    Some(Section {
        title: "Server CPU per operation, its ratio to the base, and the client's CPU".to_owned(),
        sentences: Vec::new(),
        tables,
        remarks: vec![
            "Means [min..max]; ratios [95 % interval]. Client and server share \
             one CPU, so that throughput is that of both. The client does the same work for every \
             variant: where its CPU differs, background writers aside, the placement did."
                .to_owned(),
        ],
    })
}

/// Returns means and ranges of one metric: a row per variant, a column per step.
fn means(compared: &Compared<'_>, steps: &[&StepComparison], whose: &str, metric: &str) -> Table {
    let mut table = of_variants(compared.comparison, whose);
    for step in steps {
        let unit = if counts_rows(step) { "per row" } else { "per op" };
        let heading = format!("{}\n{unit}", step_heading(compared.comparison, step));
        table.figures(heading, step.cells.iter().map(|cell| bracketed_cell(metric, cell)));
    }
    table
}
