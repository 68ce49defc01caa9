//! The tables of a comparison, before they are given a format.

use analysis::{CellComparison, Comparison, Measured, StepComparison};
use model::{Metric, Unit, metric};
use stats::{Spread, Verdict};

use crate::document::{Cell, Table, Tone, known};
use crate::figure::{self, ratio_to_zero};
use crate::input::Compared;
use crate::label::{
    GOODPUT, Loading, SUSTAINABLE, THROUGHPUT, counts_rows, is_sweep, loading, metric_label,
    plain_steps, runs_suffix, step_heading, variant_label,
};

/// All that the engine wrote; where only a lower bound is known, that is shown, marked.
const WRITTEN: Metric = metric::BYTES_WRITTEN_PER_BYTE_PUT;

/// Mark of a lower bound.
const AT_LEAST: &str = "\u{2265}";

/// Placeholder of a ratio where background writers missed their rate.
const MISSED: &str = "(missed)";

/// Returns the lower bound of a metric of which nothing else is known.
pub(crate) fn lower_bound<'a>(name: &str, cell: &'a CellComparison) -> Option<&'a Measured> {
    let is_unknown = name == WRITTEN.name && cell.metric(name).is_none();
    is_unknown.then(|| cell.metric(metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN)).flatten()
}

/// Returns whether a metric or its lower bound is known.
pub(super) fn is_known(name: &str, cell: &CellComparison) -> bool {
    cell.metric(name).or_else(|| lower_bound(name, cell)).is_some()
}

/// Returns what the figures of bytes written are; `None` where no run has any.
pub(crate) fn written_legend(comparison: &Comparison) -> Option<String> {
    let cells = || comparison.runs.iter().flat_map(|runs| &runs.cells);
    let bound = match cells().any(|cell| lower_bound(WRITTEN.name, cell).is_some()) {
        true => format!(
            "   {AT_LEAST} lower bound: the engine also writes without write calls, and does not \
             count all bytes that it writes"
        ),
        false => String::new(),
    };
    cells().any(|cell| is_known(WRITTEN.name, cell)).then(|| {
        format!(
            "bytes written per byte put: by the engine, including the log   to storage: the whole \
             pages that these bytes changed; the page cache absorbs a page's rewrites until its \
             write-back{bound}"
        )
    })
}

/// Returns whether a cell has no ratio because background writers missed their rate.
pub(crate) fn is_missed(step: &StepComparison, base: &str, cell: &CellComparison) -> bool {
    let of_base = step.cells.iter().filter(|one| one.variant == base);
    cell.variant != base && of_base.chain([cell]).any(CellComparison::has_missed_rate)
}

/// What one operation costs, and writes also per row put: metric and heading.
pub(crate) const COSTS: &[(&str, &str)] = &[
    ("cpu_us_per_op", "CPU/op"),
    ("server_cpu_us_per_op", "server"),
    ("client_cpu_us_per_op", "client"),
    ("background_cpu_us_per_op", "background"),
    ("kernel_cpu_us_per_op", "worker's\nkernel"),
    ("server_context_switches_per_op", "server\nctx/op"),
    ("context_switches_per_op", "ctx/op"),
    ("server_reads_per_op", "server\nreads/op"),
    ("server_read_kib_per_op", "server\nread/op"),
    ("server_writes_per_op", "server\nwrites/op"),
    ("server_write_kib_per_op", "server\nwritten/op"),
    ("server_writes_per_row_put", "server\nwrites/row"),
    ("server_write_kib_per_row_put", "server\nwritten/row"),
    ("device_reads_per_op", "device\nreads/op"),
    ("device_read_kib_per_op", "device\nread/op"),
    ("device_writes_per_op", "device\nwrites/op"),
    ("device_write_kib_per_op", "device\nwritten/op"),
    ("device_writes_per_row_put", "device\nwrites/row"),
    ("device_write_kib_per_row_put", "device\nwritten/row"),
    ("wal_bytes_per_op", "log\nbytes/op"),
    ("wal_page_images_per_op", "page\nimages/op"),
    ("binlog_bytes_per_op", "binlog\nbytes/op"),
    ("write_back_kib_per_op", "written\nback/op"),
    ("doublewrite_kib_per_op", "doublewrite\n/op"),
    ("heap_fetches_per_op", "base rows\nfetched/op"),
    ("commits_per_fsync", "commits\n/sync"),
    ("settle_cpu_us_per_op", "settle\nCPU/op"),
    ("settle_read_kib_per_op", "settle\nread/op"),
    ("settle_write_kib_per_op", "settle\nwritten/op"),
    (WRITTEN.name, "bytes written\nper byte put"),
    ("write_amplification_process", "to storage\nper byte put"),
    ("write_amplification", "data files\nper byte put"),
    ("read_amplification", "blocks/read"),
    ("space_amplification", "space amp"),
    ("rss_peak_bytes", "rss"),
    ("rss_per_cache", "rss/cache"),
    ("memtable_hit_share", "memtable\nhits"),
];

