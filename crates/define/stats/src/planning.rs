//! Planning from a pilot: its noise, and the runs for a precision.
//!
//! Budgets and half-widths of an experiment are in `analysis::budget`.

use model::whole;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::distribution::student::half_width;
use crate::prior::CellVariance;

/// Confidence of the upper bound of a poorly known variance.
///
/// Our choice, as for the other limits of [`between_runs`]: a plan on an estimate of few degrees is
/// too optimistic half of the time; at the 80 % bound it is so one time in five.
const BOUND: f64 = 0.80;
/// Degrees of freedom from which the estimate itself is used.
const TRUSTED_DF: f64 = 4.0;
/// Smallest run-to-run deviation that is assumed.
const MIN_DEVIATION: f64 = 0.003;

/// Returns the run-to-run variance, the within-run part removed.
///
/// `runs` is the variance of the runs' means, `within` the mean over the runs of the long-run
/// variance over the length. Where nothing is left, or fewer than four degrees of freedom are
/// behind it, its upper bound of 80 % is taken; it is at least that of 0.3 %.
///
/// Source: components of variance [Kalibera Jones 2013]; the bound: [Snedecor Cochran 1989, section
/// 5.11].
pub fn between_runs(runs: CellVariance, within: f64) -> f64 {
    let left = runs.variance - within;
    let is_trusted = runs.df >= TRUSTED_DF && left > 0.0;
    let quantile = ChiSquared::new(runs.df).map(|chi| chi.inverse_cdf(1.0 - BOUND));
    let bound = quantile.map_or(runs.variance, |quantile| runs.variance * runs.df / quantile);
    let between = if is_trusted { left } else { bound - within };
    between.max(MIN_DEVIATION * MIN_DEVIATION)
}

/// Returns the runs of each variant that reach a half-width (Stein).
///
/// At least the pilot's runs. `pilot` is the variance of the logarithms in the pilot, `pilot_runs`
/// the fewest runs of a variant in it; `half` is half the width of the 95 % interval of the
/// difference of logarithms. The interval after all runs must use the pilot's variance and degrees
/// of freedom.
///
/// Source: [Stein 1945].
pub fn runs_needed(pilot: CellVariance, pilot_runs: u32, half: f64) -> u32 {
    let error = half / half_width(0.95, pilot.df);
    let runs = whole((2.0 * pilot.variance / (error * error)).ceil());
    u32::try_from(runs).unwrap_or(u32::MAX).max(pilot_runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poorly_known_variance_is_taken_at_its_bound() {
        let known = |variance: f64, df: f64| CellVariance { variance, df };
        assert!((between_runs(known(5e-4, 6.0), 1e-4) / 4e-4 - 1.0).abs() < 1e-12);
        // scipy 1.17.1, stats.chi2.ppf(0.2, [2, 6]): 0.446287 and 3.070088.
        let bound = 5e-4 * 2.0 / 0.446_287 - 1e-4;
        assert!((between_runs(known(5e-4, 2.0), 1e-4) / bound - 1.0).abs() < 1e-5);
        let bound = 1e-4 * 6.0 / 3.070_088 - 1e-4;
        assert!((between_runs(known(1e-4, 6.0), 1e-4) / bound - 1.0).abs() < 1e-5);
        assert!((between_runs(known(1e-9, 6.0), 0.0).sqrt() - 0.003).abs() < 1e-12);
    }

    #[test]
    fn two_stages_need_the_square_of_the_precision() {
        // t at 4 degrees: 2.7764; 2 (2.7764 x 0.01 / 0.02)^2 = 3.85, and a quarter of the width.
        let pilot = CellVariance { variance: 1e-4, df: 4.0 };
        assert_eq!(runs_needed(pilot, 3, 0.02), 4);
        assert_eq!(runs_needed(pilot, 3, 0.005), 62);
        assert_eq!(runs_needed(pilot, 3, 0.1), 3);
        assert_eq!(runs_needed(pilot, 3, 0.0), u32::MAX);
    }
}
