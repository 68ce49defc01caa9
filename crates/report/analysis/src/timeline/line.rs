//! The time line of a step: seconds, series, activities and stalls.

use super::activity::Activity;
use super::series::TimeSeries;
use super::stall::{self, TimelineStall};

/// An activity stands out if it is this many times as frequent in stalls. Our choice.
pub(super) const LEAST_EXCESS: f64 = 2.0;

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

    /// Returns begin and end of some intervals, in seconds.
    pub fn span_s(&self, (from, to): (usize, usize)) -> (f64, f64) {
        let (last, length) = self.seconds[to - 1];
        (self.seconds[from].0, last + length)
    }

    /// Iterates over the activities that ran in a stall.
    pub fn ran_in(&self, stall: &TimelineStall) -> impl Iterator<Item = &Activity> {
        self.activities.iter().filter(move |activity| activity.is_in(stall))
    }

    /// Returns whether it ran in half of the stalls or more, and twice as often as elsewhere.
    ///
    /// A count of what coincides, no cause.
    pub fn stands_out(&self, activity: &Activity) -> bool {
        let (counted, stalled) = self.counts();
        let is_frequent = activity.excess(counted, stalled).is_some_and(|it| it >= LEAST_EXCESS);
        is_frequent && activity.stalls * 2 >= self.stalls.len() && activity.stalls > 0
    }
}
