//! Axes: linear, logarithmic, ratios.

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

/// A logarithmic axis of ratios that holds 1, as long as what it shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratios {
    low: f64,
    high: f64,
    length: f64,
}

impl Ratios {
    /// Share of the axis that is left free at each end.
    const FREE: f64 = 0.04;
    /// Beyond this quotient of its ends the marks are 1, 2 and 5 times powers of ten.
    const WIDE: f64 = 2.5;
    /// Most marks at even distances.
    const MARKS: f64 = 5.0;

    /// Returns the axis of `length` that holds 1 and all positive `values`.
    pub(crate) fn holding(values: impl IntoIterator<Item = f64>, length: f64) -> Self {
        let logs = values.into_iter().filter(|value| *value > 0.0 && value.is_finite());
        let (low, high) = logs
            .map(f64::ln)
            .fold((0.0_f64, 0.0_f64), |(low, high), log| (low.min(log), high.max(log)));
        // An axis of nothing is still an axis.
        let free = (Self::FREE * (high - low)).max(1e-4);
        Self { low: low - free, high: high + free, length }
    }

    /// Returns how far from the axis' start `value` lies, within the axis.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let log = value.max(f64::MIN_POSITIVE).ln();
        ((log - self.low) / (self.high - self.low)).clamp(0.0, 1.0) * self.length
    }

    /// Returns round ratios on the axis, ascending; 1 is among them.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let (low, high) = (self.low.exp(), self.high.exp());
        let is_on = |value: &f64| (low..=high).contains(value);
        if high / low > Self::WIDE {
            let decades = (-6..=6).map(|power| 10.0_f64.powi(power));
            let factors: &[f64] = if high / low > 30.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            return decades
                .flat_map(|decade| factors.iter().map(move |factor| factor * decade))
                .filter(is_on)
                .collect();
        }
        let least = (high - low) / Self::MARKS;
        let decade = 10.0_f64.powf(least.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|by| by * decade);
        let step = steps.into_iter().find(|step| *step >= least).unwrap_or(10.0 * decade);
        (-10_i32..=10).map(|index| 1.0 + f64::from(index) * step).filter(is_on).collect()
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

    #[test]
    fn ratios_have_round_marks_and_one_among_them() {
        let marks = |values: [f64; 2]| {
            let ticks = Ratios::holding(values, 100.0).ticks();
            ticks.iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(marks([0.98, 1.06]), "0.980 1.000 1.020 1.040 1.060");
        assert_eq!(marks([0.3, 3.6]), "0.500 1.000 2.000");
        assert_eq!(marks([0.02, 1.1]), "0.100 1.000");
        let axis = Ratios::holding([0.5, 2.0], 100.0);
        assert!((axis.at(1.0) - 50.0).abs() < 1e-9 && axis.at(0.0) < 1e-9);
    }

    proptest! {
        #[test]
        fn larger_values_never_lie_before_smaller_ones(
            values in prop::collection::vec(1e-3..1e12_f64, 2..20),
        ) {
            let linear = Linear::holding(values.iter().copied(), 200.0);
            let log = Log::holding(values.iter().copied(), 200.0).unwrap();
            let ratios = Ratios::holding(values.iter().copied(), 200.0);
            let mut ascending = values;
            ascending.sort_by(f64::total_cmp);
            for pair in ascending.windows(2) {
                prop_assert!(linear.at(pair[0]) <= linear.at(pair[1]));
                prop_assert!(ratios.at(pair[0]) <= ratios.at(pair[1]));
                prop_assert!(log.at(pair[0]) <= log.at(pair[1]) && log.at(pair[1]) <= 200.0);
            }
        }
    }
}
