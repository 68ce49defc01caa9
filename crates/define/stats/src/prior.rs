//! Empirical-Bayes prior of a cell's variance, for moderated tests.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::gamma::digamma;

use crate::detectable::cov_of;
use crate::distribution::fisher;
use crate::distribution::gamma::{trigamma, trigamma_inverse};
use crate::distribution::student::half_width;
use crate::effect::Interval;
use crate::sample::mean;
use model::float;

/// Variance of ln(metric) over the runs of one cell.
///
/// A cell is a variant's step, or a step with its variants pooled ([`CellVariance::pooled`]), each
/// about its own mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CellVariance {
    /// Sample variance of the logarithms, >= 0.
    pub variance: f64,
    /// Its degrees of freedom: runs less one of each variant.
    pub df: f64,
}

/// Below this a variance is rounding: the values agree to nine digits.
pub(crate) const NO_SPREAD: f64 = 1e-18;

impl CellVariance {
    /// Returns the variance of the logarithms; `None` below two positive values.
    ///
    /// Source: the sample variance, divisor n - 1; logarithms are our choice: the noise of
    /// throughput and times is multiplicative, and a ratio and its inverse then have the same
    /// interval.
    pub fn of(values: &[f64]) -> Option<Self> {
        let is_positive = values.iter().all(|value| *value > 0.0 && value.is_finite());
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        (is_positive && values.len() > 1).then(|| Self::of_values(&logs))
    }

    /// Returns the sample variance of values as they are; 0 degrees of freedom below two.
    pub(crate) fn of_values(values: &[f64]) -> Self {
        let n = float(values.len());
        let mean = mean(values);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let df = (n - 1.0).max(0.0);
        Self { variance: if df > 0.0 { squares / df } else { 0.0 }, df }
    }

    /// Returns the pooled variance, weighted by degrees of freedom.
    ///
    /// Source: the pooled variance of Student's two-sample t [Snedecor Cochran 1989, section 6.7].
    pub fn pooled(self, other: Self) -> Self {
        let df = self.df + other.df;
        let squares = self.variance * self.df + other.variance * other.df;
        Self { variance: if df > 0.0 { squares / df } else { 0.0 }, df }
    }

    /// Returns the squared error of the difference of two means, and its degrees of freedom.
    ///
    /// Source: [Welch 1947].
    pub(crate) fn welch(self, other: Self) -> (f64, f64) {
        let [a, b] = [self, other].map(|one| one.variance / (one.df + 1.0));
        (a + b, (a + b).powi(2) / (a * a / self.df + b * b / other.df))
    }

    /// Returns the 95 % interval of the geometric mean of so many runs with this variance.
    ///
    /// `None` without runs or degrees of freedom.
    ///
    /// Source: [Student 1908] on logarithms; with a variance pooled over samples as in [Snedecor
    /// Cochran 1989, section 6.7].
    pub fn interval(self, mean: f64, runs: u32) -> Option<Interval> {
        let error = (self.variance / f64::from(runs)).sqrt();
        let factor = (half_width(0.95, self.df) * error).exp();
        (runs > 0 && self.df > 0.0).then(|| Interval { low: mean / factor, high: mean * factor })
    }

    /// Returns whether the runs differ at all, beyond rounding.
    pub fn has_spread(&self) -> bool {
        self.variance > NO_SPREAD
    }
}

/// A coefficient of variation with its 95 % interval, as shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Variation {
    /// The sample's coefficient of variation.
    pub cov: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

impl Variation {
    /// Returns the variation; `None` below two positive values.
    ///
    /// It is that of a lognormal value with the variance of their logarithms. Three runs leave a
    /// factor of twelve between the limits.
    ///
    /// Source: the chi-square interval of a variance [Snedecor Cochran 1989, section 5.11];
    /// [`cov_of`] for the step to the variation.
    pub fn of(values: &[f64]) -> Option<Self> {
        let cell = CellVariance::of(values)?;
        let chi = ChiSquared::new(cell.df).ok()?;
        let at = |chance: f64| cov_of(cell.variance * cell.df / chi.inverse_cdf(chance));
        Some(Self { cov: cov_of(cell.variance), low: at(0.975), high: at(0.025) })
    }
}

/// Prior distribution of a cell's variance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prior {
    /// Expected variance of the logarithms.
    pub variance: f64,
    /// Prior degrees of freedom.
    pub df: f64,
    /// Cells it was fitted to.
    pub cells: u32,
}

/// Fewest cells that a prior is fitted to.
///
/// Our choice: with fewer, the variance among the cells is hardly known.
pub const MIN_CELLS: usize = 8;

/// Largest prior degrees of freedom.
///
/// Our choice: beyond 50, t hardly differs from the normal, and cells that agree by chance do not
/// make the noise known.
pub const MAX_DF: f64 = 50.0;

