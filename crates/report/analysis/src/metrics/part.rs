//! The valid part of a step, without its invalid intervals.

use model::record::OpSummaries;
use model::{Nanos, StepRecord};

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
