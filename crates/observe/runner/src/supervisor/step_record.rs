//! Assembles a step's record, of a run or of a trimmed warm-up.

use model::record::OpSummaries;
use model::validity::{ArrivalsRecord, Calibration, InvalidIntervals};
use model::{Buckets, Nanos, Readings, StepRecord, metric};

use super::span::Span;
use super::warning::is_usable;
use crate::tally::{bytes_per_s, ended_of};
use crate::validity::load_status::{OpenLoopTotals, load_status};

/// The measurements of a step.
pub(super) struct Measurements<'a> {
    pub(super) span: &'a Span,
    pub(super) duration: Nanos,
    pub(super) clients: OpSummaries,
    pub(super) writers: OpSummaries,
    pub(super) buckets: Buckets,
    pub(super) counters: Readings,
    pub(super) gauges_max: Readings,
    /// How the arrivals were served; `None` in a closed loop.
    pub(super) arrivals: Option<ArrivalsRecord>,
    pub(super) calibration: Option<&'a Calibration>,
}

impl Measurements<'_> {
    /// Returns `rest` with the measurements, and the invalid intervals that count nonetheless.
    ///
    /// A closed loop with too many invalid intervals counts as a whole.
    pub(super) fn complete(self, rest: StepRecord) -> (StepRecord, Option<InvalidIntervals>) {
        let Span { account, part, .. } = self.span;
        let totals = |arrivals| OpenLoopTotals {
            arrivals,
            clients: rest.step.clients,
            ended: ended_of(&self.clients),
            duration: self.duration,
            idle_us: self.counters.value(metric::CLIENT_IDLE_US),
            backlogs: &part.backlogs,
            is_invalid: &part.is_invalid,
            calibration: self.calibration,
        };
        let load_status = self.arrivals.as_ref().map(|arrivals| load_status(&totals(arrivals)));
        let is_closed = self.arrivals.is_none();
        let (counted_anyway, invalid_intervals) = match part.invalid_intervals() {
            Some(invalid_intervals) if is_closed && !is_usable(&invalid_intervals) => {
                (Some(invalid_intervals), None)
            }
            invalid_intervals => (None, invalid_intervals),
        };
        let writer_bytes_per_s =
            (!self.writers.is_empty()).then(|| bytes_per_s(&self.writers, self.duration));
        let record = StepRecord {
            duration_ns: self.duration,
            writer_bytes_per_s,
            clients: self.clients,
            writers: self.writers,
            buckets: self.buckets,
            seconds: account.seconds(counted_anyway.is_some()),
            counters: self.counters,
            gauges_max: self.gauges_max,
            arrivals: self.arrivals,
            load_status,
            within_limit: part.within_limit(),
            invalid_intervals,
            ..rest
        };
        (record, counted_anyway)
    }
}