/// Confidence of the upper bound of the variance among the cells.
///
/// Few cells hardly determine it. With the estimate itself, 7.0 % of simulated campaigns of two
/// repetitions reported a difference where there was none; with the bound, 5.1 %.
///
/// Our choice, by the simulation in `tests/quality/false_verdicts.rs`, 3,300 campaigns each.
const BOUND: f64 = 0.80;

/// Returns the prior fitted to the cells; `None` below [`MIN_CELLS`].
///
/// The cells must be exchangeable: one metric's, of one class of machines. Variants of one step
/// share much of their noise, and are pooled to one cell first. A cell without any spread is left
/// out. The variance among the cells is taken at its upper 80 % bound.
///
/// Source: [Smyth 2004, section 6.2].
pub fn fit(cells: &[CellVariance]) -> Option<Prior> {
    let is_usable = |cell: &&CellVariance| {
        cell.df >= 1.0 && cell.has_spread() && (cell.variance * cell.df).is_finite()
    };
    let used: Vec<&CellVariance> = cells.iter().filter(is_usable).collect();
    if used.len() < MIN_CELLS {
        return None;
    }
    let n = float(used.len());
    let half = |cell: &&CellVariance| cell.df / 2.0;
    let logs: Vec<f64> = used
        .iter()
        .map(|cell| cell.variance.ln() - digamma(half(cell)) + half(cell).ln())
        .collect();
    let mean = mean(&logs);
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let expected = used.iter().map(|cell| trigamma(half(cell))).sum::<f64>() / n;
    let chi = ChiSquared::new(n - 1.0).ok()?;
    let at_most = variance * (n - 1.0) / chi.inverse_cdf(1.0 - BOUND);
    let beyond = at_most - expected;
    let cells = u32::try_from(used.len()).unwrap_or(u32::MAX);
    if beyond <= 0.0 {
        return Some(Prior { variance: mean.exp(), df: MAX_DF, cells });
    }
    let half = trigamma_inverse(beyond);
    let variance = (mean + digamma(half) - half.ln()).exp();
    Some(Prior { variance, df: (2.0 * half).min(MAX_DF), cells })
}

/// Two-sided p-value below which a cell is not exchangeable.
///
/// Our choice: one in a thousand, so that a prior fitted to many cells seldom rejects one by
/// chance.
const OUTLIER_P: f64 = 0.001;

impl Prior {
    /// Returns whether the prior describes a cell.
    ///
    /// A cell that it does not describe must use its own variance alone. A cell without runs or
    /// without spread counts as described.
    ///
    /// Source: a variance over the prior's has the F distribution [Smyth 2004, section 4]; the
    /// limit: `OUTLIER_P`.
    pub fn applies_to(&self, cell: &CellVariance) -> bool {
        if !cell.has_spread() || cell.df <= 0.0 {
            return true;
        }
        let ratio = cell.variance / self.variance;
        // A small ratio's lower tail is the upper one of its inverse.
        let tail = if ratio < 1.0 {
            fisher::above(1.0 / ratio, self.df, cell.df)
        } else {
            fisher::above(ratio, cell.df, self.df)
        };
        2.0 * tail >= OUTLIER_P
    }

    /// Returns whether the prior suffices alone: at least one degree of freedom.
    pub(crate) fn is_usable(&self) -> bool {
        self.df >= 1.0 && self.variance > NO_SPREAD && self.variance.is_finite()
    }

