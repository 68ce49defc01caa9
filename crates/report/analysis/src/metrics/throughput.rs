//! Throughput: operations and rows per second, of the valid part of a step.

use model::record::OpSummaries;
use model::{Nanos, OpUnit, Readings, StepRecord, float, metric};

use super::operations::ratio;

/// Sets throughput over the valid intervals, and over single seconds.
///
/// The record's statistics of single seconds include invalid ones: with any, they are left out.
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    if step.clients.is_empty() {
        return;
    }
    let seconds = Some(valid_length(step).as_secs_f64());
    let rows: u64 = valid_clients(step).values().map(|summary| summary.counts.rows).sum();
    metrics.set(metric::THROUGHPUT_OPS_PER_S, operations_per_s(step));
    metrics.set(metric::THROUGHPUT_ROWS_PER_S, ratio(Some(float(rows)), seconds));
    if step.seconds.seconds > 0 && step.invalid_intervals.is_none() {
        metrics.set(metric::THROUGHPUT_P50_OPS_PER_S, Some(step.seconds.p50_ops));
        metrics.set(metric::THROUGHPUT_P1_OPS_PER_S, Some(step.seconds.p1_ops));
    }
}

/// Returns operations per second, in the step's unit.
///
/// A known number of rows spans the whole step, invalid intervals included.
fn operations_per_s(step: &StepRecord) -> Option<f64> {
    let (of, length) = match step.step.unit {
        OpUnit::Operation | OpUnit::Row => (valid_clients(step), valid_length(step)),
        OpUnit::Rows(_) => (&step.clients, step.duration_ns),
    };
    ratio(Some(float(step.step.unit.done(of))), Some(length.as_secs_f64()))
}

/// Returns requests per second in valid intervals, as an open loop's rate counts them.
pub(crate) fn requests_per_s(step: &StepRecord) -> Option<f64> {
    let done = float(OpUnit::Operation.done(valid_clients(step)));
    ratio(Some(done), Some(valid_length(step).as_secs_f64()))
}

/// Returns counts and times of the clients in valid intervals.
pub(crate) fn valid_clients(step: &StepRecord) -> &OpSummaries {
    step.invalid_intervals
        .as_ref()
        .map_or(&step.clients, |invalid_intervals| &invalid_intervals.valid)
}

/// Returns the length of the valid intervals.
pub(crate) fn valid_length(step: &StepRecord) -> Nanos {
    step.invalid_intervals
        .as_ref()
        .map_or(step.duration_ns, |invalid_intervals| invalid_intervals.valid_ns)
}

/// Returns the operations within the limit in valid intervals.
pub(crate) fn valid_within_limit(step: &StepRecord) -> Option<u64> {
    step.invalid_intervals
        .as_ref()
        .map_or(step.within_limit, |invalid_intervals| invalid_intervals.within_limit)
}
