//! Arithmetic on optional readings: unknown in, unknown out.

use model::{Metric, Readings, StepRecord};

use super::operations::operations;

/// Returns the sum when every part is known.
pub(super) fn sum(parts: &[Option<f64>]) -> Option<f64> {
    parts.iter().copied().sum()
}

/// Returns the quotient when both are known and the divisor is positive.
pub(super) fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| part / whole)
}

/// Returns a counter's growth per operation, when both are known.
pub fn per_op(step: &StepRecord, counter: Metric) -> Option<f64> {
    ratio(step.counters.value(counter), operations(step))
}

/// Sets costs per operation, each the growth of a counter over its divisor per operation.
pub(super) fn set_per_op(
    step: &StepRecord,
    costs: &[(Metric, Metric, f64)],
    metrics: &mut Readings,
) {
    for (cost, counter, divisor) in costs {
        metrics.set(*cost, per_op(step, *counter).map(|growth| growth / divisor));
    }
}