    /// Returns the moderated variance of a cell and its degrees of freedom.
    ///
    /// Source: the posterior variance [Smyth 2004, section 4].
    pub fn moderate(&self, cell: &CellVariance) -> CellVariance {
        cell.pooled(CellVariance { variance: self.variance, df: self.df })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: [(f64, f64); 10] = [
        (4.1e-4, 4.0),
        (1.2e-4, 4.0),
        (2.9e-4, 4.0),
        (9.5e-4, 4.0),
        (0.4e-4, 4.0),
        (6.6e-4, 4.0),
        (2.2e-4, 2.0),
        (15e-4, 2.0),
        (0.9e-4, 8.0),
        (3.3e-4, 8.0),
    ];

    fn cells(of: &[(f64, f64)]) -> Vec<CellVariance> {
        of.iter().map(|&(variance, df)| CellVariance { variance, df }).collect()
    }

    #[test]
    fn the_interval_of_a_mean_is_students_on_logarithms() {
        // [Fisher Yates 1963, table III], P = 0.05: t is 4.303 at 2 and 2.571 at 5 degrees.
        let sigma = 0.01_f64;
        let own = CellVariance::of(&[(-sigma).exp(), 1.0, sigma.exp()]).unwrap();
        let high = |cell: CellVariance| cell.interval(2.0, 3).unwrap().high / 2.0;
        let known = |t: f64| (t * sigma / 3.0_f64.sqrt()).exp();
        assert!((high(own) - known(4.303)).abs() < 1e-5, "{}", high(own));
        let pooled = own.pooled(CellVariance { variance: sigma * sigma, df: 3.0 });
        assert!((high(pooled) - known(2.571)).abs() < 1e-5, "{}", high(pooled));
        let interval = own.interval(2.0, 3).unwrap();
        assert!((interval.low * interval.high - 4.0).abs() < 1e-12, "the factor is the same");
        assert_eq!(own.interval(2.0, 0), None);
        assert_eq!(CellVariance { variance: 0.0, df: 0.0 }.interval(2.0, 1), None);
    }

    #[test]
    fn the_variation_of_three_runs_is_hardly_known() {
        // The true sigma is in [0.52, 6.3] x s: scipy 1.17.1, sqrt(2 / stats.chi2.ppf([0.975,
        // 0.025], 2)) = 0.520658, 6.284735.
        let sigma = 0.001_f64;
        let values = [(-sigma).exp(), 1.0, sigma.exp()];
        let found = Variation::of(&values).unwrap();
        assert!((found.cov / sigma - 1.0).abs() < 1e-5, "{found:?}");
        assert!((found.low / sigma - 0.520_658).abs() < 1e-5, "{found:?}");
        assert!((found.high / sigma - 6.284_735).abs() < 1e-3, "{found:?}");
        assert_eq!(Variation::of(&[1.0]), None);
        assert_eq!(Variation::of(&[1.0, -1.0]), None);
        let none = Variation::of(&[2.0; 3]).unwrap();
        assert_eq!(none, Variation { cov: 0.0, low: 0.0, high: 0.0 });
    }

    #[test]
    fn prior_matches_scipy() {
        // numpy and scipy 1.17.1: moments of e_g, stats.chi2.ppf(0.2, 9), special.polygamma,
        // optimize.brentq. (Without the bound: 2.98384e-4 and 4.19392.)
        let prior = fit(&cells(&CELLS)).unwrap();
        assert!((prior.variance / 0.000_223_071_772_052 - 1.0).abs() < 1e-9, "{prior:?}");
        assert!((prior.df / 2.095_686_747_716 - 1.0).abs() < 1e-8 && prior.cells == 10);
        // Cells more alike than chance makes them: the mean of the logarithms, and the cap.
        let alike = [1e-4, 8e-5, 1.2e-4, 1.1e-4, 0.9e-4, 1.05e-4, 0.95e-4, 1e-4];
        let prior = fit(&cells(&alike.map(|variance| (variance, 4.0)))).unwrap();
        assert!((prior.variance / 0.000_130_172_578_745 - 1.0).abs() < 1e-9, "{prior:?}");
        assert!((prior.df - MAX_DF).abs() < 1e-12);
    }

    #[test]
    fn prior_needs_enough_noisy_cells() {
        let mut with = CELLS.to_vec();
        with.extend([(0.0, 4.0), (1e-30, 4.0), (1e-4, 0.0), (f64::NAN, 4.0), (f64::INFINITY, 4.0)]);
        assert_eq!(fit(&cells(&with)), fit(&cells(&CELLS)));
        assert_eq!(fit(&cells(&CELLS[..7])), None);
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&cells(&[(0.0, 2.0); 20])), None);
    }

    #[test]
    fn outlying_cell_is_rejected_by_the_prior() {
        // scipy 1.17.1, 2 min(f.cdf, f.sf)(ratio, 4, 30): 0.002009, 0.000939 and 0.001656.
        let prior = Prior { variance: 1e-4, df: 30.0, cells: 12 };
        let at = |ratio: f64| prior.applies_to(&CellVariance { variance: 1e-4 * ratio, df: 4.0 });
        assert!(at(6.12) && !at(8.0) && at(0.02) && !at(0.015));
        assert!(at(0.0), "no spread is not rejected");
        assert!(prior.applies_to(&CellVariance { variance: 0.0, df: 0.0 }));
    }

    #[test]
    fn moderation_weighs_by_degrees_of_freedom() {
        let prior = Prior { variance: 4.0, df: 6.0, cells: 8 };
        let found = prior.moderate(&CellVariance { variance: 1.0, df: 3.0 });
        assert_eq!(found, CellVariance { variance: 3.0, df: 9.0 });
    }

    #[test]
    fn a_cells_variance_is_that_of_its_logarithms() {
        let found = CellVariance::of(&[1.0, std::f64::consts::E]).unwrap();
        assert!((found.variance - 0.5).abs() < 1e-12 && (found.df - 1.0).abs() < 1e-12);
        assert_eq!(CellVariance::of(&[1.0]), None);
        assert_eq!(CellVariance::of(&[1.0, 0.0]), None);
    }
}
