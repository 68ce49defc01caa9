//! What machine time buys: how many runs, and how long each.
//!
//! A run costs what comes before its measured span too, and a longer span does nothing about what
//! differs from run to run; so there is a best length, and it is seldom three long runs.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::detectable;
use crate::distribution::student::half_width;
use crate::prior::CellVariance;

/// How the logarithm of a metric varies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variances {
    /// Variance from run to run that no longer window would lessen.
    pub between: f64,
    /// Long-run variance within a run, in seconds: over the length it is the rest of the variance.
    pub within: f64,
}

impl Variances {
    /// Returns the variance of a run of so many seconds.
    ///
    /// Source: the project's reference, analysis, section 2.
    #[must_use]
    pub fn of_run(&self, seconds: f64) -> f64 {
        self.between + self.within / seconds
    }

    /// Returns the length of the measured span that makes most of any machine time, in seconds.
    ///
    /// `overhead_s` is what a run costs besides. Infinite where runs do not differ.
    ///
    /// Source: W. G. Cochran, 1977, "Sampling Techniques", 3rd edition, section 10.6 (optimum
    /// sampling of subunits); the project's reference, analysis, section 2.
    #[must_use]
    pub fn best_length(&self, overhead_s: f64) -> f64 {
        (overhead_s * self.within / self.between).sqrt()
    }
}

/// The machine time of one variant and what its runs cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Seconds for all runs of one variant.
    pub budget_s: f64,
    /// Seconds that a run costs besides its measured span.
    pub overhead_s: f64,
    /// Shortest measured span that is sensible, seconds.
    pub least_s: f64,
    /// Degrees of freedom that other cells add; 0 for none.
    pub prior_df: f64,
}

/// One way to spend the machine time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Runs of each of two variants.
    pub runs: u32,
    /// Measured span of each, seconds.
    pub seconds: f64,
    /// Half the width of the 95 % interval of the difference of logarithms.
    pub half_width: f64,
    /// Smallest difference, as a share, that is seen four times in five.
    pub detectable: f64,
}

/// Fewest runs that are looked at.
const LEAST_RUNS: u32 = 2;
/// Fewest runs that are proposed. Source: the project's reference, analysis, section 2.
const LEAST_PROPOSED: u32 = 3;
/// Most runs that are looked at.
const MOST_RUNS: u32 = 1_000;

/// Returns every way to spend the machine time of two variants, by the number of runs.
///
/// Empty when the time does not pay for two runs of the shortest span.
///
/// Source: the project's reference, analysis, section 2: the scan over N.
#[must_use]
pub fn scan(machine: &Machine, variances: &Variances) -> Vec<Candidate> {
    let at = |runs: u32| {
        let n = f64::from(runs);
        let seconds = machine.budget_s / n - machine.overhead_s;
        (seconds >= machine.least_s && seconds > 0.0).then(|| {
            let error = (2.0 * variances.of_run(seconds) / n).sqrt();
            let freedom = 2.0 * n - 2.0 + machine.prior_df;
            Candidate {
                runs,
                seconds,
                half_width: half_width(0.95, freedom) * error,
                detectable: detectable::share(error, freedom),
            }
        })
    };
    (LEAST_RUNS..=MOST_RUNS).map_while(at).collect()
}

/// Returns the candidate with the narrowest interval of three runs or more; of equals, more runs.
///
/// Source: the project's reference, analysis, section 2.
#[must_use]
pub fn best(candidates: &[Candidate]) -> Option<&Candidate> {
    let enough = candidates.iter().filter(|one| one.runs >= LEAST_PROPOSED);
    enough.rev().min_by(|a, b| a.half_width.total_cmp(&b.half_width))
}

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

    /// In per cent, as the reference does: 5 % from second to second with AR 0.9 is S = 475.
    fn variances(between_percent: f64) -> Variances {
        Variances { between: (between_percent / 100.0).powi(2), within: 475e-4 }
    }

    fn machine(hours: f64, overhead_s: f64) -> Machine {
        // The reference's budgets are those of both arms.
        let budget_s = hours * 1800.0;
        Machine { budget_s, overhead_s, least_s: 60.0, prior_df: 0.0 }
    }

    #[test]
    fn the_best_designs_are_those_of_the_reference() {
        // Analysis, section 2, examples: best N, R and half-width.
        let examples = [
            (6.0, 600.0, 1.0, 10, 480.0, 1.33),
            (6.0, 1800.0, 0.5, 4, 900.0, 1.53),
            (24.0, 1800.0, 2.0, 19, 474.0, 1.47),
        ];
        for (hours, overhead_s, between, runs, seconds, half) in examples {
            let all = scan(&machine(hours, overhead_s), &variances(between));
            let best = best(&all).unwrap();
            assert_eq!(best.runs, runs);
            assert!((best.seconds - seconds).abs() < 0.5, "{best:?}");
            assert!((best.half_width * 100.0 - half).abs() < 0.006, "{best:?}");
        }
        let all = scan(&machine(6.0, 600.0), &variances(1.0));
        let half = |runs: u32| {
            all.iter().find(|one| one.runs == runs).map(|one| one.half_width * 100.0).unwrap()
        };
        assert!((half(3) - 2.44).abs() < 0.006 && (half(5) - 1.67).abs() < 0.006);
        let all = scan(&machine(24.0, 1800.0), &variances(2.0));
        let three = all.iter().find(|one| one.runs == 3).unwrap();
        assert!((three.half_width * 100.0 - 4.6).abs() < 0.06, "{three:?}");
    }

    #[test]
    fn the_closed_form_is_where_the_variance_is_least() {
        let variances = variances(1.0);
        let length = variances.best_length(600.0);
        // sqrt(W S) / s_b.
        assert!((length - (600.0 * 475.0_f64).sqrt()).abs() < 1e-6);
        let cost = |seconds: f64| variances.of_run(seconds) * (600.0 + seconds);
        assert!(cost(length) < cost(length * 1.01) && cost(length) < cost(length * 0.99));
    }

    #[test]
    fn other_cells_and_short_budgets() {
        let known = Machine { prior_df: 30.0, ..machine(6.0, 600.0) };
        let (with, without) =
            (scan(&known, &variances(1.0)), scan(&machine(6.0, 600.0), &variances(1.0)));
        assert!(with[0].half_width < without[0].half_width / 2.0);
        assert_eq!(scan(&machine(0.5, 600.0), &variances(1.0)), []);
        assert_eq!(best(&[]), None);
    }

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
