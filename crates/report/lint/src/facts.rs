//! Facts of steps and runs that several rules need.

use analysis::StepComparison;
use model::metric::Readings;
use model::{Bytes, Experiment, RunRecord, Step, StepRecord, Variant};

use crate::context::ComparisonContext;

/// Steps that only read, by the names of the workload's registry.
const READING: &[&str] = &["readrandom", "readmissing", "multireadrandom", "fwdrange", "revrange"];
/// Steps without operations, by the names of the workload's registry.
const MAINTAINING: &[&str] = &["settle", "compact"];

/// Engines that are servers, by their names in `supply`.
const SERVERS: &[&str] = &["postgres", "mysql", "mariadb"];

/// Returns whether a variant is a server.
pub(crate) fn is_server(variant: &Variant) -> bool {
    variant.dsn.is_some() || SERVERS.contains(&variant.build.engine.as_str())
}

/// Returns whether a step only reads.
pub(crate) fn only_reads(step: &Step) -> bool {
    READING.contains(&step.name.as_str())
}

/// Returns whether a step has no operations.
pub(crate) fn only_maintains(step: &Step) -> bool {
    MAINTAINING.contains(&step.name.as_str())
}

/// Returns whether a step writes, with readers or without.
pub(crate) fn writes(step: &Step) -> bool {
    !only_reads(step) && !only_maintains(step)
}

/// Returns the memory that caches of any kind share: the cap, or the machine's.
pub(crate) fn memory(experiment: &Experiment, host: Option<&model::Host>) -> Option<Bytes> {
    experiment.memory_bytes.or_else(|| host.map(|host| host.memory_bytes))
}

/// Returns a reading, when it is known.
pub(crate) fn reading(readings: &Readings, name: &str) -> Option<f64> {
    readings.get(name).copied()
}

/// Returns the operations of the measured clients that were done, in the step's unit.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) fn operations(step: &StepRecord) -> Option<f64> {
    Some(analysis::primary_operations(step) as f64).filter(|done| *done > 0.0)
}

/// Returns the requests of the measured clients that were done, whatever the step's unit.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) fn requests(step: &StepRecord) -> Option<f64> {
    Some(analysis::requests(step) as f64).filter(|done| *done > 0.0)
}

/// Returns a counter's growth per operation of the measured clients, when both are known.
pub(crate) fn per_op(step: &StepRecord, counter: &str) -> Option<f64> {
    Some(reading(&step.counters, counter)? / operations(step)?)
}

/// Returns the measured span in microseconds; `None` for a step without one.
pub(crate) fn span_us(step: &StepRecord) -> Option<f64> {
    Some(step.duration_ns.as_secs_f64() * 1e6).filter(|us| *us > 0.0)
}

/// Returns the steps of a run in which operations were done.
pub(crate) fn measured(run: &RunRecord) -> impl Iterator<Item = &StepRecord> {
    run.steps.iter().filter(|step| operations(step).is_some())
}

/// The sample of one variant in one step: the step's primary metric per run.
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

/// Returns the sample behind each cell of a comparison.
///
/// Steps without operations are left out: their duration is no result.
pub(crate) fn samples<'a>(context: &ComparisonContext<'a>) -> Vec<Sample<'a>> {
    let data = &context.experiment.data;
    let mut runs: Vec<&RunRecord> = context.valid().collect();
    runs.sort_by_key(|run| (&run.started_at, &run.id));
    let value = |run: &RunRecord, step: &StepComparison, metric: &str| {
        let is_own = |record: &&StepRecord| record.index == step.index;
        let record = run.steps.iter().find(is_own)?;
        analysis::step_metrics(record, data).get(metric).copied()
    };
    let of_cell = |step: &'a StepComparison, variant: &'a str| {
        let metric = step.primary.filter(|_| !MAINTAINING.contains(&step.name.as_str()))?;
        let is_own =
            |run: &&RunRecord| run.cell.variant == variant && run.cell.clients == step.clients;
        let own = runs.iter().copied().filter(is_own);
        let runs: Vec<_> = own.filter_map(|run| Some((run, value(run, step, metric)?))).collect();
        (!runs.is_empty()).then_some(Sample { step, variant, runs })
    };
    let steps = context.comparison.steps.iter();
    let cells = steps.flat_map(|step| step.cells.iter().map(move |cell| (step, cell)));
    cells.filter_map(|(step, cell)| of_cell(step, &cell.variant)).collect()
}

/// Returns a share as a percentage: `1.2 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 1_000.0 {
        return "over 1000 %".to_owned();
    }
    let digits = if percent < 10.0 { 1 } else { 0 };
    format!("{percent:.digits$} %")
}

/// Returns a reading as a number of bytes.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
#[expect(clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn bytes(bytes: f64) -> Bytes {
    Bytes(bytes as u64)
}

#[cfg(test)]
mod tests {
    use model::StepRole;

    use super::*;
    use crate::testing;

    #[test]
    fn step_classes_are_those_of_the_workload() {
        for info in workload::catalog() {
            let step = testing::step(&info.name).step;
            assert_eq!(only_reads(&step), info.role == StepRole::Read, "{}", info.name);
            assert_eq!(only_maintains(&step), info.role == StepRole::Maintain, "{}", info.name);
        }
    }

    #[test]
    fn shares_have_two_digits_or_none() {
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.523), "52 %");
        assert_eq!(percent(1e4), "over 1000 %");
    }
}
