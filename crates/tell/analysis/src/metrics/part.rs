//! The part of a step that counts: all of it, or what its voided intervals leave.

use model::record::OpSummaries;
use model::{Nanos, StepRecord};

/// Returns counts and times of the measured clients in the intervals that count.
pub(crate) fn valid_clients(step: &StepRecord) -> &OpSummaries {
    step.voided.as_ref().map_or(&step.clients, |voided| &voided.valid)
}

/// Returns the length of the intervals that count.
pub(crate) fn valid_length(step: &StepRecord) -> Nanos {
    step.voided.as_ref().map_or(step.duration_ns, |voided| voided.valid_ns)
}

/// Returns the operations within the limit in the intervals that count.
pub(crate) fn valid_within_limit(step: &StepRecord) -> Option<u64> {
    step.voided.as_ref().map_or(step.within_limit, |voided| voided.within_limit)
}
