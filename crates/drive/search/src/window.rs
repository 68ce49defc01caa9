//! The valid intervals of a probe.

use model::{Metric, float};
use stats::Estimate;
use stats::proportion::{Block, share};

use crate::probe::{ProbeObservation, Second};

/// Largest invalid share of a probe's time; above it the whole probe is invalid.
///
/// Our choice: most of the probe must be valid.
const MAX_INVALID_SHARE: f64 = 0.25;

/// The valid part of a probe.
pub(crate) struct Window<'a> {
    observation: &'a ProbeObservation,
    /// The valid intervals, each with its end since the probe's start, seconds.
    valid: Vec<(f64, &'a Second)>,
    /// Length of all intervals, seconds.
    total_s: f64,
}

impl<'a> Window<'a> {
    /// Returns the valid part of a probe.
    pub(crate) fn of(observation: &'a ProbeObservation) -> Self {
        let mut total_s = 0.0;
        let mut valid = Vec::new();
        for second in &observation.seconds {
            total_s += second.length.as_secs_f64();
            if !second.is_invalid {
                valid.push((total_s, second));
            }
        }
        Self { observation, valid, total_s }
    }

    /// Returns the valid length, seconds.
    pub(crate) fn length_s(&self) -> f64 {
        self.valid.iter().map(|(_, second)| second.length.as_secs_f64()).sum()
    }

    /// Returns the probe's length, invalid intervals included, seconds.
    pub(crate) fn total_s(&self) -> f64 {
        self.total_s
    }

    /// Returns whether too much of the probe is invalid, or it is empty.
    pub(crate) fn is_invalid(&self) -> bool {
        self.total_s <= 0.0 || self.length_s() < (1.0 - MAX_INVALID_SHARE) * self.total_s
    }

    /// Returns the number of invalid intervals.
    pub(crate) fn invalid_count(&self) -> usize {
        self.observation.seconds.len() - self.valid.len()
    }

    /// Returns the operations that ended.
    pub(crate) fn ended(&self) -> u64 {
        self.valid.iter().map(|(_, second)| second.ended).sum()
    }

    /// Returns the operations done per second.
    pub(crate) fn throughput_ops_per_s(&self) -> f64 {
        let done = self.valid.iter().map(|(_, second)| second.done());
        per_second(done.sum(), self.length_s())
    }

    /// Returns the operations done within the limit per second.
    pub(crate) fn goodput_ops_per_s(&self) -> f64 {
        let bad = |second: &Second| second.late.max(second.failed);
        let good = self.valid.iter().map(|(_, second)| second.ended.saturating_sub(bad(second)));
        per_second(good.sum(), self.length_s())
    }

    /// Returns the throughput of each interval.
    pub(crate) fn throughputs(&self) -> Vec<f64> {
        let each = self.valid.iter().filter(|(_, second)| second.length.0 > 0);
        each.map(|(_, second)| per_second(second.done(), second.length.as_secs_f64())).collect()
    }

    /// Returns the late arrivals still unserved when the probe ended.
    ///
    /// 0 when the probe ended with an invalid interval: then they waited for the client.
    pub(crate) fn late_unserved(&self) -> u64 {
        let ends_invalid = self.observation.seconds.last().is_some_and(|second| second.is_invalid);
        if ends_invalid { 0 } else { self.observation.censored_late }
    }

    /// Returns the share of late operations; unserved arrivals are late.
    pub(crate) fn late_share(&self) -> Estimate {
        let block = |second: &Second| Block { all: float(second.ended), late: float(second.late) };
        let mut blocks: Vec<Block> = self.valid.iter().map(|(_, second)| block(second)).collect();
        if let Some(last) = blocks.last_mut() {
            last.all += float(self.late_unserved());
            last.late += float(self.late_unserved());
        }
        share(&blocks)
    }

    /// Returns a gauge over time, as `(seconds, value)`; empty when unreported.
    pub(crate) fn gauge(&self, metric: Metric) -> Vec<(f64, f64)> {
        let point = |(at, second): &(f64, &Second)| Some((*at, second.readings.value(metric)?));
        self.valid.iter().filter_map(point).collect()
    }

    /// Returns the age of the oldest waiting arrival over time, as `(seconds, seconds)`.
    pub(crate) fn backlog(&self) -> Vec<(f64, f64)> {
        self.valid.iter().map(|(at, second)| (*at, second.backlog.as_secs_f64())).collect()
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { float(count) / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{observation, with_invalid};

    #[test]
    fn invalid_intervals_are_excluded_from_every_figure() {
        let mut probe = with_invalid(observation(10, 100, 10), 2);
        probe.seconds[0].late = 100;
        let window = Window::of(&probe);
        assert_eq!((window.ended(), window.invalid_count()), (800, 2));
        assert!((window.throughput_ops_per_s() - 100.0).abs() < 1e-9);
        assert!((window.goodput_ops_per_s() - 90.0).abs() < 1e-9);
        assert!((window.late_share().value - 0.1).abs() < 1e-9);
        assert!(!window.is_invalid());
    }

    #[test]
    fn a_probe_more_than_a_quarter_invalid_is_invalid() {
        assert!(!Window::of(&with_invalid(observation(12, 100, 0), 3)).is_invalid());
        assert!(Window::of(&with_invalid(observation(12, 100, 0), 4)).is_invalid());
        assert!(Window::of(&observation(0, 0, 0)).is_invalid());
    }

    #[test]
    fn unserved_arrivals_are_late_unless_the_client_delayed_them() {
        let mut probe = observation(10, 100, 0);
        probe.censored_late = 250;
        assert!((Window::of(&probe).late_share().value - 0.2).abs() < 1e-9);
        probe.seconds[9].is_invalid = true;
        assert!(Window::of(&probe).late_share().value < 1e-9);
    }
}
