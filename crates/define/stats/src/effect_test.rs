//! Tests the difference of two samples, by a method for their size.

use crate::detectable;
use crate::distribution::fisher;
use crate::distribution::student::{half_width, two_sided};
use crate::effect::{Effect, Interval, Method, SecondEstimate, Verdict, Why};
use crate::paired::inflation;
use crate::prior::{CellVariance, NO_SPREAD, Prior};
use crate::rank::{centre, separated, shift};
use crate::sample::mean;
use model::float;

/// Design of a comparison, declared before the runs.
#[derive(Debug, Clone, Copy)]
pub struct Design<'a> {
    /// Smallest difference that matters, as a share.
    pub margin: f64,
    /// Prior of the noise from other cells.
    pub prior: Option<&'a Prior>,
    /// Whether the n-th values of both samples are a pair (one block).
    pub is_paired: bool,
    /// Run-to-run CoV to assume where the noise is unknown, as a share.
    ///
    /// For the detectable difference alone, never for an interval.
    pub assumed_cov: f64,
}

/// Fewest runs a side for rank estimates, Welch's test and pairs.
///
/// Our choice: below five a rank interval of 95 % does not exist or spans all values, a variance of
/// its own is hardly known, and pairs lose more in degrees of freedom than they gain.
const SOME_RUNS: usize = 5;

/// Most runs a side with a pooled or moderated variance.
///
/// Our choice: above ten, each side's own variance is known well enough, and Welch's test assumes
/// less.
const MANY_RUNS: usize = 10;

/// Ratio above which two variances are not pooled, when also significant.
///
/// Our choice: below four the pooled test keeps its level at equal numbers of runs.
const UNEQUAL_RATIO: f64 = 4.0;

/// Compares two samples; `None` unless all values are positive and finite.
///
/// The method follows the number of runs of the smaller side. One run each: the prior's variance
/// alone ([`Method::History`]), or no interval. Up to four: the pooled variance, moderated by the
/// prior where one describes this cell. Five to ten: the same, or Welch where one variance is over
/// four times the other. Above ten: Welch. From five on pairs are compared as pairs where the
/// design pairs them, widened for slow noise ([`inflation`]), and a rank estimate is added.
///
/// Runs that all gave the same value do not show that there is no noise: their variance is the
/// prior's. Without one, five runs a side have the rank interval ([`Method::Ranks`]), which assumes
/// no distribution, and fewer have no interval.
///
/// Source: moderated t [Smyth 2004]; [Welch 1947]; [Hodges Lehmann 1963]; the limits between the
/// methods are our choices, each with its constant.
pub fn classify_difference(base: &[f64], variant: &[f64], design: &Design<'_>) -> Option<Effect> {
    let (base, variant) = (logs(base)?, logs(variant)?);
    let fewest = base.len().min(variant.len());
    let is_paired = design.is_paired && fewest >= SOME_RUNS && base.len() == variant.len();
    let estimate = if is_paired {
        paired(&base, &variant)
    } else {
        two_samples(&base, &variant, design.prior)
    };
    let mut effect = match estimate {
        Ok(estimate) => estimate.effect(),
        Err(Why::NoSpread) if fewest >= SOME_RUNS => by_ranks(&base, &variant, design.assumed_cov),
        Err(why) => unknown_noise(&base, &variant, why, design.assumed_cov),
    };
    if fewest >= SOME_RUNS && effect.interval.is_some() {
        let ranks = if is_paired {
            centre(&differences(&base, &variant), 0.95)
        } else {
            shift(&base, &variant, 0.95)
        };
        effect.second_estimate = ranks.map(|shift| SecondEstimate {
            ratio: shift.value.exp(),
            interval: Interval { low: shift.low.exp(), high: shift.high.exp() },
        });
    }
    effect.decide(design.margin);
    Some(effect)
}

/// Returns the logarithms; `None` without values, or when one has none.
pub(crate) fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let log = |value: &f64| (*value > 0.0 && value.is_finite()).then(|| value.ln());
    if values.is_empty() { None } else { values.iter().map(log).collect() }
}

