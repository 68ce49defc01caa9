//! Columns with one value in each record: name, type, meaning, and where the value is.
//!
//! To add a column to a table, add its line here. Columns of metrics and of kinds of operations
//! follow, see `schema`.

use jiff::Timestamp;
use model::record::total_counts;
use model::{IntervalRecord, Manifest, RunRecord, StepRecord};
use serde::Serialize;

use crate::cells::Value;
use crate::column::{Column, ColumnKind};

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

/// A step of a run; `None` for a run without a finished step.
#[derive(Clone, Copy)]
pub(crate) struct StepRow<'a> {
    pub(crate) directory: &'a str,
    pub(crate) manifest: &'a Manifest,
    pub(crate) run: &'a RunRecord,
    pub(crate) step: Option<&'a StepRecord>,
}

/// An interval of a run.
#[derive(Clone, Copy)]
pub(crate) struct IntervalRow<'a> {
    pub(crate) directory: &'a str,
    pub(crate) manifest: &'a Manifest,
    pub(crate) run: &'a RunRecord,
    pub(crate) interval: &'a IntervalRecord,
}

/// A column and the function that returns its value in a row.
pub(crate) struct Field<F> {
    name: &'static str,
    kind: ColumnKind,
    meaning: &'static str,
    pub(crate) value: F,
}

impl<F> Field<F> {
    pub(crate) fn column(&self) -> Column {
        Column::new(self.name, self.kind, self.meaning)
    }
}

/// Declares the columns of a table, after those of the place that every table has.
macro_rules! fields {
    ($table:ident of $row:ident $it:ident: $($name:literal $kind:ident $value:expr, $meaning:literal;)*) => {
        pub(crate) const $table: &[Field<fn(&$row<'_>) -> Option<Value>>] = &[
            Field {
                name: "directory",
                kind: ColumnKind::Text,
                meaning: "directory of the experiment below the archive: NAME/IDENTIFIER",
                value: |$it| Some($it.directory.into()),
            },
            Field {
                name: "experiment",
                kind: ColumnKind::Text,
                meaning: "name of the experiment",
                value: |$it| Some((&*$it.manifest.plan.experiment.name).into()),
            },
            Field {
                name: "experiment_id",
                kind: ColumnKind::Text,
                meaning: "identifier of the experiment",
                value: |$it| Some((&*$it.manifest.id).into()),
            },
            $(Field {
                name: $name,
                kind: ColumnKind::$kind,
                meaning: $meaning,
                value: |$it| Some($value.into()),
            },)*
        ];
    };
}

fields! { EXPERIMENTS of ExperimentFacts it:
    "created_at" Time time(&it.manifest.created_at)?, "when the experiment was begun";
    "question" Text &*it.manifest.plan.experiment.question, "question of the experiment";
    "assay_version" Text &*it.manifest.assay_version, "version of Assay that began the experiment";
    "host" Text &*it.manifest.host.fingerprint, "fingerprint of the host of the manifest";
    "kernel" Text &*it.manifest.host.kernel, "kernel of this host";
    "memory_bytes" Count it.manifest.host.memory_bytes.0, "memory of this host, in bytes";
    "cells" Count it.manifest.plan.cells.len() as u64, "planned runs";
    "complete" Count it.complete, "complete runs";
    "damaged" Count it.damaged, "runs whose record cannot be read; these runs have no rows";
    "summary" Text it.summary, "JSON of `assay list --format json`";
    "manifest" Text &*short(it.manifest)?, "JSON of the manifest without the plan's list of runs";
}

fields! { RUNS of StepRow it:
    "run" Text &*it.run.cell.id, "identifier of the run in its experiment";
    "variant" Text &*it.run.cell.variant, "name of the variant";
    "engine" Text &*it.run.variant.build.engine, "engine of the variant";
    "version" Text version(it.run)?,
        "version that the engine reports; before it was opened, the planned version";
    "clients" Count it.run.cell.clients, "level of the factor clients";
    "repetition" Count it.run.cell.repetition, "repetition, which is also the block of the run";
    "host" Text &*it.run.machine.as_ref().map_or(&it.manifest.host, |machine| &machine.host)
        .fingerprint, "fingerprint of the host that did the run";
    "machine" Text &*it.run.machine.as_ref()?.name,
        "name of the machine in its fleet; null for a run on the host of the manifest";
    "started_at" Time time(&it.run.started_at)?, "when the run began";
    "ended_at" Time time(it.run.ended_at.as_deref()?)?, "when the run ended";
    "run_end" Text stored_name(&it.run.end, Some("how"))?,
        "how the run ended: complete, failed, crashed and others, as in record.json";
    "is_counted" Flag it.run.is_counted(),
        "whether the figures of the run count: its client was in time and its answers were right";
    "invalid" Text it.run.invalid.as_deref()?, "why the run is invalid";
    "step_index" Count it.step?.index,
        "position of the step in the run, from 0; null without a finished step";
    "step" Text &*it.step?.step.name, "name of the step";
    "step_clients" Count it.step?.step.clients, "clients of the step";
    "step_started_at" Time time(&it.step?.started_at)?,
        "when the measured span of the step began";
    "duration_ns" Count it.step?.duration_ns.0, "length of the measured span, in nanoseconds";
    "invalid_intervals" Count
        it.step?.invalid_intervals.as_ref().map_or(0, |invalid| invalid.intervals),
        "invalid intervals of the step";
}

fields! { INTERVALS of IntervalRow it:
    "run" Text &*it.run.cell.id, "identifier of the run in its experiment";
    "variant" Text &*it.run.cell.variant, "name of the variant";
    "step_index" Count it.interval.step_index, "position of the step in the run, from 0";
    "step" Text &*it.interval.step, "name of the step";
    "probe" Count it.interval.probe?, "probe of a search, from 0; null outside of searches";
    "is_warmup" Flag it.interval.is_warmup, "whether the interval belongs to the warm-up";
    "start_ns" Count it.interval.start_ns.0,
        "start of the interval since the start of the step or probe, in nanoseconds";
    "length_ns" Count it.interval.length_ns.0, "length of the interval, in nanoseconds";
    "invalid" Text stored_name(it.interval.invalid.as_ref()?.cause, None)?,
        "cause of the client's delay in an invalid interval";
    "done_ops" Count total_counts(&it.interval.clients).done,
        "operations of all kinds that the measured clients completed";
}

/// Returns a stamp in microseconds; `None` where it is none.
fn time(stamp: &str) -> Option<Value> {
    Some(Value::Count(stamp.parse::<Timestamp>().ok()?.as_microsecond()))
}

/// Returns a value, or a field of it, as it is stored.
fn stored_name(of: impl Serialize, field: Option<&str>) -> Option<Value> {
    let json = serde_json::to_value(of).ok()?;
    let name = field.map_or(Some(&json), |field| json.get(field))?;
    name.as_str().map(Value::from)
}

fn version(run: &RunRecord) -> Option<&str> {
    let identity = run.identity.as_ref().map(|identity| &*identity.version);
    identity.or(run.variant.build.version.as_deref())
}

fn short(manifest: &Manifest) -> Option<String> {
    let mut short = manifest.clone();
    short.plan.cells.clear();
    serde_json::to_string(&short).ok()
}
