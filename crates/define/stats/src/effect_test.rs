//! Compares two samples of runs, by the method that their number allows.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::detectable;
use crate::distribution::student::{half_width, two_sided};
use crate::effect::{Effect, Interval, Method, SecondEstimate, Verdict, Why};
use crate::length_of;
use crate::prior::{CellVariance, Prior};
use crate::rank::{Shift, centre, shift};

/// How two samples are to be compared; declared before the samples are seen.
#[derive(Debug, Clone, Copy)]
pub struct Design<'a> {
    /// Smallest difference that matters, as a share.
    pub margin: f64,
    /// What is known of the noise from elsewhere.
    pub prior: Option<&'a Prior>,
    /// Whether the n-th values of both samples are of one block and are compared as pairs.
    pub is_paired: bool,
    /// Run-to-run coefficient of variation to assume, as a share, where nothing is known: for the
    /// detectable difference alone, never for an interval.
    pub assumed_cov: f64,
}

/// From this many runs a side on, ranks are looked at, variances may differ, and pairs pay.
///
/// Source: the project's reference, analysis, sections 1.1 and 1.2.
const SOME_RUNS: usize = 5;

/// Above this many runs a side, each has enough of its own to tell its variance.
///
/// Source: the project's reference, analysis, section 1.2.
const MANY_RUNS: usize = 10;

/// Above this ratio two variances are not pooled.
///
/// Source: the project's reference, analysis, section 1.2.
const UNLIKE: f64 = 4.0;

/// Compares two samples; `None` when one is empty or has a value that is not positive and finite.
///
/// The method follows the number of runs of the side that has fewer. One run each: the noise of
/// other cells alone ([`Method::History`]), or no interval. Up to four: the pooled variance,
/// moderated by the prior where there is one and it describes this cell. Five to ten: the same, or
/// Welch where one variance is over four times the other. Above ten: Welch. From five on pairs are
/// compared as pairs where the design says so, and an estimate by ranks stands beside.
///
/// Runs that all gave the same value do not show that there is no noise: their variance is the
/// prior's, and without one there is no interval.
///
/// Source: the project's reference, analysis, sections 0, 1.2, 1.3 and 1.5; G. K. Smyth, 2004,
/// "Linear Models and Empirical Bayes Methods", Statistical Applications in Genetics and Molecular
/// Biology 3(1); B. L. Welch, 1947, "The Generalization of Student's Problem when Several Different
/// Population Variances Are Involved", Biometrika 34(1).
#[must_use]
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
        Err(why) => untold(&base, &variant, why, design.assumed_cov),
    };
    if fewest >= SOME_RUNS && effect.interval.is_some() {
        let ranks = if is_paired {
            centre(&differences(&base, &variant), 0.95)
        } else {
            shift(&base, &variant, 0.95)
        };
        effect.second_estimate = ranks.map(second_estimate);
    }
    effect.decide(design.margin);
    Some(effect)
}

/// Returns the logarithms; `None` without values, or when one has none.
fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let log = |value: &f64| (*value > 0.0 && value.is_finite()).then(|| value.ln());
    if values.is_empty() { None } else { values.iter().map(log).collect() }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / length_of(values)
}

fn differences(base: &[f64], variant: &[f64]) -> Vec<f64> {
    variant.iter().zip(base).map(|(variant, base)| variant - base).collect()
}

fn second_estimate(shift: Shift) -> SecondEstimate {
    let interval = Interval { low: shift.low.exp(), high: shift.high.exp() };
    SecondEstimate { ratio: shift.value.exp(), interval }
}

/// A difference of logarithms and how well it is known.
struct Estimate {
    shift: f64,
    /// Standard error of the shift.
    error: f64,
    df: f64,
    method: Method,
    /// Variance of one run's logarithm.
    of_run: f64,
}

