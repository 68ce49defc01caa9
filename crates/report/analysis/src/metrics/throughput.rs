//! Throughput: operations and rows per second.

use model::{OpUnit, StepRecord};

use super::derived::{Derived, float, ratio};
use super::part::{valid_clients, valid_length};

/// Sets throughput over the valid intervals, and over single seconds.
///
/// The record's statistics of single seconds include invalid ones: with any, they are left out.
pub(super) fn set(step: &StepRecord, metrics: &mut Derived) {
    if step.clients.is_empty() {
        return;
    }
    let seconds = Some(valid_length(step).as_secs_f64());
    let rows = valid_clients(step).values().map(|summary| summary.counts.rows).sum();
    metrics.set("throughput_ops_per_s", operations_per_s(step));
    metrics.set("throughput_rows_per_s", ratio(Some(float(rows)), seconds));
    if step.seconds.seconds > 0 && step.invalid_intervals.is_none() {
        metrics.set("throughput_p50_ops_per_s", Some(step.seconds.p50_ops));
        metrics.set("throughput_p1_ops_per_s", Some(step.seconds.p1_ops));
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
