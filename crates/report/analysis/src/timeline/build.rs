//! Builds the time line of a step from its intervals.

use model::IntervalRecord;

use super::line::Timeline;
use super::second::{MeasuredStep, counted_seconds};
use super::{ran, second, series, stall};

/// Returns the time line of a step; `None` without intervals.
pub fn timeline(step: &MeasuredStep<'_>, intervals: &[IntervalRecord]) -> Option<Timeline> {
    let own: Vec<&IntervalRecord> = step.intervals(intervals).collect();
    let seconds = second::places(&own);
    seconds.last()?;
    let counted = counted_seconds(step, own.iter().copied());
    let mut is_counted = vec![false; own.len()];
    counted.iter().for_each(|(at, _)| is_counted[*at] = true);
    let series = series::all(step, &own);
    let stalls = match step.is_search() {
        true => Vec::new(),
        false => stall::find(&counted, &series),
    };
    let mut timeline = Timeline { seconds, is_counted, series, activities: Vec::new(), stalls };
    timeline.activities = ran::all(&timeline, &own);
    Some(timeline)
}
