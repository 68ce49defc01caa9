//! Steady part of a series: changepoint segments merged from the end.

use model::float;
use model::time_profile::TrendClass;

use super::cycle::Found;
use super::means::{clipped, detrended, median, squares};
use crate::distribution::student::{half_width, two_sided};
use crate::pelt::segment;
use crate::sample::mean;
use crate::series::inflation;

/// Shortest measured span that is classified, in valid seconds.
///
/// Of flat series of 20 s under the noise of `tests/steady`, one in seven is misclassified; of 15
/// s, one in five.
pub const MIN_CLASSIFIED_S: f64 = 20.0;
/// Shortest steady part, in valid seconds: half the shortest span.
pub const MIN_STEADY_S: f64 = 10.0;
/// Smallest share of a step that is a steady part.
///
/// Our choice: of a step that is steady for less, most of the time was not measured.
pub const MIN_STEADY_SHARE: f64 = 0.4;

/// Fewest means of a segment: our choice, so that one outlier is no segment.
const MIN_SEGMENT: usize = 5;
/// Penalty of a segment, in units of the means' long-run variance and of ln(means).
///
/// Our choice, by the shapes of `tests/steady`: above the 2 of the Bayesian criterion [Schwarz
/// 1978], because variance and autocorrelation are estimates.
const PENALTY: f64 = 3.0;
/// Share of the residual variance around a line below which a step is preferred.
///
/// A step of 20 % in the last fifth leaves a third; chance seldom leaves half.
const OF_STEP: f64 = 0.5;
/// Least share of the variance that a line leaves of correlated noise.
pub(super) const MIN_LEFT: f64 = 0.3;

/// The steady part of a series of means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SteadyPart {
    /// The first mean of the part.
    pub(super) from: usize,
    /// Mean before the part over the mean of the part; 1 when nothing is before.
    pub(super) before: f64,
}

/// The whole series.
pub(super) const ALL: SteadyPart = SteadyPart { from: 0, before: 1.0 };

/// Returns the steady part at the end of the series.
///
/// Segments are found in the means with a penalty for the noise of their second half,
/// autocorrelation and cycles included; then those before the last are merged while their median
/// agrees with that of the part so far, within the margin or one standard deviation of a mean. A
/// series that one line describes better than its segments is not trimmed: it drifts.
///
/// Source: segments merged from the last one [Barrett 2017]; the line is compared by
/// penalised cost [Schwarz 1978].
pub(super) fn steady_part(means: &[f64], margin: f64) -> SteadyPart {
    let level = mean(means);
    if means.len() < 2 * MIN_SEGMENT || !level.is_finite() || level <= 0.0 {
        return ALL;
    }
    let values = clipped(&means.iter().map(|value| value / level).collect::<Vec<_>>());
    let noise = Noise::of(&values[values.len() / 2..]);
    let penalty = noise.penalty(values.len());
    let mut bounds = vec![0];
    bounds.extend(segment(&values, penalty, MIN_SEGMENT, MIN_SEGMENT));
    if is_line(&values, &bounds, penalty) {
        return ALL;
    }
    let mut from = *bounds.last().expect("it begins with 0");
    let usual = |part: &[f64]| median(&mut part.to_vec());
    let is_same = |level: f64, rest: f64| {
        (level / rest - 1.0).abs() <= margin.max(noise.variance.sqrt() / rest)
    };
    for start in bounds.iter().rev().skip(1) {
        if !is_same(usual(&values[*start..from]), usual(&values[from..])) {
            break;
        }
        from = *start;
    }
    // The mean that straddles the change belongs to neither level.
    from += usize::from(from > 0 && !is_same(values[from], usual(&values[from..])));
    let before = if from > 0 { mean(&values[..from]) / mean(&values[from..]) } else { 1.0 };
    SteadyPart { from, before }
}

/// Returns whether a line costs less than the segments that begin at `bounds`.
///
/// A line has two parameters, as a segment has its mean and its start.
fn is_line(values: &[f64], bounds: &[usize], penalty: f64) -> bool {
    let ends = bounds.iter().skip(1).copied().chain([values.len()]);
    let parts = bounds.iter().zip(ends).map(|(start, end)| &values[*start..end]);
    let of_segments: f64 = parts.map(|part| squares(part, mean(part)) + penalty).sum();
    bounds.len() > 1 && squares(&detrended(values), 0.0) + 2.0 * penalty < of_segments
}