/// Requests of the device: metric and heading, as iostat has them.
pub(crate) const REQUESTS: &[(&str, &str)] = &[
    ("device_read_await_us", "r_await"),
    ("device_write_await_us", "w_await"),
    ("device_flush_await_us", "f_await"),
    ("device_read_size_kib", "rareq-sz"),
    ("device_write_size_kib", "wareq-sz"),
    ("device_read_merged_share", "rrqm"),
    ("device_write_merged_share", "wrqm"),
    ("device_queue_length", "aqu-sz"),
    ("device_busy_share", "util"),
];

/// Costs of worker and device, left out if the server's own counters replace them.
const REPLACED_BY_SERVER: &[&str] = &[
    "background_cpu_us_per_op",
    "kernel_cpu_us_per_op",
    "context_switches_per_op",
    "device_reads_per_op",
    "device_read_kib_per_op",
    "rss_peak_bytes",
    "rss_per_cache",
];

/// Costs of whole runs: metric and heading.
pub(crate) const OF_RUNS: &[(&str, &str)] = &[
    (WRITTEN.name, "bytes written\nper byte put"),
    ("write_amplification_process", "to storage\nper byte put"),
    ("space_amplification", "size on\ndisk/data"),
];

/// Returns a table with a row per variant, without columns.
pub(super) fn of_variants(comparison: &Comparison, heading: impl Into<String>) -> Table {
    let names = comparison.variants.iter().map(|one| variant_label(comparison, &one.name));
    Table::named(heading, names)
}

/// Returns means and ranges of throughput: a row per variant, a column per measured step.
pub(crate) fn absolute(comparison: &Comparison) -> Table {
    let steps = plain_steps(comparison);
    let mut table = of_variants(comparison, "");
    let variants = 0..comparison.variants.len();
    table.figures("n", variants.map(|variant| runs_counted(&steps, variant)));
    for step in &steps {
        let rows = if counts_rows(step) { "\nrows/s" } else { "" };
        let cells = step.cells.iter().map(|cell| bracketed_cell(THROUGHPUT, cell));
        table.figures(format!("{}{rows}", step_heading(comparison, step)), cells);
    }
    table
}

/// Returns a metric of these steps relative to the base; the base has no row.
pub(super) fn relative_in(
    compared: &Compared<'_>,
    steps: &[&StepComparison],
    metric: &str,
) -> Table {
    let mut table = Table::named("", not_base(compared.comparison));
    for step in steps {
        let ratios = ratio_cells(compared, step, metric);
        table.figures(step_heading(compared.comparison, step), ratios);
    }
    table
}

/// Returns the metrics that each step is about relative to the base: a column per step and metric.
pub(crate) fn ratios(compared: &Compared<'_>) -> Table {
    let comparison = compared.comparison;
    let mut table = Table::named("", not_base(comparison));
    for step in plain_steps(comparison).into_iter().filter(|step| comparison.has_headline(step)) {
        for metric in step.own_metrics() {
            let heading = step_heading(comparison, step);
            let heading = format!("{heading}\n{}", metric_label(step, metric));
            table.figures(heading, ratio_cells(compared, step, metric));
        }
    }
    table
}

