//! Axes: from a value to a place.

/// A linear axis from zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linear {
    max: f64,
    length: f64,
}

impl Linear {
    /// Returns the axis of `length` that just holds the largest of `values`.
    pub(crate) fn holding(values: impl IntoIterator<Item = f64>, length: f64) -> Self {
        let max = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        Self { max, length }
    }

    /// Returns the largest value on the axis.
    pub(crate) const fn max(&self) -> f64 {
        self.max
    }

    /// Returns how far from zero `value` lies, within the axis.
    pub(crate) fn at(&self, value: f64) -> f64 {
        if self.max > 0.0 { (value / self.max).clamp(0.0, 1.0) * self.length } else { 0.0 }
    }
}

/// A logarithmic axis over whole decades.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Log {
    first: i32,
    last: i32,
    length: f64,
}

impl Log {
    /// Returns the axis of `length` whose decades hold all positive `values`.
    ///
    /// `None` when there is no positive value.
    pub(crate) fn holding(values: impl IntoIterator<Item = f64>, length: f64) -> Option<Self> {
        let logs: Vec<f64> =
            values.into_iter().filter(|value| *value > 0.0).map(f64::log10).collect();
        let low = logs.iter().copied().reduce(f64::min)?.floor();
        let high = logs.iter().copied().reduce(f64::max)?.ceil().max(low + 1.0);
        Some(Self { first: whole(low), last: whole(high), length })
    }

    /// Returns how far from the axis' start `value` lies, within the axis.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let decades = f64::from(self.last - self.first);
        let share = (value.max(f64::MIN_POSITIVE).log10() - f64::from(self.first)) / decades;
        share.clamp(0.0, 1.0) * self.length
    }

    /// Iterates over the decades' values, ascending.
    pub(crate) fn decades(self) -> impl Iterator<Item = f64> {
        (self.first..=self.last).map(|power| 10.0_f64.powi(power))
    }
}

/// Returns a small whole number as an integer.
#[expect(clippy::cast_possible_truncation, reason = "decades of positive f64 are within +-400")]
fn whole(value: f64) -> i32 {
    value as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_axis_of_nothing_places_everything_at_its_start() {
        assert!(Linear::holding([], 100.0).at(5.0).abs() < 1e-9);
        assert!(Log::holding([0.0], 100.0).is_none());
    }

    #[test]
    fn a_log_axis_has_whole_decades() {
        let axis = Log::holding([1_400.0, 2e6], 300.0).unwrap();
        assert_eq!(axis.decades().count(), 5);
        assert!((axis.at(1_000.0)).abs() < 1e-9 && (axis.at(1e7) - 300.0).abs() < 1e-9);
        assert!((axis.at(1e5) - 150.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn larger_values_never_lie_before_smaller_ones(
            values in prop::collection::vec(1e-3..1e12_f64, 2..20),
        ) {
            let linear = Linear::holding(values.iter().copied(), 200.0);
            let log = Log::holding(values.iter().copied(), 200.0).unwrap();
            let mut ascending = values;
            ascending.sort_by(f64::total_cmp);
            for pair in ascending.windows(2) {
                prop_assert!(linear.at(pair[0]) <= linear.at(pair[1]));
                prop_assert!(log.at(pair[0]) <= log.at(pair[1]) && log.at(pair[1]) <= 200.0);
            }
        }
    }
}
