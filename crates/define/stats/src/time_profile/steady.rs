//! Where a series becomes steady: segments of equal mean, walked back from the last one.

use model::time_profile::TrendClass;

use super::cycle::Found;
use super::means::{clipped, detrended, float, mean, median, squares};
use crate::distribution::student::{half_width, two_sided};
use crate::pelt::segment;
use crate::series::correlation::inflation;

/// Shortest measured span, in seconds that count, of which a class is told.
///
/// Of flat series of 20 s under the noise of `tests/steady`, one in seven is told to be something
/// else; of 15 s, one in five.
pub const MIN_CLASSIFIED_S: f64 = 20.0;
/// Shortest part that may be kept, in seconds that count: half of the shortest span.
pub const MIN_STEADY_S: f64 = 10.0;
/// Share of a step that must be kept.
/// Source: the project's reference, analysis, section 3.
pub const LEAST_SHARE: f64 = 0.4;

/// Fewest means of a segment.
/// Source: the project's reference, analysis, section 3, step 3.
const LEAST_SEGMENT: usize = 5;
/// Penalty of a segment, in units of the means' long-run variance and of ln(means).
/// Source: the project's reference, analysis, section 3, step 3.
const PENALTY: f64 = 3.0;
/// Residuals around a step must have less than this share of those around a line to be believed.
///
/// A step of 20 % in the last fifth leaves a third; chance seldom leaves half.
const OF_STEP: f64 = 0.5;
/// Least share of the variance that a line leaves of correlated noise.
pub(super) const LEAST_LEFT: f64 = 0.3;

/// What is kept of a series of means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    /// The first mean that is kept.
    pub(super) from: usize,
    /// Mean of what comes before it over that of what is kept; 1 when nothing does.
    pub(super) before: f64,
}

/// All of a series.
pub(super) const ALL: Kept = Kept { from: 0, before: 1.0 };

/// Returns the part that the end of the series belongs to.
///
/// Segments are found in the means with a penalty for the noise of their second half,
/// autocorrelation and cycles included; then those before the last are taken in while their median
/// is as that of what is kept so far, within the margin or one standard deviation of a mean. A
/// series that one line describes better than its segments do is kept whole: it drifts.
///
/// Source: the project's reference, analysis, section 3, steps 1 to 4, and section 4.2, step 5, for
/// the line.
pub(super) fn kept(means: &[f64], margin: f64) -> Kept {
    let level = mean(means);
    if means.len() < 2 * LEAST_SEGMENT || !level.is_finite() || level <= 0.0 {
        return ALL;
    }
    let values = clipped(&means.iter().map(|value| value / level).collect::<Vec<_>>());
    let noise = Noise::of(&values[values.len() / 2..]);
    let penalty = noise.penalty(values.len());
    let mut bounds = vec![0];
    bounds.extend(segment(&values, penalty, LEAST_SEGMENT));
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
    // The mean in which the level changes holds some of both.
    from += usize::from(from > 0 && !is_same(values[from], usual(&values[from..])));
    let before = if from > 0 { mean(&values[..from]) / mean(&values[from..]) } else { 1.0 };
    Kept { from, before }
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

/// How much the values of a series vary, beside their course.
struct Noise {
    variance: f64,
    /// By how much the variance of their mean is larger for their correlation.
    inflation: f64,
    /// Degrees of freedom of both.
    freedom: f64,
}

impl Noise {
    /// Tells the noise around a line, or around a step where there clearly is one.
    ///
    /// What is fitted takes out part of the slow movements; of n values, each worth 1/k, it takes
    /// out 2 k/n of variance and of inflation.
    fn of(values: &[f64]) -> Self {
        let n = float(values.len());
        let (line, step) = (detrended(values), around_step(values));
        let is_step = squares(&step, 0.0) < OF_STEP * squares(&line, 0.0);
        let rest = if is_step { step } else { line };
        let inflation = inflation(&rest);
        let left = (1.0 - 2.0 * inflation / n).max(LEAST_LEFT);
        Self {
            variance: squares(&rest, 0.0) / n / left,
            inflation: inflation / left,
            freedom: n / inflation - 2.0,
        }
    }

    /// Returns the penalty of a segment among so many means.
    ///
    /// It is a squared t at the level that the reference's penalty has for a known variance.
    fn penalty(&self, length: usize) -> f64 {
        let level = two_sided((PENALTY * float(length).ln()).sqrt(), f64::INFINITY);
        let errors = half_width(1.0 - level, self.freedom);
        errors * errors * self.variance * self.inflation
    }
}

/// Returns what is left of the values around the two levels that leave least.
fn around_step(values: &[f64]) -> Vec<f64> {
    let cost = |at: usize| {
        let (before, after) = values.split_at(at);
        squares(before, mean(before)) + squares(after, mean(after))
    };
    let places = LEAST_SEGMENT..(values.len() + 1).saturating_sub(LEAST_SEGMENT);
    let Some(best) = places.min_by(|a, b| cost(*a).total_cmp(&cost(*b))) else {
        return detrended(values);
    };
    let (before, after) = values.split_at(best);
    let (low, high) = (mean(before), mean(after));
    before.iter().map(|value| value - low).chain(after.iter().map(|value| value - high)).collect()
}

/// Returns the class of a step whose kept part is long enough.
pub(super) fn class(kept: &Kept, is_drift: bool, cycle: Option<&Found>) -> TrendClass {
    match (is_drift, kept.from > 0, cycle) {
        (true, _, _) => TrendClass::Drift,
        (false, true, _) if kept.before < 1.0 => TrendClass::WarmUp,
        (false, true, _) => TrendClass::SlowDown,
        (false, false, Some(_)) => TrendClass::Cyclic,
        (false, false, None) => TrendClass::Flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise as Random;

    /// Means with a noise of 1 %.
    fn noisy(level: impl Fn(usize) -> f64, length: usize) -> Vec<f64> {
        let mut random = Random::new(7);
        (0..length).map(|at| 500.0 * level(at) * (1.0 + 0.01 * random.normal())).collect()
    }

    #[test]
    fn what_differs_at_the_start_is_not_kept() {
        let slow = kept(&noisy(|at| if at < 20 { 0.5 } else { 1.0 }, 60), 0.02);
        assert_eq!(slow.from, 20);
        assert!((slow.before - 0.5).abs() < 0.02, "{slow:?}");
        let fast = kept(&noisy(|at| if at < 30 { 1.3 } else { 1.0 }, 60), 0.02);
        assert!(fast.from == 30 && fast.before > 1.2, "{fast:?}");
    }

    #[test]
    fn a_difference_within_the_margin_is_kept() {
        let little = noisy(|at| if at < 30 { 0.97 } else { 1.0 }, 600);
        assert_eq!(kept(&little, 0.02).from, 30);
        assert_eq!(kept(&little, 0.05), ALL);
    }

    #[test]
    fn what_differs_at_the_end_is_all_that_is_kept() {
        assert_eq!(kept(&noisy(|at| if at < 48 { 1.0 } else { 0.8 }, 60), 0.02).from, 48);
    }

    #[test]
    fn a_line_is_kept_whole() {
        let falling = noisy(|at| 1.0 - 0.2 * float(at) / 60.0, 60);
        assert_eq!(kept(&falling, 0.02), ALL);
    }

    #[test]
    fn nothing_is_told_of_nothing() {
        for means in [&[] as &[f64], &[1.0; 9], &[0.0; 60], &[f64::NAN; 60]] {
            assert_eq!(kept(means, 0.02), ALL);
        }
        assert_eq!(kept(&[3.0; 60], 0.02), ALL, "no noise at all");
    }
}
