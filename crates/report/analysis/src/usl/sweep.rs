//! Levels and runs of a sweep, with their noise.

use std::collections::BTreeMap;

use super::Observation;
use super::least_squares::{Level, Solution, least_squares};

/// Parameters of the whole law.
const PARAMETERS: f64 = 3.0;

/// Smallest relative noise: below it is rounding.
const MIN_NOISE: f64 = 1e-9;

/// Levels and runs of one sweep.
pub(super) struct Sweep {
    pub(super) levels: Vec<Level>,
    pub(super) runs: u32,
    pub(super) most_clients: u32,
    /// Squares of the runs' distances from the mean of their level.
    pure_error: f64,
}

/// Noise around the curve.
#[derive(Clone, Copy)]
pub(super) struct Noise {
    /// Variance of one run's ln X.
    pub(super) variance: f64,
    /// Degrees of freedom of the variance.
    degrees: f64,
}

impl Sweep {
    pub(super) fn of(observations: &[Observation]) -> Self {
        let mut by_clients: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for one in observations {
            let target = (f64::from(one.clients) / one.ops_per_s).ln();
            if one.clients > 0 && target.is_finite() {
                by_clients.entry(one.clients).or_default().push(target);
            }
        }
        let mut levels = Vec::new();
        let (mut runs, mut pure_error) = (0, 0.0);
        for (clients, targets) in &by_clients {
            let count = u32::try_from(targets.len()).unwrap_or(u32::MAX);
            let weight = f64::from(count);
            let target = targets.iter().sum::<f64>() / weight;
            pure_error += targets.iter().map(|one| (one - target).powi(2)).sum::<f64>();
            runs += count;
            levels.push(Level { clients: f64::from(*clients), weight, target });
        }
        let most_clients = by_clients.last_key_value().map_or(0, |(clients, _)| *clients);
        Self { levels, runs, most_clients, pure_error }
    }

    pub(super) fn has_one_client(&self) -> bool {
        self.levels.first().is_some_and(|level| level.clients <= 1.0)
    }

    /// Fits 1/g, a/g and b/g.
    pub(super) fn universal(&self) -> Solution<3> {
        least_squares(&self.levels, |n| [1.0, n - 1.0, n * (n - 1.0)])
    }

    /// Fits 1/g and a/g, without coherency.
    pub(super) fn amdahl(&self) -> Solution<2> {
        least_squares(&self.levels, |n| [1.0, n - 1.0])
    }

    /// Returns the noise of all runs around the curve, which leaves `rss` between levels.
    pub(super) fn pooled_noise(&self, rss: f64) -> Noise {
        let degrees = f64::from(self.runs) - PARAMETERS;
        let variance = ((rss + self.pure_error) / degrees).max(MIN_NOISE.powi(2));
        Noise { variance, degrees }
    }

    /// Returns the noise that the levels' distances from the curve amount to.
    pub(super) fn noise_of_levels(&self, rss: f64) -> Noise {
        let degrees = self.level_count() - PARAMETERS;
        let variance = (rss / degrees).max(MIN_NOISE.powi(2));
        Noise { variance, degrees }
    }

    /// Returns the p-value of the lack-of-fit test.
    ///
    /// `None` when no level has a second run, or runs do not differ at all.
    ///
    /// Source: lack of fit and pure error [Draper Smith 1998, section 2.1].
    pub(super) fn lack_of_fit(&self, rss: f64) -> Option<f64> {
        let between = self.level_count() - PARAMETERS;
        let within = f64::from(self.runs) - self.level_count();
        let floor = within * MIN_NOISE.powi(2);
        if between <= 0.0 || within <= 0.0 || self.pure_error <= floor {
            return None;
        }
        let ratio = (rss / between) / (self.pure_error / within);
        Some(stats::distribution::fisher::above(ratio, between, within))
    }

    fn level_count(&self) -> f64 {
        f64::from(u32::try_from(self.levels.len()).unwrap_or(u32::MAX))
    }
}

impl Noise {
    /// Returns the p-value of a parameter without which `squares` more are left.
    pub(super) fn p_of(&self, squares: f64) -> f64 {
        stats::distribution::fisher::above(squares / self.variance, 1.0, self.degrees)
    }
}
