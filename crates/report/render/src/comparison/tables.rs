//! The tables of a comparison, before they are given a format.

use analysis::{CellComparison, Comparison, Measured, StepComparison};
use model::{Metric, metric};
use stats::Verdict;

use super::insert::{MISSED, is_missed};
use crate::figure;
use crate::input::Compared;
use crate::label::{
    GOODPUT, Loading, SUSTAINABLE, THROUGHPUT, answer, counts_rows, is_sweep, level_suffix,
    loading, measured_steps, plain_steps, step_heading, variant_label, versus_cell,
};
use crate::table::{Cell, Table, Tone};

/// What one operation costs: metric and heading.
pub(crate) const COSTS: &[(&str, &str)] = &[
    ("cpu_us_per_op", "CPU/op"),
    ("server_cpu_us_per_op", "server"),
    ("client_cpu_us_per_op", "client"),
    ("background_cpu_us_per_op", "background"),
    ("kernel_cpu_us_per_op", "kernel"),
    ("server_context_switches_per_op", "server\nctx/op"),
    ("context_switches_per_op", "ctx/op"),
    ("server_reads_per_op", "server\nreads/op"),
    ("server_read_kib_per_op", "server\nread/op"),
    ("server_writes_per_op", "server\nwrites/op"),
    ("server_write_kib_per_op", "server\nwritten/op"),
    ("device_read_kib_per_op", "read/op"),
    ("device_write_kib_per_op", "written/op"),
    ("heap_fetches_per_op", "base rows\nfetched/op"),
    ("commits_per_fsync", "commits\n/sync"),
    ("write_amplification", "write amp"),
    ("read_amplification", "blocks/read"),
    ("space_amplification", "space amp"),
    ("rss_peak_bytes", "rss"),
    ("rss_per_cache", "rss/cache"),
];

/// Costs of worker and device, left out where a server has counters of its own.
const REPLACED_BY_SERVER: &[&str] = &[
    "background_cpu_us_per_op",
    "kernel_cpu_us_per_op",
    "context_switches_per_op",
    "device_read_kib_per_op",
    "device_write_kib_per_op",
    "rss_peak_bytes",
    "rss_per_cache",
];

/// Costs of whole runs: metric and heading.
pub(crate) const OF_RUNS: &[(&str, &str)] = &[
    ("write_amplification_process", "bytes written\nper byte put"),
    ("space_amplification", "size on\ndisk/data"),
];

/// Returns medians and ranges of throughput: a row per variant, a column per measured step.
pub(crate) fn absolute(comparison: &Comparison) -> Table {
    let steps = plain_steps(comparison);
    let heading = |step: &&StepComparison| {
        let rows = if counts_rows(step) { "\nrows/s" } else { "" };
        format!("{}{rows}", step_heading(comparison, step))
    };
    let headings = steps.iter().map(heading);
    let mut table = Table::new(["".to_owned(), "n".to_owned()].into_iter().chain(headings));
    for (index, variant) in comparison.variants.iter().enumerate() {
        let mut row = vec![Cell::plain(variant_label(comparison, &variant.name))];
        row.push(Cell::plain(runs_counted(&steps, index)));
        row.extend(steps.iter().map(|step| bracketed_cell(THROUGHPUT, &step.cells[index])));
        table.push(row);
    }
    table
}

/// Returns throughput relative to the base, with intervals; the base has no row.
pub(crate) fn relative(compared: &Compared<'_>) -> Table {
    relative_in(compared, &plain_steps(compared.comparison), THROUGHPUT)
}

/// Returns a metric of these steps relative to the base, likewise.
pub(super) fn relative_in(
    compared: &Compared<'_>,
    steps: &[&StepComparison],
    metric: &str,
) -> Table {
    let comparison = compared.comparison;
    let headings = steps.iter().map(|step| step_heading(comparison, step));
    let mut table = Table::new(std::iter::once(String::new()).chain(headings));
    for (index, variant) in comparison.variants.iter().enumerate() {
        if variant.name == comparison.base {
            continue;
        }
        let mut row = vec![Cell::plain(variant_label(comparison, &variant.name))];
        let ratio = |step: &&StepComparison| match &step.cells[index] {
            cell if is_missed(step, &comparison.base, cell) => missed_cell(),
            cell => ratio_cell(compared, metric, cell),
        };
        row.extend(steps.iter().map(ratio));
        table.push(row);
    }
    table
}

/// Returns the medians of what an operation of `step` costs; `None` when no cost is known.
pub(crate) fn costs(compared: &Compared<'_>, step: &StepComparison) -> Option<Table> {
    let comparison = compared.comparison;
    let has = |name: &str| step.cells.iter().any(|cell| cell.metric(name).is_some());
    let is_all_served = step
        .cells
        .iter()
        .all(|cell| cell.metrics.is_empty() || cell.metric("server_cpu_us_per_op").is_some());
    let is_shown = |name: &str| has(name) && !(is_all_served && REPLACED_BY_SERVER.contains(&name));
    let known: Vec<&(&str, &str)> = COSTS.iter().filter(|(name, _)| is_shown(name)).collect();
    if known.is_empty() {
        return None;
    }
    let headings = known.iter().map(|(_, heading)| (*heading).to_owned());
    let first = step_heading(comparison, step);
    let mut table = Table::new(std::iter::once(first).chain(headings));
    for cell in &step.cells {
        let mut row = vec![Cell::plain(variant_label(comparison, &cell.variant))];
        row.extend(known.iter().map(|(name, _)| cost_cell(compared, name, cell)));
        table.push(row);
    }
    Some(table)
}

