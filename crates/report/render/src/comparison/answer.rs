//! The metrics that answer the question in place of throughput.

use analysis::StepComparison;

use super::section::Section;
use super::tables::{bracketed_cell, of_variants, relative_in};
use crate::document::Table;
use crate::input::Compared;
use crate::label::{SERVER_CPU, THROUGHPUT, metric_label, plain_steps, step_heading};

/// The canary: what the client costs, which does the same work whatever the server.
const CLIENT_CPU: &str = "client_cpu_us_per_op";
const SHARED_CPU: &str = "Where client and server share one CPU, throughput is the throughput of \
                          both together. The client does the same work for every variant: if the \
                          client's CPU differs in a step without background writers, the placement \
                          differed.";

/// Returns a section for each metric but throughput that steps are about: figures and ratios.
pub(super) fn parts(compared: &Compared<'_>) -> Vec<Section> {
    let steps = plain_steps(compared.comparison);
    let mut metrics: Vec<&str> = Vec::new();
    for metric in steps.iter().flat_map(|step| step.own_metrics()) {
        if metric != THROUGHPUT && !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let is_about = |step: &StepComparison, metric| step.own_metrics().any(|own| own == metric);
    let own = |metric| -> Vec<&StepComparison> {
        steps.iter().copied().filter(|step| is_about(step, metric)).collect()
    };
    metrics.into_iter().map(|metric| part(compared, &own(metric), metric)).collect()
}

fn part(compared: &Compared<'_>, steps: &[&StepComparison], metric: &'static str) -> Section {
    let mut tables = vec![means(compared, steps, metric)];
    let mut measured = steps.iter().flat_map(|step| &step.cells).map(|cell| cell.metric(metric));
    if measured.any(|one| one.is_some_and(|one| one.versus_base.is_some())) {
        tables.push(relative_in(compared, steps, metric));
    }
    let mut remarks = Vec::new();
    if metric == SERVER_CPU {
        tables.push(means(compared, steps, CLIENT_CPU));
        remarks.push(SHARED_CPU.to_owned());
    }
    let title = format!("{metric}: mean [min..max], then the ratio to the base [95 % interval]");
    Section { title, tables, remarks, ..Section::default() }
}

/// Returns means and ranges of one metric: a row per variant, a column per step.
fn means(compared: &Compared<'_>, steps: &[&StepComparison], metric: &str) -> Table {
    let mut table = of_variants(compared.comparison, "");
    for step in steps {
        let heading = step_heading(compared.comparison, step);
        let heading = format!("{heading}\n{}", metric_label(step, metric));
        table.figures(heading, step.cells.iter().map(|cell| bracketed_cell(metric, cell)));
    }
    table
}
