//! One run: end, one-line summaries, times, rates and costs.

use analysis::step_metrics;
use lint::{RunContext, check_run};
use model::metric::Readings;
use model::{Manifest, RunRecord, StepRecord, metric};

use super::kinds::kinds;
use super::line::{COLUMNS, one_line, scope};
use super::open::open_loop;
use super::search::searched;
use super::time_profile::time_profiles;
use crate::comparison::fill;
use crate::figure::{MISSING, figure};
use crate::format::Style;
use crate::memory::memory;
use crate::pipeline::run_pipelined_steps;
use crate::table::{Cell, Table};
use crate::trust::finding_lines;
use crate::validity::calibration;

/// The columns of the second table: metric and heading.
const SHOWN: &[(&str, &str)] = &[
    ("throughput_ops_per_s", "ops/s"),
    ("rows_per_op", "rows\n/request"),
    ("service_ns_p50", "service\np50"),
    ("service_ns_p99", "service\np99"),
    ("service_ns_p999", "service\np99.9"),
    ("service_ns_max", "service\nmax"),
    ("cpu_us_per_op", "CPU\n/op"),
    ("server_cpu_us_per_op", "server\n/op"),
    ("client_cpu_us_per_op", "client\n/op"),
    ("background_cpu_us_per_op", "backgr.\n/op"),
    ("kernel_cpu_us_per_op", "kernel\n/op"),
    ("write_amplification", "write\namp"),
    ("write_amplification_with_wal", "with\nWAL"),
    ("space_amplification", "space\namp"),
    ("settle_s", "settle"),
];

/// Note on the times of closed loops.
const CLOSED: &str = "Closed loops: service time only, a closed loop does not measure waiting.";

/// Returns one run: head, one-line summaries with glossary, times and costs.
#[must_use]
pub fn render_run(manifest: &Manifest, run: &RunRecord, style: Style) -> String {
    let mut parts = vec![head(run)];
    if run.steps.is_empty() {
        parts.push("No step was finished.".to_owned());
        return parts.join("\n\n") + "\n";
    }
    let measured: Vec<&StepRecord> =
        run.steps.iter().filter(|step| !step.clients.is_empty()).collect();
    if !measured.is_empty() {
        let lines = lines(manifest, run, &measured).text(style.width, style.has_colour);
        parts.push(format!("{lines}\n{}", fill(scope(&measured), style.width)));
    }
    let of_steps: Vec<Readings> =
        run.steps.iter().map(|step| step_metrics(step, &manifest.plan.experiment.data)).collect();
    parts.push(times_and_costs(run, &of_steps).text(style.width, style.has_colour));
    parts.extend(measured.iter().any(|step| step.arrivals.is_none()).then(|| CLOSED.to_owned()));
    parts.extend(run_pipelined_steps(measured.iter().copied()));
    parts.extend(kinds(&measured, style));
    parts.extend(time_profiles(run, style));
    parts.extend(memory(run, &manifest.plan.experiment.data, style));
    parts.extend(run.calibration.as_ref().map(|it| fill(&calibration(it), style.width)));
    for (step, metrics) in run.steps.iter().zip(&of_steps) {
        parts.extend(step.search.as_ref().map(|search| searched(step, search, style)));
        parts.extend(step.arrivals.as_ref().map(|_| open_loop(run, step, metrics, style)));
    }
    if !measured.is_empty() {
        parts.push(glossary());
    }
    let (experiment, host) = (&manifest.plan.experiment, &manifest.host);
    let found = check_run(&RunContext { experiment, host, run, peers: 0 });
    let warnings = finding_lines(&found).into_iter().map(|line| hanging(&line, style.width));
    let warnings: Vec<String> = warnings.collect();
    if !warnings.is_empty() {
        parts.push(format!("Warnings\n{}", warnings.join("\n")));
    }
    parts.join("\n\n") + "\n"
}

/// Returns an entry of a list with a hanging indent.
fn hanging(line: &str, width: usize) -> String {
    format!("  {}", fill(line, width.saturating_sub(2)).replace('\n', "\n  "))
}

fn head(run: &RunRecord) -> String {
    let build = run.identity.as_ref().map_or_else(
        || format!("{} (never opened)", run.variant.build),
        |identity| format!("{} {} ({})", identity.engine, identity.version, identity.origin),
    );
    let class = run.variant.settings.durability;
    let mut head = format!(
        "{}\n{build} \u{b7} durability class {class} ({}) \u{b7} begun {}\n{}",
        run.id,
        class.guarantee(),
        run.started_at,
        run.end.phrase()
    );
    if let Some(reason) = &run.invalid {
        head.push_str(&format!("\nINVALID, must not be used: {reason}"));
    }
    head
}

fn lines(manifest: &Manifest, run: &RunRecord, steps: &[&StepRecord]) -> Table {
    let names = COLUMNS.iter().map(|(name, _)| *name);
    let mut table = Table::new(std::iter::once("step").chain(names));
    for step in steps {
        let mut row = vec![Cell::plain(&step.step.name)];
        row.extend(one_line(manifest, run, step).into_iter().map(|(_, value)| Cell::plain(value)));
        table.push(row);
    }
    table
}

fn times_and_costs(run: &RunRecord, of_steps: &[Readings]) -> Table {
    let is_known = |name: &str| of_steps.iter().any(|metrics| metrics.contains_key(name));
    let known: Vec<&(&str, &str)> = SHOWN.iter().filter(|(name, _)| is_known(name)).collect();
    let headings = known.iter().map(|(_, heading)| *heading);
    let mut table = Table::new(std::iter::once("step").chain(headings));
    for (step, metrics) in run.steps.iter().zip(of_steps) {
        let mut row = vec![Cell::plain(&step.step.name)];
        row.extend(known.iter().map(|(name, _)| Cell::plain(value(metrics, name))));
        table.push(row);
    }
    table
}

fn value(metrics: &Readings, name: &str) -> String {
    let shown = metrics.get(name).zip(metric::find(name));
    shown.map_or_else(|| MISSING.to_owned(), |(value, metric)| figure(metric.unit, *value))
}

fn glossary() -> String {
    let line = |(name, meaning): &(&str, &str)| format!("  {name:<6} {meaning}");
    let lines: Vec<String> = COLUMNS.iter().map(line).collect();
    format!(
        "{}\n  NA     not known; an operation is a query where clients read, else a row written",
        lines.join("\n")
    )
}