/// Returns a metric's ratio to the base in one step, of all variants but the base.
fn ratio_cells(compared: &Compared<'_>, step: &StepComparison, metric: &str) -> Vec<Cell> {
    let base = &compared.comparison.base;
    let others = step.cells.iter().filter(|cell| cell.variant != *base);
    others.map(|cell| versus_cell(compared, step, metric, cell)).collect()
}

/// Returns the labels of all variants but the base.
pub(super) fn not_base(comparison: &Comparison) -> impl Iterator<Item = String> {
    let others = comparison.variants.iter().filter(|one| one.name != comparison.base);
    others.map(|one| variant_label(comparison, &one.name))
}

/// Returns the means of what an operation of `step` costs; `None` when no cost is known.
pub(crate) fn costs(compared: &Compared<'_>, step: &StepComparison) -> Option<Table> {
    let has = |name: &str| step.cells.iter().any(|cell| cell.metric(name).is_some());
    let is_all_served = step
        .cells
        .iter()
        .all(|cell| cell.metrics.is_empty() || cell.metric("server_cpu_us_per_op").is_some());
    // Some control groups count no writes: the device's are all there is.
    let is_replaced = |name: &str| match name.strip_prefix("device_write") {
        Some(rest) => has(&format!("server_write{rest}")),
        None => REPLACED_BY_SERVER.contains(&name),
    };
    table_of(compared, step, COSTS, |name| !(is_all_served && is_replaced(name)))
}

/// Returns the means of the device's requests in `step`; `None` where it had none.
pub(crate) fn requests(compared: &Compared<'_>, step: &StepComparison) -> Option<Table> {
    table_of(compared, step, REQUESTS, |_| true)
}

/// Returns the means of those of `metrics` that are known and shown: a row per variant.
fn table_of(
    compared: &Compared<'_>,
    step: &StepComparison,
    metrics: &[(&str, &str)],
    is_shown: impl Fn(&str) -> bool,
) -> Option<Table> {
    let has = |name: &str| step.cells.iter().any(|cell| is_known(name, cell));
    let known: Vec<_> = metrics.iter().filter(|(name, _)| has(name) && is_shown(name)).collect();
    let mut table = of_variants(compared.comparison, step_heading(compared.comparison, step));
    for (name, heading) in &known {
        table.figures(*heading, step.cells.iter().map(|cell| cost_cell(compared, name, cell)));
    }
    (!known.is_empty()).then_some(table)
}

/// Returns each step's figure and ratio side by side, then the costs of whole runs.
///
/// Ranges and intervals are details. The levels of a sweep have their own table.
pub(crate) fn runs_table(compared: &Compared<'_>, steps: &[&StepComparison]) -> Table {
    let comparison = compared.comparison;
    let mut table = of_variants(comparison, "");
    for (step, (metric, what)) in steps
        .iter()
        .flat_map(|step| columns(comparison, step).into_iter().map(move |it| (step, it)))
    {
        let heading = format!("{}\n{what}", step_heading(comparison, step));
        let count = |cell: &CellComparison| {
            let is_single = cell.metric(metric).is_some_and(|one| one.spread.n == 1);
            if is_single { "n=1" } else { "" }
        };
        let mean = |cell: &CellComparison| match spread_cell(metric, cell) {
            shown if cell.has_missed_rate() => {
                Cell::new(format!("({})", shown.text), Tone::Grey).with(shown.detail)
            }
            shown if shown.detail.is_empty() => shown.with(count(cell)),
            shown => shown,
        };
        table.figures(heading, step.cells.iter().map(mean));
        if comparison.variants.len() > 1 {
            let versus = |cell| versus_cell(compared, step, metric, cell);
            table.figures("\nvs base", step.cells.iter().map(versus));
        }
    }
    for runs in comparison.runs.iter().filter(|_| !is_sweep(comparison)) {
        let suffix = runs_suffix(comparison, runs.clients);
        for (name, heading) in OF_RUNS {
            let mut cells = comparison.runs.iter().flat_map(|runs| &runs.cells);
            if cells.any(|cell| is_known(name, cell)) {
                let cells = runs.cells.iter().map(|cell| mean_cell(name, cell));
                table.figures(format!("{heading}{suffix}"), cells);
            }
        }
    }
    table
}

