//! Completes a step's record, of a run or of a trimmed warm-up.

use model::record::total_counts;
use model::validity::{Calibration, InvalidIntervals};
use model::{StepRecord, metric};

use super::span::Span;
use super::warning::is_usable;
use crate::validity::load_status::{OpenLoopTotals, load_status};

/// Returns `record` with the figures of its valid part, and the invalid intervals that count
/// nonetheless.
///
/// A closed loop with too many invalid intervals counts as a whole.
pub(super) fn complete(
    mut record: StepRecord,
    span: &Span,
    calibration: Option<&Calibration>,
) -> (StepRecord, Option<InvalidIntervals>) {
    let Span { account, part, .. } = span;
    let counts = total_counts(&record.clients);
    let totals = |arrivals| OpenLoopTotals {
        arrivals,
        clients: record.step.threads(record.step.clients),
        ended: counts.done + counts.failed,
        duration: record.duration_ns,
        idle_us: record.counters.value(metric::CLIENT_IDLE_US),
        backlogs: &part.backlogs,
        is_invalid: &part.is_invalid,
        calibration,
    };
    record.load_status = record.arrivals.as_ref().map(|arrivals| load_status(&totals(arrivals)));
    let is_closed = record.arrivals.is_none();
    let (counted_anyway, invalid_intervals) = match part.invalid_intervals() {
        Some(invalid_intervals) if is_closed && !is_usable(&invalid_intervals) => {
            (Some(invalid_intervals), None)
        }
        invalid_intervals => (None, invalid_intervals),
    };
    record.invalid_intervals = invalid_intervals;
    record.within_limit = part.within_limit();
    record.seconds = account.seconds(counted_anyway.is_some());
    let written = total_counts(&record.writers).bytes as f64;
    let seconds = record.duration_ns.as_secs_f64().max(1e-9);
    record.writer_bytes_per_s = (!record.writers.is_empty()).then_some(written / seconds);
    (record, counted_anyway)
}
