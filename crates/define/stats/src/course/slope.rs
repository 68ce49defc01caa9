//! The slope of a series, robust, and how well it is known.

use super::means::{float, mean, means, median};
use super::inflation_tmp::inflation;

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
const LEAST_VALUES: usize = 6;
/// Most values whose pairs are looked at; longer series are averaged first.
const MOST_VALUES: usize = 400;

/// Returns the slope of `(seconds, value)`; `None` when there are too few.
///
/// The median of the slopes of all pairs: up to 29 % of the values may be anything. Its standard
/// error is that of least squares, with the residuals' variance inflated for autocorrelation.
///
/// Source: P. K. Sen, 1968, "Estimates of the Regression Coefficient Based on Kendall's Tau", JASA
/// 63(324); the inflation: the project's reference, analysis, sections 1.4 and 3.
#[must_use]
pub fn slope(points: &[(f64, f64)]) -> Option<Slope> {
    let width = points.len().div_ceil(MOST_VALUES).max(1);
    let part = |of: fn(&(f64, f64)) -> f64| means(&points.iter().map(of).collect::<Vec<_>>(), width);
    let (times, values) = (part(|point| point.0), part(|point| point.1));
    if times.len() < LEAST_VALUES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(times.len() * times.len() / 2);
    for (at, (time, value)) in times.iter().zip(&values).enumerate() {
        let later = times.iter().zip(&values).skip(at + 1);
        slopes.extend(later.map(|(then, that)| (that - value) / (then - time)));
    }
    let per_second = median(&mut slopes);
    let middle = mean(&times);
    let mut levels: Vec<f64> =
        times.iter().zip(&values).map(|(time, value)| value - per_second * (time - middle)).collect();
    let inflation = inflation(&levels);
    let level = median(&mut levels);
    let squares: f64 = levels.iter().map(|value| (value - level).powi(2)).sum();
    let spread: f64 = times.iter().map(|time| (time - middle).powi(2)).sum();
    let error = (squares / (float(times.len()) - 2.0) * inflation / spread).sqrt();
    per_second.is_finite().then_some(Slope { per_second, error, level })
}