/// Returns the main figures of a step, with headings: throughput, unless that is set.
fn columns(comparison: &Comparison, step: &StepComparison) -> Vec<(&'static str, String)> {
    let known = |name: &'static str, heading: &str| {
        let is_known = step.cells.iter().any(|cell| cell.metric(name).is_some());
        is_known.then(|| (name, heading.to_owned()))
    };
    if !comparison.has_headline(step) {
        return Vec::new();
    }
    match loading(step) {
        Loading::Closed if is_sweep(comparison) => Vec::new(),
        Loading::Searched if step.answers.is_empty() => {
            vec![(SUSTAINABLE, "highest rate".to_owned())]
        }
        Loading::Given if step.answers.is_empty() => {
            let all = [known(GOODPUT, "goodput/s"), known("response_ns_p999", "p99.9")];
            all.into_iter().flatten().collect()
        }
        Loading::Closed | Loading::Searched | Loading::Given => {
            step.own_metrics().map(|name| (name, metric_label(step, name))).collect()
        }
    }
}

/// Returns the metric of that name.
pub(super) fn find(name: &str) -> &'static Metric {
    metric::find(name).expect("names in this file are names of the model's table")
}

/// Returns a ratio to the base in a step, or that background writers missed their rate.
fn versus_cell(
    compared: &Compared<'_>,
    step: &StepComparison,
    metric: &str,
    cell: &CellComparison,
) -> Cell {
    match is_missed(step, &compared.comparison.base, cell) {
        true => Cell::new(MISSED, Tone::Grey),
        false => ratio_cell(compared, metric, cell, &step.cells),
    }
}

/// Returns a mean with its range, in brackets where the insert rate was missed.
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

/// Returns a metric's mean, or its lower bound with a mark.
pub(crate) fn mean_cell(name: &str, cell: &CellComparison) -> Cell {
    let shown = |one: &Measured| figure::figure(find(name).unit, one.spread.mean);
    let bound = || Some(format!("{AT_LEAST}{}", shown(lower_bound(name, cell)?)));
    known(cell.metric(name).map(shown).or_else(bound)).into()
}

/// Returns a metric's mean with its range.
pub(super) fn spread_cell(name: &str, cell: &CellComparison) -> Cell {
    with_range(find(name).unit, cell.metric(name).map(|one| one.spread))
}

/// Returns a mean with its range.
pub(super) fn with_range(unit: Unit, spread: Option<Spread>) -> Cell {
    let shown = Cell::from(known(spread.map(|spread| figure::figure(unit, spread.mean))));
    match spread.filter(|spread| spread.n > 1) {
        Some(spread) => shown.with(format!("[{}]", figure::range(unit, &spread))),
        None => shown,
    }
}

/// Returns a ratio to the base among `cells`, with its 95 % interval.
pub(super) fn ratio_cell(
    compared: &Compared<'_>,
    name: &str,
    cell: &CellComparison,
    cells: &[CellComparison],
) -> Cell {
    let Some(measured) = cell.metric(name) else { return figure::MISSING.into() };
    let Some(versus) = &measured.versus_base else {
        let base = cells.iter().find(|one| one.variant == compared.comparison.base);
        let base = base.filter(|one| one.variant != cell.variant).and_then(|one| one.metric(name));
        let text = base.and_then(|base| ratio_to_zero(measured.spread.mean, base.spread.mean));
        return text.unwrap_or_default().into();
    };
    let interval = versus.interval.as_ref().map(figure::interval);
    Cell::new(compared.versus(versus), compared.tone(find(name).better, versus))
        .with(interval.unwrap_or_default())
}

/// Returns a mean with a sign only where the verdict is that it is above or below the base's.
pub(super) fn cost_cell(compared: &Compared<'_>, name: &str, cell: &CellComparison) -> Cell {
    let measured = cell.metric(name);
    let mut shown = mean_cell(name, cell);
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
