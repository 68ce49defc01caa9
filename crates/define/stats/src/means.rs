//! Difference of two means in their own unit.
//!
//! Ratios are compared by [`classify_difference`](crate::classify_difference()), on logarithms;
//! parts of a sum may be 0.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest values a side for Welch's test.
///
/// Our choice: below five a variance of its own is hardly known, and the pooled one loses little
/// power.
const WELCH_FROM: usize = 5;

/// The mean of one sample less that of another.
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
    let (of_base, of_variant) = (Sample::of(base)?, Sample::of(variant)?);
    let difference = of_variant.mean - of_base.mean;
    let interval = || {
        let (one, two) = (of_base.squares()?, of_variant.squares()?);
        let (n_one, n_two) = (of_base.n, of_variant.n);
        let (error, df) = if base.len().min(variant.len()) < WELCH_FROM {
            let df = n_one + n_two - 2.0;
            ((one + two) / df * (1.0 / n_one + 1.0 / n_two), df)
        } else {
            let (a, b) = (one / (n_one - 1.0) / n_one, two / (n_two - 1.0) / n_two);
            let df = (a + b).powi(2) / (a * a / (n_one - 1.0) + b * b / (n_two - 1.0));
            (a + b, df)
        };
        if error <= 0.0 {
            return Some((difference, difference));
        }
        let half = StudentsT::new(0.0, 1.0, df).ok()?.inverse_cdf(0.975) * error.sqrt();
        Some((difference - half, difference + half))
    };
    Some(MeanDifference {
        base: of_base.mean,
        variant: of_variant.mean,
        difference,
        interval: interval(),
    })
}

struct Sample<'a> {
    values: &'a [f64],
    n: f64,
    mean: f64,
}

impl<'a> Sample<'a> {
    fn of(values: &'a [f64]) -> Option<Self> {
        let n = values.len() as f64;
        (n > 0.0).then(|| Self { values, n, mean: values.iter().sum::<f64>() / n })
    }

    /// Returns the sum of the squared distances to the mean; `None` for one value.
    fn squares(&self) -> Option<f64> {
        let squares = self.values.iter().map(|value| (value - self.mean).powi(2)).sum();
        (self.values.len() > 1).then_some(squares)
    }
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
