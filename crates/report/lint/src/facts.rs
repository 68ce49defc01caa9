//! Facts of steps and runs that several rules need.

use std::collections::BTreeSet;

use analysis::{CellComparison, Comparison, StepComparison};
use model::{
    Bytes, DataShape, Dialect, Experiment, RunRecord, StepRecord, StepRole, Variant, float, whole,
};

/// Returns the block of a run: its experiment and its repetition.
pub(crate) fn block(run: &RunRecord) -> (&str, u32) {
    (run.id.rsplit_once('/').map_or("", |(experiment, _)| experiment), run.cell.repetition)
}

/// Returns whether a variant is a server.
pub(crate) fn is_server(variant: &Variant) -> bool {
    variant.dsn.is_some() || Dialect::of_engine(&variant.build.engine).is_some()
}

/// Returns the memory that caches of any kind share: the cap or the machine's, the smaller one.
pub(crate) fn memory(experiment: &Experiment, host: Option<&model::Host>) -> Option<Bytes> {
    experiment.memory_bytes.into_iter().chain(host.map(|host| host.memory_bytes)).min()
}

/// Returns the operations of the measured clients that were done, in the step's unit.
pub(crate) fn operations(step: &StepRecord) -> Option<f64> {
    Some(float(analysis::primary_operations(step))).filter(|done| *done > 0.0)
}

/// Returns the requests of the measured clients that were done, whatever the step's unit.
pub(crate) fn requests(step: &StepRecord) -> Option<f64> {
    Some(float(analysis::requests(step))).filter(|done| *done > 0.0)
}

/// Returns the measured span in microseconds; `None` for a step without one.
pub(crate) fn span_us(step: &StepRecord) -> Option<f64> {
    Some(step.counted_ns().as_micros_f64()).filter(|us| *us > 0.0)
}

/// Returns the span of the host's counters in microseconds; `None` for a step without one.
pub(crate) fn sampled_us(step: &StepRecord) -> Option<f64> {
    Some(step.sampled_ns().as_micros_f64()).filter(|us| *us > 0.0)
}

/// Returns the steps of a run in which operations were done.
pub(crate) fn measured(run: &RunRecord) -> impl Iterator<Item = &StepRecord> {
    run.steps.iter().filter(|step| operations(step).is_some())
}

/// The sample of one variant in one step, on one machine: the step's primary metric per run.
#[derive(Debug)]
pub(crate) struct Sample<'a> {
    /// The step, at one level of clients.
    pub(crate) step: &'a StepComparison,
    /// The variant.
    pub(crate) variant: &'a str,
    /// The runs that have the metric, in the order of execution, with its value.
    pub(crate) runs: Vec<(&'a RunRecord, f64)>,
}

impl Sample<'_> {
    /// Returns the values alone.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.runs.iter().map(|(_, value)| *value).collect()
    }
}

/// Returns the sample behind each cell of a comparison, and of several machines one for each.
///
/// Steps without operations are left out: their duration is no result.
pub(crate) fn samples<'a>(
    comparison: &'a Comparison,
    mut runs: Vec<&'a RunRecord>,
    data: &DataShape,
) -> Vec<Sample<'a>> {
    runs.sort_by_key(|run| (&run.started_at, &run.id));
    let value = |run: &RunRecord, step: &StepComparison, metric: &str| {
        let is_own = |record: &&StepRecord| record.index == step.index;
        let record = run.steps.iter().find(is_own)?;
        let is_measured = record.role() != StepRole::Maintain;
        // Most primary metrics are rates, which are few.
        let rate = analysis::rate_metrics(record).get(metric).copied();
        let other = || analysis::step_metrics(record, data).get(metric).copied();
        rate.or_else(other).filter(|_| is_measured)
    };
    let machines: BTreeSet<Option<&str>> = runs.iter().map(|run| machine(run)).collect();
    let of_cell = |step: &'a StepComparison, variant: &'a str, on: Option<&str>| {
        let metric = step.primary?;
        let is_own = |run: &&RunRecord| {
            let is_cell = run.cell.variant == variant && run.cell.clients == step.clients.level;
            is_cell && machine(run) == on
        };
        let own = runs.iter().copied().filter(is_own);
        let runs: Vec<_> = own.filter_map(|run| Some((run, value(run, step, metric)?))).collect();
        (!runs.is_empty()).then_some(Sample { step, variant, runs })
    };
    let steps = comparison.steps.iter();
    let cells = steps.flat_map(|step| step.cells.iter().map(move |cell| (step, cell)));
    let of_machines = |(step, cell): (&'a StepComparison, &'a CellComparison)| {
        machines.iter().filter_map(move |on| of_cell(step, &cell.variant, *on))
    };
    cells.flat_map(of_machines).collect()
}

/// Returns the name of the machine of a fleet that did a run.
fn machine(run: &RunRecord) -> Option<&str> {
    run.machine.as_ref().map(|machine| machine.name.as_str())
}

/// Returns a reading as a number of bytes.
pub(crate) fn bytes(bytes: f64) -> Bytes {
    Bytes(whole(bytes))
}
