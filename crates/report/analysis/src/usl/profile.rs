//! Profile-likelihood intervals of the law's parameters.

use super::Estimate;
use super::interval::{lower, upper};
use super::least_squares::{Solution, least_squares};
use super::sweep::Sweep;

/// First stride in search of the end of an interval, as a share of the estimate.
const STRIDE: f64 = 0.05;

/// First stride when the estimate is zero.
const MIN_STRIDE: f64 = 1e-6;

/// The best fit, and by how many squares a point of an interval may exceed it.
pub(super) struct Profiles<'a> {
    sweep: &'a Sweep,
    best: [f64; 3],
    rss: f64,
    limit: f64,
}

impl<'a> Profiles<'a> {
    pub(super) const fn new(sweep: &'a Sweep, best: &Solution<3>, limit: f64) -> Self {
        Self { sweep, best: best.coefficients, rss: best.rss, limit }
    }

    /// Returns the contention.
    pub(super) fn alpha(&self) -> Estimate {
        let excess = |alpha: f64| self.excess(|n| [1.0 + alpha * (n - 1.0), n * (n - 1.0)]);
        at_or_above_zero(self.best[1] / self.best[0], excess)
    }

    /// Returns the coherency.
    pub(super) fn beta(&self) -> Estimate {
        let excess = |beta: f64| self.excess(|n| [1.0 + beta * n * (n - 1.0), n - 1.0]);
        at_or_above_zero(self.best[2] / self.best[0], excess)
    }

    /// Returns the clients at peak throughput; one where it falls from there on.
    ///
    /// With the peak P held fixed, 1 - a = b P^2, and the columns are those of a and b. Coherency
    /// must be significant, or the interval has no end.
    pub(super) fn peak(&self) -> Estimate {
        let [one, alpha, beta] = self.best;
        let peak = ((one - alpha).max(0.0) / beta).sqrt().max(1.0);
        let excess = |log: f64| {
            let square = (2.0 * log).exp();
            self.excess(|n| [n, n * (n - 1.0) + square])
        };
        Estimate {
            value: peak,
            low: lower(peak.ln(), 0.0, excess).exp(),
            high: upper(peak.ln(), STRIDE, excess).map(f64::exp),
        }
    }

    /// Returns how far the best fit of these columns is beyond the limit, as a distance: nearly
    /// straight in a parameter.
    fn excess(&self, columns: impl Fn(f64) -> [f64; 2]) -> f64 {
        (least_squares(&self.sweep.levels, columns).rss - self.rss).max(0.0).sqrt()
            - self.limit.sqrt()
    }
}

/// Returns the interval of a parameter that cannot fall below zero.
fn at_or_above_zero(value: f64, excess: impl Fn(f64) -> f64) -> Estimate {
    let high = upper(value, MIN_STRIDE.max(STRIDE * value), &excess);
    Estimate { value, low: lower(value, 0.0, &excess), high }
}