pub(crate) fn differences(base: &[f64], variant: &[f64]) -> Vec<f64> {
    variant.iter().zip(base).map(|(variant, base)| variant - base).collect()
}

/// A difference of logarithms with its standard error.
pub(crate) struct Estimate {
    pub(crate) shift: f64,
    /// Standard error of the shift.
    pub(crate) error: f64,
    pub(crate) df: f64,
    pub(crate) method: Method,
    /// Variance of one run's logarithm.
    pub(crate) of_run: f64,
}

impl Estimate {
    /// Returns the effect with its intervals, without a verdict.
    pub(crate) fn effect(&self) -> Effect {
        let interval = |level: f64| {
            let half = half_width(level, self.df) * self.error;
            Interval { low: (self.shift - half).exp(), high: (self.shift + half).exp() }
        };
        let p = Some(two_sided(self.shift / self.error, self.df));
        Effect {
            interval: Some(interval(0.95)),
            interval90: Some(interval(0.90)),
            method: self.method,
            df: Some(self.df),
            p,
            q: p,
            ..unknown(
                self.shift,
                detectable::assured(self.error, self.df),
                detectable::cov_of(self.of_run),
                Why::Wide,
            )
        }
    }
}

/// Returns an effect without an interval: the noise is unknown.
fn unknown_noise(base: &[f64], variant: &[f64], why: Why, assumed_cov: f64) -> Effect {
    let per_run = 1.0 / float(base.len()) + 1.0 / float(variant.len());
    let error = (detectable::log_variance_of(assumed_cov) * per_run).sqrt();
    let detectable = detectable::share(error, f64::INFINITY);
    unknown(mean(variant) - mean(base), detectable, assumed_cov, why)
}

/// Returns the effect of two samples whose runs do not differ at all, by ranks.
///
/// All differences are one value, so both limits are it: with ties the interval has at least its
/// level. Values that agree to rounding are equal.
///
/// Source: [`shift`]; [`separated`].
fn by_ranks(base: &[f64], variant: &[f64], assumed_cov: f64) -> Effect {
    let effect = unknown_noise(base, variant, Why::NoSpread, assumed_cov);
    let is_equal = effect.ratio.ln().abs() < NO_SPREAD.sqrt();
    let ratio = if is_equal { 1.0 } else { effect.ratio };
    let interval = Some(Interval { low: ratio, high: ratio });
    let p = Some(if is_equal { 1.0 } else { separated(base.len(), variant.len()) });
    Effect { ratio, interval, interval90: interval, method: Method::Ranks, p, q: p, ..effect }
}

/// Returns an effect without intervals.
fn unknown(shift: f64, detectable: f64, run_cov: f64, why: Why) -> Effect {
    Effect {
        ratio: shift.exp(),
        interval: None,
        interval90: None,
        method: Method::None,
        df: None,
        p: None,
        q: None,
        second_estimate: None,
        detectable,
        run_cov,
        verdict: Verdict::Inconclusive,
        why: Some(why),
        is_blocked: false,
    }
}

/// Paired comparison: the differences of the n-th values.
fn paired(base: &[f64], variant: &[f64]) -> Result<Estimate, Why> {
    let differences = differences(base, variant);
    let spread = CellVariance::of_values(&differences);
    if !spread.has_spread() {
        return Err(Why::NoSpread);
    }
    let blocks = float(differences.len());
    Ok(Estimate {
        shift: mean(&differences),
        error: (spread.variance * inflation(blocks) / blocks).sqrt(),
        df: spread.df,
        method: Method::Paired,
        // A difference holds the noise of two runs.
        of_run: spread.variance / 2.0,
    })
}

