//! The valid seconds of a step and what was sampled in them.

use std::collections::BTreeMap;

use model::Nanos;

/// One valid second of a step's measured span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// Start, since the start of the measured span.
    pub start_ns: Nanos,
    /// Length; a second, more or less.
    pub length_ns: Nanos,
    /// Operations done per second.
    pub ops_per_s: f64,
}

/// The seconds of a step, in order; about 100 bytes each.
#[derive(Debug, Clone, Default)]
pub struct Series {
    pub(super) seconds: Vec<Second>,
    /// Other samples by metric: one value for each second, NaN where unknown.
    pub(super) others: BTreeMap<&'static str, Vec<f64>>,
}

impl Series {
    /// Adds the next second with other samples by metric.
    pub fn push(&mut self, second: Second, others: impl IntoIterator<Item = (&'static str, f64)>) {
        let before = self.seconds.len();
        self.seconds.push(second);
        for (name, value) in others {
            let values = self.others.entry(name).or_default();
            values.resize(before, f64::NAN);
            values.push(value);
        }
    }

    /// Returns the seconds.
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// Returns the operations per second of each second.
    pub(super) fn rates(&self) -> Vec<f64> {
        self.seconds.iter().map(|second| second.ops_per_s).collect()
    }

    /// Returns the length of the seconds from the `from`th on, in seconds.
    pub(super) fn length_s(&self, from: usize) -> f64 {
        self.seconds[from..].iter().map(|second| second.length_ns.as_secs_f64()).sum()
    }

    /// Returns the known values of a metric from the `from`th second on, with their times.
    pub(super) fn known(&self, values: &[f64], from: usize) -> Vec<(f64, f64)> {
        let timed = self.seconds.iter().zip(values).skip(from);
        let timed = timed.map(|(second, value)| (second.start_ns.as_secs_f64(), *value));
        timed.filter(|(_, value)| value.is_finite()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metric;

    #[test]
    fn unknown_samples_are_left_out() {
        let mut series = Series::default();
        let second = |at| Second {
            start_ns: Nanos::from_secs(at),
            length_ns: Nanos::SECOND,
            ops_per_s: 5.0,
        };
        series.push(second(0), []);
        series.push(second(1), [(metric::RSS_BYTES.name, 7.0)]);
        series.push(second(2), []);
        series.push(second(3), [(metric::RSS_BYTES.name, 8.0)]);
        let rss = &series.others[metric::RSS_BYTES.name];
        assert_eq!(series.known(rss, 0), [(1.0, 7.0), (3.0, 8.0)]);
        assert_eq!(series.known(rss, 2), [(3.0, 8.0)]);
        assert!((series.length_s(1) - 3.0).abs() < 1e-12);
    }
}
