//! What a pilot tells of the experiment to come: its noise, and the runs that reach a precision.
//!
//! How machine time is spent best stands with the steps it is spent on, in `analysis::budget`.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::distribution::student::half_width;
use crate::prior::CellVariance;

/// Confidence of the bound at which a poorly known variance is taken. Source: as [`between_runs`].
const BOUND: f64 = 0.80;
/// Degrees of freedom from which on the estimate itself is taken. Source: as [`between_runs`].
const TRUSTED_DF: f64 = 4.0;
/// Smallest run-to-run deviation that is reckoned with. Source: as [`between_runs`].
const LEAST_DEVIATION: f64 = 0.003;

/// Returns the variance from run to run that no longer window would lessen.
///
/// `runs` is the variance of the runs' means, `within` the mean of S/R over the runs. Where nothing
/// is left of it, or fewer than four degrees of freedom are behind it, its upper bound of 80 % is
/// taken; it is never below that of 0.3 %.
///
/// Source: the project's reference, analysis, section 2, pilot; the bound: W. G. Cochran and G. W.
/// Snedecor, 1989, "Statistical Methods", 8th edition, section 5.11.
#[must_use]
pub fn between_runs(runs: CellVariance, within: f64) -> f64 {
    let left = runs.variance - within;
    let is_trusted = runs.df >= TRUSTED_DF && left > 0.0;
    let quantile = ChiSquared::new(runs.df).map(|chi| chi.inverse_cdf(1.0 - BOUND));
    let bound = quantile.map_or(runs.variance, |quantile| runs.variance * runs.df / quantile);
    let seen = if is_trusted { left } else { bound - within };
    seen.max(LEAST_DEVIATION * LEAST_DEVIATION)
}

/// Returns the runs of each variant that reach a half-width, after a pilot: its own at least.
///
/// `pilot` is the variance of the logarithms in the pilot, `pilot_runs` the fewest runs of a
/// variant in it; `half` is half the width of the 95 % interval of the difference of logarithms.
/// The interval after all runs must be that of the pilot's variance and degrees of freedom.
///
/// Source: C. Stein, 1945, "A Two-Sample Test for a Linear Hypothesis Whose Power Is Independent of
/// the Variance", Annals of Mathematical Statistics 16(3).
#[must_use]
pub fn runs_needed(pilot: CellVariance, pilot_runs: u32, half: f64) -> u32 {
    let error = half / half_width(0.95, pilot.df);
    whole((2.0 * pilot.variance / (error * error)).ceil()).max(pilot_runs)
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
#[expect(clippy::cast_sign_loss, reason = "the cast saturates")]
const fn whole(number: f64) -> u32 {
    number as u32
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