/// Compares two independent samples.
fn two_samples(base: &[f64], variant: &[f64], prior: Option<&Prior>) -> Result<Estimate, Why> {
    let shift = mean(variant) - mean(base);
    let (one, two) = (CellVariance::of_values(base), CellVariance::of_values(variant));
    let pooled = one.pooled(two);
    let fewest = base.len().min(variant.len());
    let (n_one, n_two) = (float(base.len()), float(variant.len()));
    if pooled.has_spread() && (fewest > MANY_RUNS || fewest >= SOME_RUNS && are_unequal(one, two)) {
        let (squared_error, df) = one.welch(two);
        let error = squared_error.sqrt();
        return Ok(Estimate { shift, error, df, method: Method::Welch, of_run: pooled.variance });
    }
    let prior = prior.filter(|prior| prior.is_usable() && prior.applies_to(&pooled));
    // Equal values do not show that there is no noise: it is that of the prior alone.
    let own = if pooled.has_spread() { pooled } else { CellVariance { variance: 0.0, df: 0.0 } };
    let (noise, method) = match prior {
        Some(prior) if pooled.df > 0.0 => (prior.moderate(&own), Method::Moderated),
        Some(prior) => (prior.moderate(&own), Method::History),
        None if fewest < 2 => return Err(Why::OneRun),
        None if !pooled.has_spread() => return Err(Why::NoSpread),
        None => (pooled, Method::Pooled),
    };
    let error = (noise.variance * (1.0 / n_one + 1.0 / n_two)).sqrt();
    Ok(Estimate { shift, error, df: noise.df, method, of_run: noise.variance })
}

