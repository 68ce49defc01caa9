//! One run: end, one-line summaries, times, rates and costs.

use std::collections::BTreeMap;

use analysis::step_metrics;
use lint::{LintFinding, RunContext, check_run, has_rule};
use model::metric::Readings;
use model::{CpuCount, Manifest, OpKind, RunRecord, StepRecord, metric};
use serde::Serialize;
use serde_json::{Value, json};

use super::availability::availability;
use super::client_hosts::client_hosts;
use super::failed::{failed, holds};
use super::kinds::kinds;
use super::line::{COLUMNS, Column, cpus, is_of_device, number, one_line, scope};
use super::open::open_loop;
use super::origin;
use super::procedures::procedures;
use super::profiles::profiles;
use super::search::searched;
use super::statements::statements;
use super::time_profile::time_profiles;
use super::waits::waits;
use crate::comparison::REQUESTS;
use crate::document::{Document, Part, Table, known, merged};
use crate::figure::figure;
use crate::format::{Format, Style};
use crate::memory::memory;
use crate::pipeline::run_pipelined_steps;
use crate::report::Report;
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
    ("kernel_cpu_us_per_op", "worker's\nkernel/op"),
    ("wal_bytes_per_op", "log\n/op"),
    ("wal_page_images_per_op", "page\nimages/op"),
    ("binlog_bytes_per_op", "binlog\n/op"),
    ("write_back_kib_per_op", "written\nback/op"),
    ("doublewrite_kib_per_op", "doublewrite\n/op"),
    ("bytes_written_per_byte_put", "bytes written\nper byte put"),
    ("bytes_written_per_byte_put_min", "bytes written\nat least"),
    ("write_amplification_process", "to storage\nper byte put"),
    ("write_amplification", "data\nfiles"),
    ("write_amplification_with_wal", "with\nWAL"),
    ("space_amplification", "space\namp"),
    ("settle_s", "settle"),
    ("settle_cpu_us_per_op", "settle\nCPU/op"),
    ("settle_read_kib_per_op", "settle\nread/op"),
    ("settle_write_kib_per_op", "settle\nwritten/op"),
];

/// Note on the times of closed loops.
const CLOSED: &str = "Closed loops show service time only, because a closed loop does not measure \
                      waiting.";

/// Note on steps whose settle is not measured apart.
const WITH_SETTLE: &str = "Recorded by an older version: reads, writes, CPU and context switches \
                           include the settling after";

/// Scope of the one-line summaries where intervals are invalid.
const ALL_INTERVALS: &str =
    " Invalid intervals are in these lines, not in the rates and times below.";

/// One run: head, one-line summaries with glossary, times and costs.
#[derive(Debug, Clone, Copy)]
pub struct RunReport<'a> {
    /// The experiment's manifest.
    pub manifest: &'a Manifest,
    /// The run.
    pub run: &'a RunRecord,
}

impl Report for RunReport<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut document = Document::from([head(self.run)]);
        if self.run.steps.is_empty() {
            document.add([Part::Text("No step was finished.".to_owned())]);
        } else {
            steps(&mut document, self.manifest, self.run);
        }
        document
    }

    fn data(&self) -> impl Serialize {
        let run = self.run;
        json!({
            "id": run.id,
            "end": run.end.phrase(),
            "is_complete": run.end.is_complete() && run.is_counted(),
            "steps": run.steps.iter().map(|step| measured(self.manifest, run, step)).collect::<Value>(),
            "findings": findings(self.manifest, run),
            // As `record.json` has it.
            "record": run,
        })
    }
}

/// Returns a step for programs; without a line where clients run no operation.
fn measured(manifest: &Manifest, run: &RunRecord, step: &StepRecord) -> Value {
    let cpus = cpus(manifest, run);
    let number = |name: &'static str| (name, number(cpus, step, name));
    let columns = COLUMNS.iter().filter(|(name, _)| *name != "tag");
    let line: BTreeMap<_, _> = columns.map(|(name, _)| number(name)).collect();
    let line = (!step.clients.is_empty()).then(|| json!({ "line": line }));
    let head = json!({ "step": step.step.name, "step_index": step.index });
    let metrics = json!({ "metrics": step_metrics(step, &manifest.plan.experiment.data) });
    let events = (!step.events.is_empty()).then(|| json!({ "events": step.events }));
    merged([head].into_iter().chain(line).chain([metrics]).chain(events))
}

fn findings(manifest: &Manifest, run: &RunRecord) -> Vec<LintFinding> {
    let (experiment, host) = (&manifest.plan.experiment, run.host_or(&manifest.host));
    check_run(&RunContext { experiment, host, run, peers: 0, has_rule })
}