/// Noise of a series around its trend.
struct Noise {
    variance: f64,
    /// Variance inflation of their mean by autocorrelation.
    inflation: f64,
    /// Degrees of freedom of both.
    freedom: f64,
}

impl Noise {
    /// Estimates the noise around a line, or around a clear step.
    ///
    /// A fit removes part of the slow movements; of n values, each worth 1/k, it removes 2 k/n of
    /// variance and of inflation.
    fn of(values: &[f64]) -> Self {
        let n = float(values.len());
        let (line, step) = (detrended(values), around_step(values));
        let is_step = squares(&step, 0.0) < OF_STEP * squares(&line, 0.0);
        let rest = if is_step { step } else { line };
        let inflation = inflation(&rest);
        let left = (1.0 - 2.0 * inflation / n).max(MIN_LEFT);
        Self {
            variance: squares(&rest, 0.0) / n / left,
            inflation: inflation / left,
            freedom: n / inflation - 2.0,
        }
    }

    /// Returns the penalty of a segment among so many means.
    ///
    /// A squared t at the level that [`PENALTY`] has for a known variance.
    fn penalty(&self, length: usize) -> f64 {
        let level = two_sided((PENALTY * float(length).ln()).sqrt(), f64::INFINITY);
        let errors = half_width(1.0 - level, self.freedom);
        errors * errors * self.variance * self.inflation
    }
}

/// Returns the residuals around the two levels that leave least.
fn around_step(values: &[f64]) -> Vec<f64> {
    let cost = |at: usize| {
        let (before, after) = values.split_at(at);
        squares(before, mean(before)) + squares(after, mean(after))
    };
    let places = MIN_SEGMENT..(values.len() + 1).saturating_sub(MIN_SEGMENT);
    let Some(best) = places.min_by(|a, b| cost(*a).total_cmp(&cost(*b))) else {
        return detrended(values);
    };
    let (before, after) = values.split_at(best);
    let (low, high) = (mean(before), mean(after));
    before.iter().map(|value| value - low).chain(after.iter().map(|value| value - high)).collect()
}

/// Returns the class of a step whose steady part is long enough.
pub(super) fn class(part: &SteadyPart, is_drift: bool, cycle: Option<&Found>) -> TrendClass {
    match (is_drift, part.from > 0, cycle) {
        (true, _, _) => TrendClass::Drift,
        (false, true, _) if part.before < 1.0 => TrendClass::WarmUp,
        (false, true, _) => TrendClass::SlowDown,
        (false, false, Some(_)) => TrendClass::Cyclic,
        (false, false, None) => TrendClass::Flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise as Random;

    /// Means with a noise of 1 %.
    fn noisy(level: impl Fn(usize) -> f64, length: usize) -> Vec<f64> {
        let mut random = Random::new(7);
        (0..length).map(|at| 500.0 * level(at) * (1.0 + 0.01 * random.normal())).collect()
    }

    #[test]
    fn different_start_is_trimmed() {
        let slow = steady_part(&noisy(|at| if at < 20 { 0.5 } else { 1.0 }, 60), 0.02);
        assert_eq!(slow.from, 20);
        assert!((slow.before - 0.5).abs() < 0.02, "{slow:?}");
        let fast = steady_part(&noisy(|at| if at < 30 { 1.3 } else { 1.0 }, 60), 0.02);
        assert!(fast.from == 30 && fast.before > 1.2, "{fast:?}");
    }

    #[test]
    fn difference_within_the_margin_is_not_trimmed() {
        let little = noisy(|at| if at < 30 { 0.97 } else { 1.0 }, 600);
        assert_eq!(steady_part(&little, 0.02).from, 30);
        assert_eq!(steady_part(&little, 0.05), ALL);
    }

    #[test]
    fn different_end_is_the_steady_part() {
        assert_eq!(steady_part(&noisy(|at| if at < 48 { 1.0 } else { 0.8 }, 60), 0.02).from, 48);
    }

    #[test]
    fn line_is_not_trimmed() {
        let falling = noisy(|at| 1.0 - 0.2 * float(at) / 60.0, 60);
        assert_eq!(steady_part(&falling, 0.02), ALL);
    }

    #[test]
    fn unusable_means_have_no_steady_part() {
        for means in [&[] as &[f64], &[1.0; 9], &[0.0; 60], &[f64::NAN; 60]] {
            assert_eq!(steady_part(means, 0.02), ALL);
        }
        assert_eq!(steady_part(&[3.0; 60], 0.02), ALL, "no noise at all");
    }
}