/// Returns whether two variances are too different to be pooled.
///
/// A ratio above four alone is common by chance: in one comparison of five of five runs. So it must
/// also be significant at 5 %, which is a ratio of four at ten runs and of ten at five.
fn are_unequal(one: CellVariance, two: CellVariance) -> bool {
    let (small, large) = if one.variance < two.variance { (one, two) } else { (two, one) };
    if large.variance <= UNEQUAL_RATIO * small.variance {
        return false;
    }
    2.0 * fisher::above(large.variance / small.variance, large.df, small.df) < 0.05
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use Method::{History, Moderated, Paired, Pooled, Ranks, Welch};

    /// Two samples of `n` runs whose logarithms have exactly this mean difference and variance.
    fn samples(n: u32, shift: f64, sigma: f64) -> (Vec<f64>, Vec<f64>) {
        let raw: Vec<f64> = (0..n).map(|at| f64::from(at) - f64::from(n - 1) / 2.0).collect();
        let spread = CellVariance::of_values(&raw).variance.sqrt();
        let base: Vec<f64> = raw.iter().map(|log| 1000.0 * (log / spread * sigma).exp()).collect();
        let variant = base.iter().map(|value| value * shift.exp()).collect();
        (base, variant)
    }

    const PLAIN: Design<'static> =
        Design { margin: 0.02, prior: None, is_paired: false, assumed_cov: 0.025 };

    fn prior(sigma: f64, df: f64) -> Prior {
        Prior { variance: sigma * sigma, df, cells: 20 }
    }

    fn assert_near(found: f64, known: f64, within: f64) {
        assert!((found - known).abs() <= within, "{found} is not {known}");
    }

    #[test]
    fn the_method_follows_the_number_of_runs() {
        let prior = prior(0.01, 30.0);
        let with = Design { prior: Some(&prior), ..PLAIN };
        let method = |n: u32, design: &Design<'_>| {
            let (base, variant) = samples(n, 0.1, 0.01);
            classify_difference(&base, &variant, design).unwrap().method
        };
        let plain: Vec<Method> = [2, 4, 5, 10, 11].map(|n| method(n, &PLAIN)).to_vec();
        assert_eq!(plain, [Pooled, Pooled, Pooled, Pooled, Welch]);
        let moderated: Vec<Method> = [2, 4, 5, 10, 11].map(|n| method(n, &with)).to_vec();
        assert_eq!(moderated, [Moderated, Moderated, Moderated, Moderated, Welch]);
        let (base, mut variant) = samples(5, 0.1, 0.01);
        variant[0] *= 1.2;
        assert_eq!(classify_difference(&base, &variant, &with).unwrap().method, Welch);
        assert_eq!(classify_difference(&base[..4], &variant, &PLAIN).unwrap().method, Pooled);
        let pairs = Design { is_paired: true, ..with };
        assert_eq!(classify_difference(&base, &variant, &pairs).unwrap().method, Paired);
        assert_eq!(classify_difference(&base[..4], &variant[..4], &pairs).unwrap().method, Pooled);
    }

    /// Ratio, 95 % interval, chance, lower 90 % limit.
    const POOLED: [f64; 5] = [
        1.044_111_107_678,
        0.998_666_500_239,
        1.091_623_685_099,
        0.055_253_166_547,
        1.007_857_337_160,
    ];

    /// Base and variant.
    const WELCH_SAMPLES: [(f64, f64); 11] = [
        (1000.0, 1010.0),
        (1012.0, 1043.0),
        (995.0, 981.0),
        (1003.0, 1060.0),
        (990.0, 1002.0),
        (1021.0, 1035.0),
        (1008.0, 1007.0),
        (999.0, 968.0),
        (1005.0, 1049.0),
        (997.0, 1020.0),
        (1011.0, 1031.0),
    ];

    /// 95 % interval, degrees of freedom, chance.
    const WELCH: [f64; 4] =
        [0.995_162_881_234, 1.034_451_611_098, 11.950_980_536_464, 0.128_336_717_067];

    /// 95 % interval, chance: scipy's error times the root of the inflation of eleven blocks.
    const PAIRED: [f64; 3] = [0.996_930_862_847, 1.032_617_089_271, 0.095_807_997_073];

    #[test]
    fn pooled_and_welch_intervals_match_scipy() {
        // scipy 1.17.1: stats.ttest_ind(ln b, ln a, equal_var = ...).confidence_interval(0.95).
        let a = [1000.0, 1040.0, 980.0, 1012.0];
        let b = [1051.0, 1090.0, 1022.0, 1047.0];
        let found = classify_difference(&a, &b, &PLAIN).unwrap();
        let interval = found.interval.unwrap();
        assert_near(found.ratio, POOLED[0], 1e-9);
        assert_near(interval.low, POOLED[1], 1e-9);
        assert_near(interval.high, POOLED[2], 1e-9);
        assert_near(found.p.unwrap(), POOLED[3], 1e-9);
        assert_near(found.interval90.unwrap().low, POOLED[4], 1e-9);
        let (a, b): (Vec<f64>, Vec<f64>) = WELCH_SAMPLES.into_iter().unzip();
        let found = classify_difference(&a, &b, &PLAIN).unwrap();
        let interval = found.interval.unwrap();
        assert_eq!(found.method, Method::Welch);
        assert_near(interval.low, WELCH[0], 1e-9);
        assert_near(interval.high, WELCH[1], 1e-9);
        assert_near(found.df.unwrap(), WELCH[2], 1e-8);
        assert_near(found.p.unwrap(), WELCH[3], 1e-9);
        let found = classify_difference(&a, &b, &Design { is_paired: true, ..PLAIN }).unwrap();
        let interval = found.interval.unwrap();
        assert_near(interval.low, PAIRED[0], 1e-9);
        assert_near(interval.high, PAIRED[1], 1e-9);
        assert_near(found.p.unwrap(), PAIRED[2], 1e-9);
    }

    #[test]
    fn moderated_and_history_intervals_match_scipy() {
        // numpy and scipy 1.17.1, by the posterior variance [Smyth 2004, section 4].
        let a = [1000.0, 1040.0, 980.0, 1012.0];
        let b = [1051.0, 1090.0, 1022.0, 1047.0];
        let known = prior(0.02, 12.0);
        let found = classify_difference(&a, &b, &Design { prior: Some(&known), ..PLAIN }).unwrap();
        let interval = found.interval.unwrap();
        assert_near(interval.low, 1.010_430_696_152, 1e-9);
        assert_near(interval.high, 1.078_914_179_198, 1e-9);
        assert_near(found.p.unwrap(), 0.012_735_614_584, 1e-9);
        assert_eq!((found.df, found.verdict), (Some(18.0), Verdict::Above));
        let known = prior(0.01, 30.0);
        let found =
            classify_difference(&[100.0], &[105.0], &Design { prior: Some(&known), ..PLAIN })
                .unwrap();
        let interval = found.interval.unwrap();
        assert_eq!((found.method, found.verdict), (History, Verdict::Above));
        assert_near(interval.low, 1.020_107_557_342, 1e-9);
        assert_near(interval.high, 1.080_768_387_671, 1e-9);
        assert_near(found.p.unwrap(), 0.001_686_032_020, 1e-9);
        // The multiple is 2.978108553543, and is interpolated to 0.04 %.
        assert_near(found.detectable, 0.043_016_311_654, 2e-5);
    }

    #[test]
    fn detectable_difference_matches_the_noncentral_t() {
        // In units of the run CoV, at a small one: noncentral t by scipy 1.17.1.
        let sigma = 1e-4;
        let moderated = prior(sigma, 30.0);
        let of_true_noise = |effect: Effect| {
            let (interval, df) = (effect.interval.unwrap(), effect.df.unwrap());
            let error = (interval.high / interval.low).ln() / 2.0 / half_width(0.95, df);
            // The printed figure allows for the error of the estimate.
            assert_near(effect.detectable, detectable::assured(error, df), 1e-9);
            detectable::share(error, df) / sigma
        };
        let found = |n: u32, design: &Design<'_>| {
            let (base, mut variant) = samples(n, 0.1, sigma);
            if design.is_paired {
                // Log-ratios with a standard deviation of sigma: the base's own noise.
                let runs = base.iter().zip(&mut variant);
                runs.for_each(|(base, variant)| *variant = 1100.0 * (*base / 1000.0).powi(2));
            }
            of_true_noise(classify_difference(&base, &variant, design).unwrap())
        };
        let unpaired = [(2, 5.65), (3, 3.07), (4, 2.38), (5, 2.02), (6, 1.80), (8, 1.51)];
        for (n, known) in unpaired.into_iter().chain([(10, 1.32), (15, 1.06), (20, 0.91)]) {
            assert_near(found(n, &PLAIN), known, 0.006);
        }
        // The table's 30 degrees of freedom are those in all.
        for (n, known) in [(2, 2.90), (3, 2.36), (4, 2.05), (5, 1.83), (6, 1.67), (8, 1.45)] {
            let own = f64::from(2 * n - 2);
            let with = Prior { df: 30.0 - own, ..moderated };
            assert_near(found(n, &Design { prior: Some(&with), ..PLAIN }), known, 0.006);
        }
        let pairs = Design { is_paired: true, ..PLAIN };
        for (n, known) in [(5, 1.68), (6, 1.43), (8, 1.16), (10, 1.00), (15, 0.78), (20, 0.66)] {
            let known = known * inflation(f64::from(n)).sqrt();
            assert_near(found(n, &pairs), known, 0.007);
        }
        let one = classify_difference(&[1.0], &[1.0], &Design { prior: Some(&moderated), ..PLAIN })
            .unwrap();
        assert_near(of_true_noise(one), 4.09, 0.006);
        let one =
            classify_difference(&[1.0], &[1.0], &Design { assumed_cov: sigma, ..PLAIN }).unwrap();
        assert_near(one.detectable / sigma, 3.96, 0.006);
        // A CoV of 2.5 %: a single pair detects about 10 %.
        let one = classify_difference(&[1.0], &[1.0], &PLAIN).unwrap();
        assert_near(one.detectable, 0.104, 0.001);
    }

    #[test]
    fn one_run_without_prior_is_inconclusive() {
        for base in [&[100.0][..], &[100.0, 101.0, 99.0]] {
            let found = classify_difference(base, &[200.0], &PLAIN).unwrap();
            assert_eq!((found.method, found.interval, found.p), (Method::None, None, None));
            assert_eq!((found.verdict, found.why), (Verdict::Inconclusive, Some(Why::OneRun)));
        }
        let known = prior(0.02, 20.0);
        let found = classify_difference(
            &[100.0, 101.0, 99.0],
            &[200.0],
            &Design { prior: Some(&known), ..PLAIN },
        );
        let found = found.unwrap();
        assert_eq!((found.method, found.verdict), (Moderated, Verdict::Above));
        assert_eq!(found.df, Some(22.0));
        let vague = Prior { df: 0.4, ..known };
        let found =
            classify_difference(&[100.0], &[200.0], &Design { prior: Some(&vague), ..PLAIN })
                .unwrap();
        assert_eq!(found.why, Some(Why::OneRun));
    }

    #[test]
    fn equal_runs_do_not_imply_zero_noise() {
        for n in [2, 4, 8, 12] {
            let (base, other) = (vec![3.0; n], vec![4.0; n]);
            for design in [PLAIN, Design { is_paired: true, ..PLAIN }] {
                let found = classify_difference(&base, &other, &design).unwrap();
                let unknown = (Method::None, Verdict::Inconclusive, Some(Why::NoSpread));
                let known = if n < 5 { unknown } else { (Ranks, Verdict::Above, None) };
                assert_eq!((found.method, found.verdict, found.why), known, "{n}");
            }
            let known = prior(0.02, 20.0);
            let found =
                classify_difference(&base, &other, &Design { prior: Some(&known), ..PLAIN })
                    .unwrap();
            let interval = found.interval.unwrap();
            // Student's t at the prior's 20 degrees of freedom, and its 2 %.
            let half = 2.086 * 0.02 * (2.0 / n as f64).sqrt();
            assert_near((interval.high / interval.low).ln() / 2.0, half, 1e-4);
            assert_eq!((found.method, found.verdict), (Moderated, Verdict::Above));
        }
        // Rounding is no spread.
        let base = [0.1 + 0.2, 0.3, 0.3];
        assert_eq!(classify_difference(&base, &[0.6; 3], &PLAIN).unwrap().why, Some(Why::NoSpread));
    }

    #[test]
    fn five_equal_runs_a_side_are_tested_by_ranks() {
        // scipy 1.17.1: stats.mannwhitneyu(five, five, method = "exact") of separated values.
        let found = classify_difference(&[8.0; 5], &[1.0; 5], &PLAIN).unwrap();
        assert_near(found.p.unwrap(), 0.007_936_507_936, 1e-9);
        assert_near(found.interval.unwrap().high, 0.125, 1e-12);
        assert_eq!((found.method, found.verdict), (Ranks, Verdict::Below));
        let same = classify_difference(&[0.1 + 0.2; 5], &[0.3; 6], &PLAIN).unwrap();
        assert_eq!((same.ratio, same.p, same.verdict), (1.0, Some(1.0), Verdict::Equivalent));
    }

    #[test]
    fn a_cell_the_prior_does_not_describe_has_its_own_noise() {
        let known = prior(0.001, 40.0);
        let (base, variant) = samples(3, 0.0, 0.05);
        let found =
            classify_difference(&base, &variant, &Design { prior: Some(&known), ..PLAIN }).unwrap();
        assert_eq!((found.method, found.df), (Pooled, Some(4.0)));
    }

    #[test]
    fn non_positive_values_have_no_effect() {
        for wrong in [vec![], vec![0.0], vec![-1.0], vec![f64::NAN], vec![f64::INFINITY, 1.0]] {
            assert_eq!(classify_difference(&wrong, &[1.0, 2.0], &PLAIN), None);
            assert_eq!(classify_difference(&[1.0, 2.0], &wrong, &PLAIN), None);
        }
    }

    proptest! {
        #[test]
        fn variants_can_change_places_and_units_do_not_matter(
            base in prop::collection::vec(900.0..1100.0_f64, 2..14),
            variant in prop::collection::vec(900.0..1100.0_f64, 2..14),
            factor in 1e-3..1e3_f64,
        ) {
            let there = classify_difference(&base, &variant, &PLAIN).unwrap();
            let back = classify_difference(&variant, &base, &PLAIN).unwrap();
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
            prop_assert!((there.detectable / back.detectable - 1.0).abs() < 1e-9);
            let mirrored = match back.verdict {
                Verdict::Above => Verdict::Below,
                Verdict::Below => Verdict::Above,
                Verdict::SmallButReal => Verdict::SmallButReal,
                Verdict::Equivalent => Verdict::Equivalent,
                Verdict::Inconclusive => Verdict::Inconclusive,
            };
            prop_assert_eq!((there.verdict, there.why), (mirrored, back.why));
            let scaled = |values: &[f64]| values.iter().map(|x| x * factor).collect::<Vec<_>>();
            let found = classify_difference(&scaled(&base), &scaled(&variant), &PLAIN).unwrap();
            prop_assert!((found.p.unwrap() - there.p.unwrap()).abs() < 1e-6);
        }
    }
}