fn steps(document: &mut Document, manifest: &Manifest, run: &RunRecord) {
    let data = &manifest.plan.experiment.data;
    let measured: Vec<&StepRecord> =
        run.steps.iter().filter(|step| !step.clients.is_empty()).collect();
    if !measured.is_empty() {
        let is_invalid =
            |step: &&StepRecord| step.invalid_intervals.as_ref().is_some_and(|it| it.intervals > 0);
        let all = measured.iter().any(is_invalid).then_some(ALL_INTERVALS);
        let scope = format!("{}{}", scope(run, &measured), all.unwrap_or_default());
        document.add([Part::Table(lines(manifest, run, &measured)), Part::Text(scope)]);
    }
    let of_steps: Vec<Readings> = run.steps.iter().map(|step| step_metrics(step, data)).collect();
    document.add([Part::Table(table_of(run, &of_steps, SHOWN))]);
    if of_steps.iter().any(|metrics| REQUESTS.iter().any(|(name, _)| metrics.contains_key(*name))) {
        document.add([Part::Table(table_of(run, &of_steps, REQUESTS))]);
    }
    document.add(with_settle(&measured).map(Part::Text));
    let has_closed = measured.iter().any(|step| step.arrivals.is_none());
    document.add(has_closed.then(|| Part::Text(CLOSED.to_owned())));
    document.add(run_pipelined_steps(measured.iter().copied()).map(Part::Text));
    document.add(kinds(&measured));
    let application = manifest.plan.experiment.application.as_ref();
    document.add(procedures(&measured, application));
    document.add(failed(&measured));
    document.add(holds(&measured));
    document.add(availability(&measured));
    document.add(waits(&measured, &run.client_hosts));
    document.add(profiles(&run.steps));
    document.add(statements(&measured));
    document.add(time_profiles(run));
    document.append(memory(run, data));
    document.add(client_hosts(manifest, run));
    document.add(run.calibration.as_ref().map(|it| Part::Text(calibration(it))));
    for (step, metrics) in run.steps.iter().zip(&of_steps) {
        document.add(step.search.iter().flat_map(|search| searched(step, search)));
        document.add(step.arrivals.iter().flat_map(|_| open_loop(run, step, metrics)));
    }
    if !measured.is_empty() {
        let unknown = "not known; an operation is a query if clients read, and otherwise a written \
                       row";
        let meanings = shown_columns(run).map(|(_, column)| *column).chain([("NA", unknown)]);
        document.add([Part::facts(meanings.map(|(name, meaning)| (name, meaning.to_owned())))]);
    }
    let warnings = Part::Items(finding_lines(&findings(manifest, run)));
    document.add(Part::title("Warnings").above([warnings]));
}

fn head(run: &RunRecord) -> Vec<Part> {
    let build = run.identity.as_ref().map_or_else(
        || format!("{} (never opened)", run.variant.build),
        |identity| format!("{} {} ({})", identity.engine, identity.version, identity.origin),
    );
    let class = run.variant.settings.durability;
    let facts = format!(
        "{build} \u{b7} durability class {class} ({}) \u{b7} begun {}",
        class.guarantee(),
        run.started_at
    );
    let mut lines = vec![facts, run.end.phrase()];
    lines.extend(run.machine.as_ref().map(|machine| format!("on machine {}", machine.name)));
    lines.extend(rests_on(run));
    lines.extend(ways(run));
    lines.extend(origin::load(run));
    lines.extend(run.drive.as_deref().and_then(origin::drive));
    let failed_check = run.has_failed_check().then(|| run.end.phrase());
    let reasons = run.invalid.iter().chain(&failed_check);
    lines.extend(reasons.map(|why| format!("INVALID, must not be used: {why}")));
    vec![Part::Heading(1, run.id.clone()), Part::Sentences(lines)]
}

/// Returns what the durability class rests on, as it was read back; `None` where nothing was.
fn rests_on(run: &RunRecord) -> Option<String> {
    let bases = &run.durability.as_ref()?.bases;
    let evidence: Vec<&str> =
        bases.iter().map(|basis| basis.evidence.trim_end_matches(',')).collect();
    (!evidence.is_empty()).then(|| format!("durability rests on {}", evidence.join(", ")))
}

/// Returns how the engine changes and reads parts of values; `None` where the run does neither.
fn ways(run: &RunRecord) -> Option<String> {
    let facts = &run.identity.as_ref()?.facts;
    let kinds = [OpKind::PartialUpdate, OpKind::FieldRead, OpKind::Append].map(OpKind::name);
    let ways = kinds.iter().filter_map(|kind| Some(format!("{kind} {}", facts.get(*kind)?)));
    let ways: Vec<String> = ways.collect();
    (!ways.is_empty()).then(|| format!("parts of values: {}", ways.join(", ")))
}

fn lines(manifest: &Manifest, run: &RunRecord, steps: &[&StepRecord]) -> Table {
    let lines: Vec<_> = steps.iter().map(|step| one_line(manifest, run, step)).collect();
    let mut table = Table::named("step", steps.iter().map(|step| step.step.name.as_str()));
    for (at, (name, _)) in shown_columns(run) {
        table.figures(*name, lines.iter().map(|line| line[at].1.as_str()));
    }
    table
}

/// Iterates over the columns but the device's, which are shown where a server's are not known.
fn shown_columns(run: &RunRecord) -> impl Iterator<Item = (usize, &'static Column)> {
    let mut steps = run.steps.iter();
    let has_device = steps.any(|step| number(CpuCount::of(1), step, "dev_wps").is_some());
    let all = COLUMNS.iter().enumerate();
    all.filter(move |(_, (name, _))| has_device || !is_of_device(name))
}

fn table_of(run: &RunRecord, of_steps: &[Readings], metrics: &[(&str, &str)]) -> Table {
    let mut table = Table::named("step", run.steps.iter().map(|step| step.step.name.as_str()));
    for (name, heading) in metrics {
        if of_steps.iter().any(|metrics| metrics.contains_key(*name)) {
            table.figures(*heading, of_steps.iter().map(|metrics| value(metrics, name)));
        }
    }
    table
}

/// Returns the note on steps whose counters include their settle; `None` without any.
fn with_settle(steps: &[&StepRecord]) -> Option<String> {
    let named = steps.iter().filter(|step| step.counters_include_settle());
    let names: Vec<&str> = named.map(|step| step.step.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("{WITH_SETTLE} {}.", names.join(", ")))
}

fn value(metrics: &Readings, name: &str) -> String {
    let shown = metrics.get(name).zip(metric::find(name));
    known(shown.map(|(value, metric)| figure(metric.unit, *value)))
}
