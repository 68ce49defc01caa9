//! Robust slope of a series with its standard error.

use super::means::{means, median, squares};
use super::steady::MIN_LEFT;
use crate::sample::mean;
use crate::series::inflation;
use model::float;

/// A slope with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Growth per second.
    pub per_second: f64,
    /// Its standard error, autocorrelation included.
    pub error: f64,
    /// Level in the middle of the series.
    pub level: f64,
}

/// Fewest values of a slope.
const MIN_VALUES: usize = 6;
/// Longest series whose pairs are enumerated; longer ones are averaged.
const MAX_VALUES: usize = 400;

/// Returns the Theil-Sen slope of `(seconds, value)`; `None` below six.
///
/// The median of the slopes of all pairs: robust to 29 % of outliers. Its standard error is that of
/// least squares, with the residuals' variance inflated for autocorrelation, and both corrected for
/// what the line removed.
///
/// Source: [Sen 1968]; the inflation: [Geyer 1992, section 3.3].
pub fn slope(points: &[(f64, f64)]) -> Option<Slope> {
    let width = points.len().div_ceil(MAX_VALUES).max(1);
    let part =
        |of: fn(&(f64, f64)) -> f64| means(&points.iter().map(of).collect::<Vec<_>>(), width);
    let (times, values) = (part(|point| point.0), part(|point| point.1));
    if times.len() < MIN_VALUES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(times.len() * times.len() / 2);
    for (at, (time, value)) in times.iter().zip(&values).enumerate() {
        let later = times.iter().zip(&values).skip(at + 1);
        slopes.extend(later.map(|(then, that)| (that - value) / (then - time)));
    }
    let per_second = median(&mut slopes);
    let middle = mean(&times);
    let mut levels: Vec<f64> = times
        .iter()
        .zip(&values)
        .map(|(time, value)| value - per_second * (time - middle))
        .collect();
    let n = float(times.len());
    let inflation = inflation(&levels);
    let left = (1.0 - 2.0 * inflation / n).max(MIN_LEFT);
    let level = median(&mut levels);
    let spread: f64 = times.iter().map(|time| (time - middle).powi(2)).sum();
    let error = (squares(&levels, level) / n * inflation / spread).sqrt() / left;
    per_second.is_finite().then_some(Slope { per_second, error, level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;

    fn timed(values: &[f64]) -> Vec<(f64, f64)> {
        (0_u32..).map(f64::from).zip(values.iter().copied()).collect()
    }

    #[test]
    fn the_slope_is_the_median_of_all_pairs() {
        // [Sen 1968], and scipy.stats.theilslopes([2, 1, 9, 6, 5, 12], [0, 1, 2, 3, 4, 5]).
        let found = slope(&timed(&[2.0, 1.0, 9.0, 6.0, 5.0, 12.0])).unwrap();
        assert!((found.per_second - 4.0 / 3.0).abs() < 1e-12, "{found:?}");
        let (mut wild, line) = ([0.0; 100], |at: usize| 5.0 + 0.25 * float(at));
        wild.iter_mut().enumerate().for_each(|(at, value)| *value = line(at));
        for at in [3, 50, 51, 77, 98] {
            wild[at] = 9_000.0;
        }
        let found = slope(&timed(&wild)).unwrap();
        assert!((found.per_second - 0.25).abs() < 1e-3, "{found:?}");
        assert!((found.level - line(0) - 0.25 * 49.5).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn slopes_of_noise_seldom_exceed_three_errors() {
        // 0.3 % when independent; slow noise is worse, and bounded here.
        for (r, length, most) in [(0.0, 60, 12), (0.6, 120, 25), (0.9, 600, 25)] {
            let is_beyond = |seed: u64| {
                let found = slope(&timed(&Noise::new(seed).autoregression(length, r))).unwrap();
                found.per_second.abs() > 3.0 * found.error
            };
            let beyond = (0..1000).filter(|&seed| is_beyond(seed)).count();
            assert!(beyond <= most, "{r}: {beyond}");
        }
    }

    #[test]
    fn long_series_are_averaged_and_short_ones_have_no_slope() {
        let ramp: Vec<f64> = (0..10_000).map(|at| f64::from(at) * 0.5).collect();
        assert!((slope(&timed(&ramp)).unwrap().per_second - 0.5).abs() < 1e-9);
        assert_eq!(slope(&timed(&[1.0, 2.0, 3.0, 4.0, 5.0])), None);
        assert_eq!(slope(&[(1.0, 2.0); 10]), None, "no time passes");
    }
}
