//! Records to rows.

use std::io::Write;

use analysis::history::step_values;
use model::{IntervalRecord, Manifest, RunRecord, float};

use crate::error::ColumnsError;
use crate::fields::{EXPERIMENTS, ExperimentFacts, INTERVALS, IntervalRow, RUNS, StepRow};
use crate::write::{PartWriter, TableWriter};

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
        table.set_own(EXPERIMENTS.iter().map(|field| (field.value)(facts)));
        table.end_row()
    }

    /// Adds the rows of a run.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn add_run(&mut self, rows: &RunRows<'_>) -> Result<(), ColumnsError> {
        let [_, runs, intervals] = &mut self.tables;
        let RunRows { directory, manifest, run, .. } = *rows;
        if run.steps.is_empty() {
            add_step(runs, StepRow { directory, manifest, run, step: None })?;
        }
        for step in &run.steps {
            add_step(runs, StepRow { directory, manifest, run, step: Some(step) })?;
        }
        let row = |interval| IntervalRow { directory, manifest, run, interval };
        rows.intervals.iter().try_for_each(|interval| add_interval(intervals, row(interval)))
    }
}

fn add_step<W: Write + Send>(
    table: &mut TableWriter<W>,
    row: StepRow<'_>,
) -> Result<(), ColumnsError> {
    table.set_own(RUNS.iter().map(|field| (field.value)(&row)));
    let experiment = &row.manifest.plan.experiment;
    let variant = experiment.variant(&row.run.cell.variant);
    let values =
        variant.zip(row.step).map(|(variant, step)| step_values(experiment, variant, step));
    for (name, value) in values.into_iter().flatten() {
        table.set(&name, value);
    }
    table.end_row()
}

fn add_interval<W: Write + Send>(
    table: &mut TableWriter<W>,
    row: IntervalRow<'_>,
) -> Result<(), ColumnsError> {
    table.set_own(INTERVALS.iter().map(|field| (field.value)(&row)));
    for (kind, summary) in &row.interval.clients {
        let response = &summary.response;
        table.set(&format!("{kind}_done_ops"), summary.counts.done);
        table.set(&format!("{kind}_failed_ops"), summary.counts.failed);
        // Without an operation there is no time.
        if response.count > 0 {
            for (name, ns) in [
                ("p50", response.p50_ns),
                ("p99", response.p99_ns),
                ("p999", response.p999_ns),
                ("max", response.max_ns),
            ] {
                table.set(&format!("{kind}_response_ns_{name}"), float(ns));
            }
        }
    }
    for (name, value) in row.interval.readings.iter() {
        table.set(name, *value);
    }
    table.end_row()
}
