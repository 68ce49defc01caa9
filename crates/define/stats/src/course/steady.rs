//! Where a series becomes steady: segments of equal mean, walked back from the last one.

use model::course::CourseClass;

use super::inflation_tmp::inflation;
use super::means::{clipped, float, mean};
use crate::pelt::segment;

/// Shortest measured span, in seconds that count, of which a class is told.
pub const LEAST_TOLD_S: f64 = 15.0;
/// Shortest part that may be kept, in seconds that count.
pub const LEAST_KEPT_S: f64 = 10.0;
/// Share of a step that must be kept.
/// Source: the project's reference, analysis, section 3.
pub const LEAST_SHARE: f64 = 0.4;

/// Fewest means of a segment.
/// Source: the project's reference, analysis, section 3, step 3.
const LEAST_SEGMENT: usize = 5;
/// Penalty of a segment, in units of the means' long-run variance and of ln(means).
/// Source: the project's reference, analysis, section 3, step 3.
const PENALTY: f64 = 3.0;

/// What is kept of a series of means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    /// The first mean that is kept.
    pub(super) from: usize,
    /// Mean of what comes before it over that of what is kept; 1 when nothing does.
    pub(super) before: f64,
}

/// Returns the part that the end of the series belongs to.
///
/// Segments are found in the means with a penalty for the noise of their second half,
/// autocorrelation and cycles included; then those before the last are taken in while their mean
/// is as that of what is kept so far, within the margin or one standard deviation of a mean.
///
/// Source: the project's reference, analysis, section 3, steps 1 to 4.
pub(super) fn kept(means: &[f64], margin: f64) -> Kept {
    let level = mean(means);
    if means.len() < 2 * LEAST_SEGMENT || !level.is_finite() || level <= 0.0 {
        return Kept { from: 0, before: 1.0 };
    }
    let values = clipped(&means.iter().map(|value| value / level).collect::<Vec<_>>());
    let noise = Noise::of(&values[values.len() / 2..]);
    let penalty = PENALTY * float(values.len()).ln() * noise.variance * noise.inflation;
    let starts = segment(&values, penalty, LEAST_SEGMENT);
    let bounds: Vec<usize> = [0].into_iter().chain(starts).collect();
    let mut from = *bounds.last().expect("it begins with 0");
    for start in bounds.iter().rev().skip(1) {
        let rest = mean(&values[from..]);
        let is_same = (mean(&values[*start..from]) / rest - 1.0).abs()
            <= margin.max(noise.variance.sqrt() / rest);
        if !is_same {
            break;
        }
        from = *start;
    }
    let before = if from > 0 { mean(&values[..from]) / mean(&values[from..]) } else { 1.0 };
    Kept { from, before }
}

/// How much the values of a series vary around a line.
struct Noise {
    variance: f64,
    /// By how much the variance of their mean is larger for their correlation.
    inflation: f64,
}

impl Noise {
    fn of(values: &[f64]) -> Self {
        let n = float(values.len());
        let (middle, level) = ((n - 1.0) / 2.0, mean(values));
        let away = |at: usize| float(at) - middle;
        let spread: f64 = (0..values.len()).map(|at| away(at).powi(2)).sum();
        let products = values.iter().enumerate().map(|(at, value)| value * away(at));
        let slope = products.sum::<f64>() / spread;
        let rest: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(at, value)| value - level - slope * away(at))
            .collect();
        let squares: f64 = rest.iter().map(|value| value * value).sum();
        Self { variance: squares / (n - 2.0), inflation: inflation(&rest) }
    }
}

/// Returns the class of a kept part whose slope and cycle are known.
pub(super) fn class(kept: &Kept, is_long: bool, is_drift: bool, has_cycle: bool) -> CourseClass {
    match (is_long, is_drift, kept.from > 0) {
        (false, _, _) => CourseClass::NotSteady,
        (true, true, _) => CourseClass::Drift,
        (true, false, true) if kept.before < 1.0 => CourseClass::WarmUp,
        (true, false, true) => CourseClass::SlowDown,
        (true, false, false) if has_cycle => CourseClass::Cyclic,
        (true, false, false) => CourseClass::Flat,
    }
}
