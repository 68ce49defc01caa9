//! One step of one run, second by second: series, activities, stalls.
//!
//! A stall is shown with what ran at that moment, and how many of all seconds had that too: an
//! association, never a cause.
//!
//! To add a series, add its line to `series.rs`; an activity, to `activity.rs`.

mod activity;
mod second;
mod series;
mod stall;

pub use activity::Activity;
pub use second::{MeasuredStep, counted_seconds};
pub use series::TimeSeries;
pub use stall::TimelineStall;

use model::IntervalRecord;

/// A step of a run, second by second.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Start of each interval since the start of the measured span, and its length, in seconds.
    ///
    /// Probes of a search follow each other without their warm-ups.
    pub seconds: Vec<(f64, f64)>,
    /// Whether each interval counts: whole and valid.
    pub is_counted: Vec<bool>,
    /// What is known of each second; throughput and p99 first.
    pub series: Vec<TimeSeries>,
    /// What ran or was unusual; what stands out in the stalls comes first.
    pub activities: Vec<Activity>,
    /// Seconds of far lower throughput or far higher p99.
    pub stalls: Vec<TimelineStall>,
}

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
    timeline.activities = activity::all(&timeline, &own);
    Some(timeline)
}

impl Timeline {
    /// Returns how many seconds count, and how many of these are in a stall.
    pub fn counts(&self) -> (usize, usize) {
        let both = self.is_counted.iter().zip(self.stalled());
        let all = self.is_counted.iter().filter(|is_counted| **is_counted).count();
        (all, both.filter(|(is_counted, is_stalled)| **is_counted && *is_stalled).count())
    }

    /// Returns whether each interval is in a stall.
    pub fn stalled(&self) -> Vec<bool> {
        stall::stalled(self.seconds.len(), &self.stalls)
    }
}

#[cfg(test)]
mod tests;
