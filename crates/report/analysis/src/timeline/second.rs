//! The intervals of a step's measured span, and those that count.

use model::record::IntervalRecord;
use model::{Load, Nanos, Step, StepRecord, float};
use stats::time_profile::Second;

use crate::metrics::interval_operations;

/// A step of a run that was begun, finished or not.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredStep<'a> {
    /// Position in the run.
    pub index: u32,
    /// The step as executed or, in a run that ended in it, as planned.
    pub step: &'a Step,
    /// Its record; `None` in a run that ended in it.
    pub recorded: Option<&'a StepRecord>,
}

impl<'a> From<&'a StepRecord> for MeasuredStep<'a> {
    fn from(record: &'a StepRecord) -> Self {
        Self { index: record.index, step: &record.step, recorded: Some(record) }
    }
}

impl MeasuredStep<'_> {
    /// Returns the intervals of the step's measured span.
    pub fn intervals<'i>(
        &self,
        all: &'i [IntervalRecord],
    ) -> impl Iterator<Item = &'i IntervalRecord> {
        let index = self.index;
        all.iter().filter(move |interval| interval.step_index == index && !interval.is_warmup)
    }

    /// Returns whether it is a search, whose probes differ in load.
    pub(super) const fn is_search(&self) -> bool {
        matches!(self.step.load, Load::FindRate(_) | Load::FindClients)
    }

    /// Returns whether operations have a moment at which they are due.
    pub(super) const fn has_arrivals(&self) -> bool {
        matches!(self.step.load, Load::Open(_) | Load::FindRate(_))
    }

    /// Returns whether invalid intervals count.
    fn counts_invalid(&self) -> bool {
        self.recorded.is_some_and(|record| record.invalid_intervals.is_none())
    }
}

/// Returns the whole seconds that count, with their position among the span's intervals.
///
/// Invalid ones are left out, unless the step counts them.
pub fn counted_seconds<'a>(
    step: &MeasuredStep<'_>,
    intervals: impl Iterator<Item = &'a IntervalRecord>,
) -> Vec<(usize, Second)> {
    let counts_invalid = step.counts_invalid();
    let mut begun = None;
    let second = |(at, interval): (usize, &IntervalRecord)| {
        let start_ns = interval.start_ns.since(*begun.get_or_insert(interval.start_ns));
        let length_ns = interval.length_ns;
        let is_whole = length_ns.0 >= Nanos::SECOND.0 / 10 * 9;
        let is_counted = is_whole && (counts_invalid || interval.invalid.is_none());
        let ops_per_s = float(interval_operations(step.step, interval)) / length_ns.as_secs_f64();
        is_counted.then_some((at, Second { start_ns, length_ns, ops_per_s }))
    };
    intervals.enumerate().filter_map(second).collect()
}

/// Returns start and length of each interval, in seconds.
pub(super) fn places(intervals: &[&IntervalRecord]) -> Vec<(f64, f64)> {
    let place = |start: &mut f64, interval: &&IntervalRecord| {
        let length = interval.length_ns.as_secs_f64();
        *start += length;
        Some((*start - length, length))
    };
    intervals.iter().scan(0.0, place).collect()
}
