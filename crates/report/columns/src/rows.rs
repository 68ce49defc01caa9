//! Records to rows.

use std::io::Write;

use analysis::history::step_values;
use jiff::Timestamp;
use model::record::total_counts;
use model::{IntervalRecord, Manifest, RunRecord, StepRecord};

use crate::cells::Value;
use crate::error::ColumnsError;
use crate::write::{PartWriter, TableWriter};

/// An experiment, as the table of experiments shows it.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentFacts<'a> {
    /// Directory below the archive.
    pub directory: &'a str,
    /// The manifest.
    pub manifest: &'a Manifest,
    /// Summary for listings, as JSON.
    pub summary: &'a str,
    /// Complete runs.
    pub complete: u64,
    /// Runs whose record cannot be read.
    pub damaged: u64,
}

/// A run, as the tables of runs and intervals show it.
#[derive(Debug, Clone, Copy)]
pub struct RunRows<'a> {
    /// Directory of the experiment below the archive.
    pub directory: &'a str,
    /// The manifest of the experiment.
    pub manifest: &'a Manifest,
    /// The record.
    pub run: &'a RunRecord,
    /// The intervals.
    pub intervals: &'a [IntervalRecord],
}

impl<W: Write + Send> PartWriter<W> {
    /// Adds the row of an experiment.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn add_experiment(&mut self, facts: &ExperimentFacts<'_>) -> Result<(), ColumnsError> {
        let [table, ..] = &mut self.tables;
        let ExperimentFacts { directory, manifest, .. } = *facts;
        let mut short = manifest.clone();
        short.plan.cells.clear();
        let json = serde_json::to_string(&short).ok();
        set_place(table, directory, manifest);
        table.set("created_at", time(&manifest.created_at));
        table.set("question", Some(&*manifest.plan.experiment.question));
        table.set("assay_version", Some(&*manifest.assay_version));
        table.set("host", Some(&*manifest.host.fingerprint));
        table.set("kernel", Some(&*manifest.host.kernel));
        table.set("memory_bytes", Some(manifest.host.memory_bytes.0));
        table.set("cells", Some(manifest.plan.cells.len() as u64));
        table.set("complete", Some(facts.complete));
        table.set("damaged", Some(facts.damaged));
        table.set("summary", Some(facts.summary));
        table.set("manifest", json.as_deref());
        table.end_row()
    }

    /// Adds the rows of a run.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn add_run(&mut self, rows: &RunRows<'_>) -> Result<(), ColumnsError> {
        let [_, runs, intervals] = &mut self.tables;
        for step in &rows.run.steps {
            set_run(runs, rows);
            set_step(runs, rows, step);
            runs.end_row()?;
        }
        if rows.run.steps.is_empty() {
            set_run(runs, rows);
            runs.end_row()?;
        }
        rows.intervals.iter().try_for_each(|interval| add_interval(intervals, rows, interval))
    }
}

/// Returns a stamp in microseconds; `None` where it is none.
fn time(stamp: &str) -> Option<Value> {
    Some(Value::Count(stamp.parse::<Timestamp>().ok()?.as_microsecond()))
}

/// Returns a field of an enum as it is stored.
fn stored_name(of: impl serde::Serialize, field: Option<&str>) -> Option<Value> {
    let json = serde_json::to_value(of).ok()?;
    let name = field.map_or(Some(&json), |field| json.get(field))?;
    name.as_str().map(Value::from)
}

fn set_place<W: Write + Send>(table: &mut TableWriter<W>, directory: &str, manifest: &Manifest) {
    table.set("directory", Some(directory));
    table.set("experiment", Some(&*manifest.plan.experiment.name));
    table.set("experiment_id", Some(&*manifest.id));
}

fn set_run<W: Write + Send>(table: &mut TableWriter<W>, rows: &RunRows<'_>) {
    let RunRows { directory, manifest, run, .. } = *rows;
    let identity = run.identity.as_ref().map(|identity| &*identity.version);
    let machine = run.machine.as_ref();
    set_place(table, directory, manifest);
    table.set("run", Some(&*run.cell.id));
    table.set("variant", Some(&*run.cell.variant));
    table.set("engine", Some(&*run.variant.build.engine));
    table.set("version", identity.or(run.variant.build.version.as_deref()));
    table.set("clients", Some(run.cell.clients));
    table.set("repetition", Some(run.cell.repetition));
    let host = machine.map_or(&manifest.host, |machine| &machine.host);
    table.set("host", Some(&*host.fingerprint));
    table.set("machine", machine.map(|machine| &*machine.name));
    table.set("started_at", time(&run.started_at));
    table.set("ended_at", run.ended_at.as_deref().and_then(time));
    table.set("run_end", stored_name(&run.end, Some("how")));
    table.set("is_counted", Some(run.is_counted()));
    table.set("invalid", run.invalid.as_deref());
}

fn set_step<W: Write + Send>(table: &mut TableWriter<W>, rows: &RunRows<'_>, step: &StepRecord) {
    let experiment = &rows.manifest.plan.experiment;
    table.set("step_index", Some(step.index));
    table.set("step", Some(&*step.step.name));
    table.set("step_clients", Some(step.step.clients));
    table.set("step_started_at", time(&step.started_at));
    table.set("duration_ns", Some(step.duration_ns.0));
    let invalid = step.invalid_intervals.as_ref().map_or(0, |invalid| invalid.intervals);
    table.set("invalid_intervals", Some(invalid));
    let variant = experiment.variant(&rows.run.cell.variant);
    let values = variant.map(|variant| step_values(experiment, variant, step));
    for (name, value) in values.into_iter().flatten() {
        table.set(&name, Some(value));
    }
}

fn add_interval<W: Write + Send>(
    table: &mut TableWriter<W>,
    rows: &RunRows<'_>,
    interval: &IntervalRecord,
) -> Result<(), ColumnsError> {
    set_place(table, rows.directory, rows.manifest);
    table.set("run", Some(&*rows.run.cell.id));
    table.set("variant", Some(&*rows.run.cell.variant));
    table.set("step_index", Some(interval.step_index));
    table.set("step", Some(&*interval.step));
    table.set("probe", interval.probe);
    table.set("is_warmup", Some(interval.is_warmup));
    table.set("start_ns", Some(interval.start_ns.0));
    table.set("length_ns", Some(interval.length_ns.0));
    let cause = interval.invalid.as_ref().and_then(|invalid| stored_name(invalid.cause, None));
    table.set("invalid", cause);
    table.set("done_ops", Some(total_counts(&interval.clients).done));
    for (kind, summary) in &interval.clients {
        let mut set = |name: &str, value: Value| table.set(&format!("{kind}_{name}"), Some(value));
        let response = &summary.response;
        set("done_ops", summary.counts.done.into());
        set("failed_ops", summary.counts.failed.into());
        // Without an operation there is no time.
        if response.count > 0 {
            set("response_ns_p50", model::float(response.p50_ns).into());
            set("response_ns_p99", model::float(response.p99_ns).into());
            set("response_ns_p999", model::float(response.p999_ns).into());
            set("response_ns_max", model::float(response.max_ns).into());
        }
    }
    for (name, value) in interval.readings.iter() {
        table.set(name, Some(*value));
    }
    table.end_row()
}