impl Estimate {
    /// Returns the effect with its intervals, not yet decided.
    fn effect(&self) -> Effect {
        let interval = |level: f64| {
            let half = half_width(level, self.df) * self.error;
            Interval { low: (self.shift - half).exp(), high: (self.shift + half).exp() }
        };
        let p = two_sided(self.shift / self.error, self.df);
        Effect {
            ratio: self.shift.exp(),
            interval: Some(interval(0.95)),
            interval90: Some(interval(0.90)),
            method: self.method,
            df: Some(self.df),
            p: Some(p),
            q: Some(p),
            second_estimate: None,
            detectable: detectable::assured(self.error, self.df),
            run_cov: detectable::cov_of(self.of_run),
            verdict: Verdict::Inconclusive,
            why: Some(Why::Wide),
        }
    }
}

/// Returns an effect without an interval: nothing is known of the noise.
fn untold(base: &[f64], variant: &[f64], why: Why, assumed_cov: f64) -> Effect {
    let per_run = 1.0 / length_of(base) + 1.0 / length_of(variant);
    let error = (detectable::log_variance_of(assumed_cov) * per_run).sqrt();
    Effect {
        ratio: (mean(variant) - mean(base)).exp(),
        interval: None,
        interval90: None,
        method: Method::None,
        df: None,
        p: None,
        q: None,
        second_estimate: None,
        detectable: detectable::share(error, f64::INFINITY),
        run_cov: assumed_cov,
        verdict: Verdict::Inconclusive,
        why: Some(why),
    }
}

/// Compares the n-th values with each other.
fn paired(base: &[f64], variant: &[f64]) -> Result<Estimate, Why> {
    let differences = differences(base, variant);
    let spread = CellVariance::of_logs(&differences);
    if !spread.has_spread() {
        return Err(Why::NoSpread);
    }
    Ok(Estimate {
        shift: mean(&differences),
        error: (spread.variance / length_of(&differences)).sqrt(),
        df: spread.df,
        method: Method::Paired,
        // A difference holds the noise of two runs.
        of_run: spread.variance / 2.0,
    })
}

/// Compares two independent samples.
fn two_samples(base: &[f64], variant: &[f64], prior: Option<&Prior>) -> Result<Estimate, Why> {
    let shift = mean(variant) - mean(base);
    let (one, two) = (CellVariance::of_logs(base), CellVariance::of_logs(variant));
    let pooled = one.pooled(two);
    let fewest = base.len().min(variant.len());
    let (n_one, n_two) = (length_of(base), length_of(variant));
    if pooled.has_spread() && (fewest > MANY_RUNS || fewest >= SOME_RUNS && are_unlike(one, two)) {
        let (a, b) = (one.variance / n_one, two.variance / n_two);
        let df = (a + b).powi(2) / (a * a / one.df + b * b / two.df);
        let error = (a + b).sqrt();
        return Ok(Estimate { shift, error, df, method: Method::Welch, of_run: pooled.variance });
    }
    let prior = prior.filter(|prior| prior.is_usable() && prior.applies_to(&pooled));
    let (noise, method) = match prior {
        Some(prior) if pooled.df > 0.0 => (prior.moderate(&pooled), Method::Moderated),
        Some(prior) => (prior.moderate(&pooled), Method::History),
        None if fewest < 2 => return Err(Why::OneRun),
        None if !pooled.has_spread() => return Err(Why::NoSpread),
        None => (pooled, Method::Pooled),
    };
    let error = (noise.variance * (1.0 / n_one + 1.0 / n_two)).sqrt();
    Ok(Estimate { shift, error, df: noise.df, method, of_run: noise.variance })
}