/// Returns each step's figure and ratio side by side, then the costs of whole runs.
///
/// The levels of a sweep have their own table.
pub(crate) fn runs_table(compared: &Compared<'_>) -> Table {
    let comparison = compared.comparison;
    let columns: Vec<Column<'_>> =
        measured_steps(comparison).into_iter().flat_map(|step| columns(comparison, step)).collect();
    let mut header = vec![String::new()];
    for column in &columns {
        header.extend([column.heading.clone(), "\nvs base".to_owned()]);
    }
    let several = comparison.runs.len() > 1;
    let is_known = |name: &str| {
        let mut cells = comparison.runs.iter().flat_map(|runs| &runs.cells);
        cells.any(|cell| cell.metric(name).is_some())
    };
    let is_wanted = |name: &str| is_known(name) && !is_sweep(comparison);
    let of_runs: Vec<_> = OF_RUNS.iter().filter(|(name, _)| is_wanted(name)).collect();
    for runs in &comparison.runs {
        let suffix = if several { level_suffix(runs.clients) } else { String::new() };
        header.extend(of_runs.iter().map(|(_, heading)| format!("{heading}{suffix}")));
    }
    let mut table = Table::new(header);
    for (index, variant) in comparison.variants.iter().enumerate() {
        let mut row = vec![Cell::plain(variant_label(comparison, &variant.name))];
        for column in &columns {
            let measured = column.step.cells[index].metric(column.metric);
            let shown = median_cell(column.metric, measured);
            let cell = &column.step.cells[index];
            row.push(if cell.has_missed_rate() { shown.set_aside() } else { shown });
            row.push(match is_missed(column.step, &comparison.base, cell) {
                true => missed_cell(),
                false => versus_cell(compared, find(column.metric).better, measured),
            });
        }
        for runs in &comparison.runs {
            let cell = &runs.cells[index];
            row.extend(of_runs.iter().map(|(name, _)| median_cell(name, cell.metric(name))));
        }
        table.push(row);
    }
    table
}

/// A figure of a step that has a ratio to the base.
struct Column<'a> {
    step: &'a StepComparison,
    metric: &'static str,
    heading: String,
}

/// Returns the main figures of a step: throughput, unless the experiment or a search sets it.
fn columns<'a>(comparison: &Comparison, step: &'a StepComparison) -> Vec<Column<'a>> {
    let heading = step_heading(comparison, step);
    let column =
        |metric, what: &str| Column { step, metric, heading: format!("{heading}\n{what}") };
    match loading(step) {
        Loading::Closed if is_sweep(comparison) => Vec::new(),
        Loading::Closed => {
            let (metric, what) = answer(step);
            vec![column(metric, what)]
        }
        Loading::Searched => vec![column(SUSTAINABLE, "highest rate")],
        Loading::Given => {
            let known = [column(GOODPUT, "goodput/s"), column("response_ns_p999", "p99.9")];
            let is_known =
                |one: &Column<'_>| step.cells.iter().any(|cell| cell.metric(one.metric).is_some());
            known.into_iter().filter(is_known).collect()
        }
    }
}

/// Returns the metric of that name.
pub(super) fn find(name: &str) -> &'static Metric {
    metric::find(name).expect("names in this file are names of the model's table")
}

fn missed_cell() -> Cell {
    Cell { text: MISSED.to_owned(), tone: Tone::Grey }
}

/// Returns a median with its range, in brackets where the insert rate was missed.
pub(super) fn bracketed_cell(metric: &str, cell: &CellComparison) -> Cell {
    let shown = spread_cell(metric, cell);
    if cell.has_missed_rate() { shown.set_aside() } else { shown }
}

/// Returns the number of runs of a row: `3`, or `2-3` when the steps differ.
fn runs_counted(steps: &[&StepComparison], variant: usize) -> String {
    let counts = || steps.iter().map(|step| step.cells[variant].runs);
    match (counts().min(), counts().max()) {
        (Some(fewest), Some(most)) if fewest != most => format!("{fewest}-{most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

pub(super) fn median_cell(name: &str, measured: Option<&Measured>) -> Cell {
    let text = measured.map(|one| figure::figure(find(name).unit, one.spread.median));
    Cell::plain(text.unwrap_or_else(|| figure::MISSING.to_owned()))
}

pub(super) fn spread_cell(name: &str, cell: &CellComparison) -> Cell {
    let Some(measured) = cell.metric(name) else { return Cell::plain(figure::MISSING) };
    let unit = find(name).unit;
    let median = figure::figure(unit, measured.spread.median);
    if measured.spread.n < 2 {
        return Cell::plain(median);
    }
    Cell::plain(format!("{median} [{}]", figure::range(unit, &measured.spread)))
}

/// Returns a ratio to the base with its 95 % interval.
pub(super) fn ratio_cell(compared: &Compared<'_>, name: &str, cell: &CellComparison) -> Cell {
    let measured = cell.metric(name);
    let mut shown = versus_cell(compared, find(name).better, measured);
    if let Some(interval) = measured.and_then(|one| one.versus_base?.interval) {
        shown.text.push_str(&format!(" {}", figure::interval(&interval)));
    }
    shown
}

/// Returns a median with a sign only where the verdict is that it is above or below the base's.
fn cost_cell(compared: &Compared<'_>, name: &str, cell: &CellComparison) -> Cell {
    let measured = cell.metric(name);
    let mut shown = median_cell(name, measured);
    let versus = measured.and_then(|one| one.versus_base);
    let is_apart = |versus: &stats::Effect| {
        matches!(compared.verdict(versus), Some(Verdict::Above | Verdict::Below))
    };
    let versus = versus.filter(is_apart);
    match versus {
        Some(versus) => {
            shown.text.push_str(&format!(" {}", figure::sign(&versus)));
            shown.tone = compared.tone(find(name).better, &versus);
        }
        // Aligns the figures of a column.
        None => shown.text.push_str("  "),
    }
    shown
}
