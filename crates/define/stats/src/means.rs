//! Difference of two means in their own unit.
//!
//! Ratios are compared by [`classify_difference`](crate::classify_difference()), on logarithms;
//! parts of a sum may be 0.

use model::float;
use serde::Serialize;

use crate::distribution::student::half_width;
use crate::prior::CellVariance;
use crate::sample::mean;

/// Fewest values a side for Welch's test.
///
/// Our choice: below five a variance of its own is hardly known, and the pooled one loses little
/// power.
const WELCH_FROM: usize = 5;

/// The mean of one sample less the mean of another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanDifference {
    /// Mean of the base.
    pub base: f64,
    /// Mean of the variant.
    pub variant: f64,
    /// Mean of the variant - mean of the base.
    pub difference: f64,
    /// 95 % limits of the difference; `None` with one value a side.
    pub interval: Option<(f64, f64)>,
}

impl MeanDifference {
    /// Returns whether the interval is known and leaves out 0.
    pub fn is_apart(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// Compares the means of two samples; `None` when one is empty.
///
/// The interval is Student's with the pooled variance where a side has fewer than five values, and
/// Welch's elsewhere.
///
/// Source: [Welch 1947]; the choice between the two: `WELCH_FROM`.
pub fn difference(base: &[f64], variant: &[f64]) -> Option<MeanDifference> {
    if base.is_empty() || variant.is_empty() {
        return None;
    }
    let [one, two] = [base, variant].map(CellVariance::of_values);
    let (base_mean, variant_mean) = (mean(base), mean(variant));
    let difference = variant_mean - base_mean;
    let (squared_error, df) = if base.len().min(variant.len()) < WELCH_FROM {
        let pooled = one.pooled(two);
        let per_run = 1.0 / float(base.len()) + 1.0 / float(variant.len());
        (pooled.variance * per_run, pooled.df)
    } else {
        one.welch(two)
    };
    let half = if squared_error > 0.0 { half_width(0.95, df) * squared_error.sqrt() } else { 0.0 };
    let interval = (one.df > 0.0 && two.df > 0.0).then_some((difference - half, difference + half));
    Some(MeanDifference { base: base_mean, variant: variant_mean, difference, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [Student 1908], hours of sleep gained; R's `example(t.test)` prints these limits (ours has
    /// the sign of the second group).
    #[test]
    fn the_classical_example_has_its_intervals() {
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = difference(&one, &two).unwrap();
        let (low, high) = found.interval.unwrap();
        assert!((found.difference - 1.58).abs() < 1e-12, "{found:?}");
        assert!((low + 0.205_483_2).abs() < 1e-6 && (high - 3.365_483_2).abs() < 1e-6, "{found:?}");
        assert!(!found.is_apart());
    }

    /// The first four of both groups: `ttest_ind(...).confidence_interval()` of scipy 1.17.
    #[test]
    fn few_values_pool_their_variance() {
        let found = difference(&[0.7, -1.6, -0.2, -1.2], &[1.9, 0.8, 1.1, 0.1]).unwrap();
        let (low, high) = found.interval.unwrap();
        assert!((low + 0.009_606_4).abs() < 1e-6 && (high - 3.109_606_4).abs() < 1e-6, "{found:?}");
        assert!(!found.is_apart());
    }

    #[test]
    fn interval_needs_two_values_a_side() {
        assert_eq!(difference(&[], &[1.0]), None);
        let alone = difference(&[1.0], &[3.0, 4.0]).unwrap();
        assert_eq!((alone.difference, alone.interval, alone.is_apart()), (2.5, None, false));
        let equal = difference(&[1.0, 1.0], &[3.0, 3.0]).unwrap();
        assert_eq!((equal.interval, equal.is_apart()), (Some((2.0, 2.0)), true));
    }
}