/// Returns whether one variance is so much the larger that they are not pooled.
///
/// Four times alone is common by chance: in one comparison of five of five runs. So it must be rare
/// by chance too, at 5 %, which is a ratio of four at ten runs and of ten at five.
fn are_unlike(one: CellVariance, two: CellVariance) -> bool {
    let (small, large) = if one.variance < two.variance { (one, two) } else { (two, one) };
    if large.variance <= UNLIKE * small.variance {
        return false;
    }
    let ratios = FisherSnedecor::new(large.df, small.df);
    ratios.is_ok_and(|ratios| 2.0 * ratios.sf(large.variance / small.variance) < 0.05)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use Method::{History, Moderated, Paired, Pooled, Welch};

    /// Two samples of `n` runs whose logarithms have exactly this mean difference and variance.
    fn samples(n: u32, shift: f64, sigma: f64) -> (Vec<f64>, Vec<f64>) {
        let raw: Vec<f64> = (0..n).map(|at| f64::from(at) - f64::from(n - 1) / 2.0).collect();
        let spread = CellVariance::of_logs(&raw).variance.sqrt();
        let base: Vec<f64> = raw.iter().map(|log| 1000.0 * (log / spread * sigma).exp()).collect();
        let variant = base.iter().map(|value| value * shift.exp()).collect();
        (base, variant)
    }

    const PLAIN: Design<'static> =
        Design { margin: 0.02, prior: None, is_paired: false, assumed_cov: 0.025 };

    fn prior(sigma: f64, df: f64) -> Prior {
        Prior { variance: sigma * sigma, df, cells: 20 }
    }

    fn near(found: f64, known: f64, within: f64) {
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

    /// 95 % interval, chance.
    const PAIRED: [f64; 3] = [0.998_037_730_080, 1.031_471_872_025, 0.078_111_200_350];

    #[test]
    fn the_pooled_and_the_welch_interval_are_those_of_an_independent_implementation() {
        // scipy 1.17.1: stats.ttest_ind(ln b, ln a, equal_var = ...).confidence_interval(0.95).
        let a = [1000.0, 1040.0, 980.0, 1012.0];
        let b = [1051.0, 1090.0, 1022.0, 1047.0];
        let found = classify_difference(&a, &b, &PLAIN).unwrap();
        let interval = found.interval.unwrap();
        near(found.ratio, POOLED[0], 1e-9);
        near(interval.low, POOLED[1], 1e-9);
        near(interval.high, POOLED[2], 1e-9);
        near(found.p.unwrap(), POOLED[3], 1e-9);
        near(found.interval90.unwrap().low, POOLED[4], 1e-9);
        let (a, b): (Vec<f64>, Vec<f64>) = WELCH_SAMPLES.into_iter().unzip();
        let found = classify_difference(&a, &b, &PLAIN).unwrap();
        let interval = found.interval.unwrap();
        assert_eq!(found.method, Method::Welch);
        near(interval.low, WELCH[0], 1e-9);
        near(interval.high, WELCH[1], 1e-9);
        near(found.df.unwrap(), WELCH[2], 1e-8);
        near(found.p.unwrap(), WELCH[3], 1e-9);
        let found = classify_difference(&a, &b, &Design { is_paired: true, ..PLAIN }).unwrap();
        let interval = found.interval.unwrap();
        near(interval.low, PAIRED[0], 1e-9);
        near(interval.high, PAIRED[1], 1e-9);
        near(found.p.unwrap(), PAIRED[2], 1e-9);
    }

    #[test]
    fn the_moderated_interval_and_that_of_history_are_the_formulas() {
        // numpy and scipy 1.17.1, by the formulas of the reference, section 1.3.
        let a = [1000.0, 1040.0, 980.0, 1012.0];
        let b = [1051.0, 1090.0, 1022.0, 1047.0];
        let known = prior(0.02, 12.0);
        let found = classify_difference(&a, &b, &Design { prior: Some(&known), ..PLAIN }).unwrap();
        let interval = found.interval.unwrap();
        near(interval.low, 1.010_430_696_152, 1e-9);
        near(interval.high, 1.078_914_179_198, 1e-9);
        near(found.p.unwrap(), 0.012_735_614_584, 1e-9);
        assert_eq!((found.df, found.verdict), (Some(18.0), Verdict::Above));
        let known = prior(0.01, 30.0);
        let found =
            classify_difference(&[100.0], &[105.0], &Design { prior: Some(&known), ..PLAIN })
                .unwrap();
        let interval = found.interval.unwrap();
        assert_eq!((found.method, found.verdict), (History, Verdict::Above));
        near(interval.low, 1.020_107_557_342, 1e-9);
        near(interval.high, 1.080_768_387_671, 1e-9);
        near(found.p.unwrap(), 0.001_686_032_020, 1e-9);
        // The multiple is 2.978108553543, and is interpolated to 0.04 %.
        near(found.detectable, 0.043_016_311_654, 2e-5);
    }

    #[test]
    fn the_detectable_difference_is_that_of_the_reference() {
        // Analysis, section 1.5: the table, in units of the run CoV, at a small one.
        let sigma = 1e-4;
        let moderated = prior(sigma, 30.0);
        let of_true_noise = |effect: Effect| {
            let (interval, df) = (effect.interval.unwrap(), effect.df.unwrap());
            let error = (interval.high / interval.low).ln() / 2.0 / half_width(0.95, df);
            // What is printed allows for the error of the estimate.
            near(effect.detectable, detectable::assured(error, df), 1e-9);
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
            near(found(n, &PLAIN), known, 0.006);
        }
        // The table's 30 degrees of freedom are those in all.
        for (n, known) in [(2, 2.90), (3, 2.36), (4, 2.05), (5, 1.83), (6, 1.67), (8, 1.45)] {
            let own = f64::from(2 * n - 2);
            let with = Prior { df: 30.0 - own, ..moderated };
            near(found(n, &Design { prior: Some(&with), ..PLAIN }), known, 0.006);
        }
        let pairs = Design { is_paired: true, ..PLAIN };
        for (n, known) in [(5, 1.68), (6, 1.43), (8, 1.16), (10, 1.00), (15, 0.78), (20, 0.66)] {
            near(found(n, &pairs), known, 0.006);
        }
        let one = classify_difference(&[1.0], &[1.0], &Design { prior: Some(&moderated), ..PLAIN })
            .unwrap();
        near(of_true_noise(one), 4.09, 0.006);
        let one =
            classify_difference(&[1.0], &[1.0], &Design { assumed_cov: sigma, ..PLAIN }).unwrap();
        near(one.detectable / sigma, 3.96, 0.006);
        // "assume 2.5 % / 1.5 %: a single pair sees ~10 % / ~6 %".
        let one = classify_difference(&[1.0], &[1.0], &PLAIN).unwrap();
        near(one.detectable, 0.104, 0.001);
    }

    #[test]
    fn one_run_and_nothing_known_tells_nothing() {
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
    fn equal_runs_are_no_proof_that_there_is_no_noise() {
        for n in [2, 4, 8, 12] {
            let (base, other) = (vec![3.0; n], vec![4.0; n]);
            let found = classify_difference(&base, &other, &PLAIN).unwrap();
            assert_eq!((found.interval, found.why), (None, Some(Why::NoSpread)), "{n}");
            let pairs = Design { is_paired: true, ..PLAIN };
            assert_eq!(
                classify_difference(&base, &other, &pairs).unwrap().why,
                Some(Why::NoSpread),
                "{n}"
            );
            let known = prior(0.02, 20.0);
            let found =
                classify_difference(&base, &other, &Design { prior: Some(&known), ..PLAIN })
                    .unwrap();
            let interval = found.interval.unwrap();
            assert!(interval.high / interval.low > 1.005, "{interval:?}");
            assert_eq!((found.method, found.verdict), (Moderated, Verdict::Above));
        }
        // Rounding is no spread.
        let base = [0.1 + 0.2, 0.3, 0.3];
        assert_eq!(classify_difference(&base, &[0.6; 3], &PLAIN).unwrap().why, Some(Why::NoSpread));
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
    fn what_is_no_ratio_has_no_effect() {
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
