//! Mean, median and range of a sample of runs.

use model::{float, whole};
use serde::Serialize;

/// Mean, median and range of one metric over the runs that have it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Runs counted, >= 1.
    pub n: u32,
    /// The mean, which is printed: see [`mean_of_runs`].
    pub mean: f64,
    /// The median, for what holds in most runs.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of `values`; `None` when there is no finite value.
    ///
    /// Source: [`mean_of_runs`] and [`median`]; the range is the first and the last order
    /// statistic.
    pub fn of(values: &[f64]) -> Option<Self> {
        let finite = sorted(values);
        Some(Self {
            n: u32::try_from(finite.len()).unwrap_or(u32::MAX),
            mean: mean_of_runs(&finite)?,
            median: middle(&finite)?,
            min: *finite.first()?,
            max: *finite.last()?,
        })
    }

    /// Returns whether the two ranges have a value in common.
    ///
    /// Source: comparison of the order statistics of both samples; it is not a test.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }
}

/// An estimate with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

/// Returns a quantile of values; `None` without values.
///
/// `share` is from 0 (the smallest) to 1 (the largest).
///
/// Source: definition 7 [Hyndman Fan 1996].
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values);
    let place = share * float(sorted.len().checked_sub(1)?);
    let below = usize::try_from(whole(place.floor())).ok()?;
    let (low, high) = (sorted.get(below)?, sorted.get(below + 1).or(sorted.last())?);
    Some(low + (high - low) * place.fract())
}

/// Returns the median of the finite values; `None` without finite values.
///
/// An even number of values gives the mean of the two in the middle.
///
/// Source: definition 7 at p = 1/2 [Hyndman Fan 1996].
pub fn median(values: &[f64]) -> Option<f64> {
    middle(&sorted(values))
}

/// Returns the geometric mean; `None` unless all values are positive.
///
/// Source: [Hardy Littlewood Polya 1934, section 2.1].
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let is_positive = values.iter().all(|value| *value > 0.0 && value.is_finite());
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (is_positive && !values.is_empty()).then(|| (logs / float(values.len())).exp())
}

/// Returns the geometric mean, or the arithmetic one unless all values are positive.
///
/// A ratio of two geometric means is that of [`classify_difference`](crate::classify_difference()),
/// paired or not; where a value is 0 there is no such ratio. `None` without values.
///
/// Source: [`geometric_mean`]; the arithmetic mean elsewhere is our choice, as one 0 among many
/// values would make the geometric mean 0.
pub fn mean_of_runs(values: &[f64]) -> Option<f64> {
    let known = geometric_mean(values).or_else(|| (!values.is_empty()).then(|| mean(values)))?;
    // Of equal values the logarithms would change the last digit.
    let [low, high] = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of));
    Some(known.max(low?).min(high?))
}

/// Returns the mean; NaN of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

/// Returns the finite values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    finite
}

/// Returns the median of ascending values.
pub(crate) fn middle(ascending: &[f64]) -> Option<f64> {
    let upper = ascending.len() / 2;
    let above = *ascending.get(upper)?;
    if ascending.len() % 2 == 1 {
        return Some(above);
    }
    // Halved before the sum, so that two large values cannot overflow.
    Some(ascending[upper - 1] / 2.0 + above / 2.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn values_that_are_no_numbers_are_not_counted() {
        let spread = Spread::of(&[f64::NAN, 2.0, f64::INFINITY]).unwrap();
        assert_eq!(spread, Spread { n: 1, mean: 2.0, median: 2.0, min: 2.0, max: 2.0 });
        assert_eq!(Spread::of(&[f64::NAN]), None);
    }

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        assert!((geometric_mean(&[4.0, 0.25]).unwrap() - 1.0).abs() < 1e-12);
        assert!((geometric_mean(&[1.0, 10.0, 100.0]).unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn the_mean_of_runs_is_geometric_unless_a_run_gave_0() {
        assert!((mean_of_runs(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(mean_of_runs(&[0.0, 4.0]), Some(2.0));
        assert_eq!((mean_of_runs(&[]), mean_of_runs(&[0.1; 3])), (None, Some(0.1)));
    }

    proptest! {
        #[test]
        fn half_of_the_values_lie_on_each_side(
            values in prop::collection::vec(-1e9..1e9_f64, 1..40),
        ) {
            let median = median(&values).unwrap();
            let below = values.iter().filter(|&&value| value < median).count();
            let above = values.iter().filter(|&&value| value > median).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }

        #[test]
        fn order_does_not_matter_and_scale_does(
            mut values in prop::collection::vec(1e-3..1e9_f64, 1..40), factor in 1u32..9,
        ) {
            let spread = Spread::of(&values).unwrap();
            prop_assert!(spread.min <= spread.median && spread.median <= spread.max);
            prop_assert!(spread.min <= spread.mean && spread.mean <= spread.max);
            values.reverse();
            prop_assert_eq!(Spread::of(&values), Some(spread));
            let factor = f64::from(factor);
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let scaled = Spread::of(&scaled).unwrap();
            let error = (scaled.median - spread.median * factor).abs();
            prop_assert!(error <= 1e-9 * scaled.median);
        }

        #[test]
        fn overlap_is_symmetric(
            a in prop::collection::vec(0.0..10.0_f64, 1..5),
            b in prop::collection::vec(0.0..10.0_f64, 1..5),
        ) {
            let (a, b) = (Spread::of(&a).unwrap(), Spread::of(&b).unwrap());
            prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
            prop_assert!(a.overlaps(&a));
        }
    }
}
