//! The time line of one step of one run.

use analysis::{MeasuredStep, Timeline, timeline};
use model::{IntervalRecord, RunRecord};

/// One step of one run with its intervals.
#[derive(Debug)]
pub struct RunTimeline<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// The step.
    pub step: MeasuredStep<'a>,
    /// Its time line.
    pub timeline: Timeline,
}

impl<'a> RunTimeline<'a> {
    /// Returns the time line of a step; `None` when it has no interval.
    pub fn of(
        run: &'a RunRecord,
        step: MeasuredStep<'a>,
        intervals: &[IntervalRecord],
    ) -> Option<Self> {
        let timeline = timeline(&step, intervals)?;
        Some(Self { run, step, timeline })
    }
}
