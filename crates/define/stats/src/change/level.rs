//! Levels of a history, and the noise about them.

use crate::pelt::Sums;
use model::float;

/// Largest autocorrelation that is assumed.
///
/// Our choice: at 0.9 the penalty is already 19 times the penalty of white noise.
const MOST: f64 = 0.9;

/// The noise about the levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Noise {
    /// Variance about the levels.
    pub(super) variance: f64,
    /// Lag-one autocorrelation, 0 to 0.9.
    pub(super) autocorrelation: f64,
}

impl Noise {
    /// Returns white noise of this variance.
    pub(super) const fn white(variance: f64) -> Self {
        Self { variance, autocorrelation: 0.0 }
    }

    /// Estimates the noise of `values` about the levels that begin at `changes`.
    pub(super) fn about(values: &[f64], sums: &Sums, changes: &[usize]) -> Self {
        Self::of(&residuals(values, sums, changes), changes.len() + 1)
    }

    /// Estimates the noise from the residuals of `levels` fitted levels.
    ///
    /// The sample autocorrelation of residuals is too small by about (levels + 1) / n.
    ///
    /// Source: the bias: [Marriott Pope 1954].
    pub(super) fn of(residuals: &[f64], levels: usize) -> Self {
        let (levels, count) = (levels as f64, float(residuals.len()));
        let squares: f64 = residuals.iter().map(|one| one * one).sum();
        let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        if squares <= 0.0 || count <= levels {
            return Self::white(0.0);
        }
        let autocorrelation = (products / squares + (levels + 1.0) / count).clamp(0.0, MOST);
        Self { variance: squares / (count - levels), autocorrelation }
    }

    /// Returns the variance inflation of a mean by autocorrelation.
    ///
    /// Source: AR(1) [Priestley 1981, section 5.3.2].
    pub(super) fn inflation(self) -> f64 {
        (1.0 + self.autocorrelation) / (1.0 - self.autocorrelation)
    }

    /// Returns the long-run variance: the variance of a mean times its length.
    pub(super) fn long_run(self) -> f64 {
        self.variance * self.inflation()
    }

    /// Returns the standard error of the difference between the means of two stretches.
    pub(super) fn error(self, before: usize, after: usize) -> f64 {
        (self.long_run() * (1.0 / before as f64 + 1.0 / after as f64)).sqrt()
    }
}

/// Returns the first point of each level, then the number of values.
pub(super) fn edges(changes: &[usize], len: usize) -> Vec<usize> {
    std::iter::once(0).chain(changes.iter().copied()).chain(std::iter::once(len)).collect()
}

/// Returns each value less its level.
pub(super) fn residuals(values: &[f64], sums: &Sums, changes: &[usize]) -> Vec<f64> {
    let edges = edges(changes, values.len());
    let levels = edges.windows(2).flat_map(|edge| {
        let mean = sums.mean(edge[0], edge[1]);
        values[edge[0]..edge[1]].iter().map(move |value| value - mean)
    });
    levels.collect()
}
