//! Machines as a random factor: the mean over machines, and how far machines differ.
//!
//! Block h, b has the log-ratio mu + u_h + e_hb: machines are drawn from a class, blocks within a
//! machine. The machine is what was drawn at random, so the means of machines are the sample.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::detectable::cov_of;
use crate::distribution::fisher;
use crate::distribution::student::{half_width, two_sided};
use crate::effect::{Effect, Method};
use crate::effect_test::{Estimate, differences, logs};
use crate::planning::between_runs;
use crate::prior::{CellVariance, Variation};
use crate::sample::mean;
use model::float;

/// Fewest machines among which one can be an outlier.
///
/// Our choice: the spread of three is hardly known without the one that is tested.
const OUTLIER_FROM: usize = 5;

/// Largest p-value of an outlier, adjusted for the number of machines.
///
/// Our choice: the level that the 95 % intervals have.
const OUTLIER_P: f64 = 0.05;

/// Difference of two variants on one machine, as a logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineMean {
    /// Logarithm of the ratio on this machine.
    pub shift: f64,
    /// Squared error of the shift, in variances of one block's log-ratio.
    per_block: f64,
    /// Variance of one block's log-ratio on this machine.
    within: CellVariance,
}

impl MachineMean {
    /// Returns the difference on one machine; `None` unless all values are positive and finite.
    ///
    /// `is_paired` states that the n-th values of both variants are one block. Otherwise all values
    /// count, and a block's log-ratio has twice the variance of a run.
    pub fn of(base: &[f64], variant: &[f64], is_paired: bool) -> Option<Self> {
        let (base, variant) = (logs(base)?, logs(variant)?);
        let shift = mean(&variant) - mean(&base);
        if is_paired && base.len() == variant.len() {
            let differences = differences(&base, &variant);
            let within = CellVariance::of_values(&differences);
            return Some(Self { shift, per_block: 1.0 / float(differences.len()), within });
        }
        let runs = CellVariance::of_values(&base).pooled(CellVariance::of_values(&variant));
        let per_block = (1.0 / float(base.len()) + 1.0 / float(variant.len())) / 2.0;
        let within = CellVariance { variance: 2.0 * runs.variance, df: runs.df };
        Some(Self { shift, per_block, within })
    }
}

/// Variances of a ratio between machines and between the blocks of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineVariance {
    /// Machines.
    pub machines: usize,
    /// Variance of the machines' mean log-ratios; their blocks' noise is part of it.
    pub of_means: f64,
    /// Variance of one block's log-ratio, pooled over machines; no degrees without repeated blocks.
    pub within: CellVariance,
    /// Mean squared error of a machine's mean, in variances of a block.
    per_block: f64,
}

impl MachineVariance {
    /// Returns the variances of two machines or more.
    ///
    /// `None` for fewer, and where their means agree to rounding.
    pub fn of(means: &[MachineMean]) -> Option<Self> {
        let shifts: Vec<f64> = means.iter().map(|one| one.shift).collect();
        let of_means = CellVariance::of_values(&shifts);
        let errors: Vec<f64> = means.iter().map(|one| one.per_block).collect();
        let within = means.iter().map(|one| one.within).reduce(CellVariance::pooled)?;
        let variance = of_means.variance;
        let machines = means.len();
        (machines > 1 && of_means.has_spread()).then(|| Self {
            machines,
            of_means: variance,
            within,
            per_block: mean(&errors),
        })
    }

    /// Returns the deviation between machines with its 95 % limits, the noise of blocks removed.
    ///
    /// `None` without a machine that repeated a block. The limits assume normal distributions;
    /// heavier tails make the interval too short.
    ///
    /// Source: unweighted means of unequal numbers [Thomas Hultquist 1978]; limits of the component
    /// [Williams 1962]; [Burdick Graybill 1992, sections 3.2 and 4.2].
    pub fn between(&self) -> Option<Variation> {
        let (df, df_within) = (float(self.machines - 1), self.within.df);
        if df_within <= 0.0 {
            return None;
        }
        let noise = self.per_block * self.within.variance;
        let chi = ChiSquared::new(df).ok()?;
        let at = |chance: f64| {
            let left = self.of_means - noise * fisher::quantile(chance, df, df_within);
            cov_of((df * left / chi.inverse_cdf(chance)).max(0.0))
        };
        let cov = cov_of((self.of_means - noise).max(0.0));
        let (low, high) = (at(0.975), at(0.025));
        Some(Variation { cov, low: low.min(cov), high: high.max(cov) })
    }

    /// Returns the deviation between machines to plan with, a share.
    ///
    /// Below five machines it is an upper bound of 80 %: an estimate would be too low half of the
    /// time.
    ///
    /// Source: [`between_runs`], with machines for runs.
    pub fn planned(&self) -> f64 {
        let of_means = CellVariance { variance: self.of_means, df: float(self.machines - 1) };
        cov_of(between_runs(of_means, self.per_block * self.within.variance))
    }

    /// Returns the half-width of the 95 % interval on so many machines, as a share.
    ///
    /// Each of them has as many blocks as these have.
    pub fn half_width_on(&self, machines: u32) -> f64 {
        half_width_of(self.of_means, machines)
    }
}

/// Returns the half-width of the 95 % interval of a mean over machines, as a share.
///
/// `of_means` is the variance of a machine's mean log-ratio. Infinite for one machine.
///
/// Source: [`classify_machines`].
pub fn half_width_of(of_means: f64, machines: u32) -> f64 {
    if machines < 2 {
        return f64::INFINITY;
    }
    let machines = f64::from(machines);
    (half_width(0.95, machines - 1.0) * (of_means / machines).sqrt()).exp_m1()
}

/// Compares two variants on several machines; the result holds for machines of their class.
///
/// Student's t on the machines' means, each with the same weight: exact where machines have equally
/// many blocks. Where they do not, the means have different variances, and the 95 % interval covers
/// at least as often, for normal noise and for every scale mixture of normals (Student's t,
/// Laplace, contaminated normals). It needs no estimate of the variance between machines. `None`
/// below two machines, and where their means agree to rounding.
///
/// Source: unweighted means [Burdick Graybill 1992, section 4.2]; unequal variances [Bakirov
/// Szekely 2005]; [Ibragimov Muller 2010]. Weights by estimated variances [Hartung Knapp 2001]
/// cover less often with few machines and unequal numbers of blocks [IntHout 2014]:
/// `tests/quality/machines.rs` has the figures of both.
pub fn classify_machines(means: &[MachineMean], margin: f64) -> Option<Effect> {
    let MachineVariance { of_means, within, .. } = MachineVariance::of(means)?;
    let shifts: Vec<f64> = means.iter().map(|one| one.shift).collect();
    let machines = float(shifts.len());
    let estimate = Estimate {
        shift: mean(&shifts),
        error: (of_means / machines).sqrt(),
        df: machines - 1.0,
        method: Method::Machines,
        of_run: within.variance / 2.0,
    };
    let mut effect = estimate.effect();
    effect.decide(margin);
    Some(effect)
}

/// Returns the position of the machine that differs from the others, if one does.
///
/// Five machines or more; the one that is farthest from the mean, if it is farther than the spread
/// of the others explains, and beyond the margin (a share).
///
/// Source: [Grubbs 1950], with the bound of Bonferroni for the p-value of the largest.
pub fn outlier(means: &[MachineMean], margin: f64) -> Option<usize> {
    if means.len() < OUTLIER_FROM {
        return None;
    }
    let distance = |at: usize| {
        let others: Vec<f64> =
            (0..means.len()).filter(|it| *it != at).map(|it| means[it].shift).collect();
        let spread = CellVariance::of_values(&others);
        let distance = means[at].shift - mean(&others);
        let error = (spread.variance * (1.0 + 1.0 / float(others.len()))).sqrt();
        (distance, distance / error, spread.df)
    };
    let all = (0..means.len()).map(|at| (at, distance(at)));
    let (at, (distance, t, df)) = all.max_by(|a, b| a.1.1.abs().total_cmp(&b.1.1.abs()))?;
    let p = two_sided(t, df) * float(means.len());
    (p <= OUTLIER_P && distance.abs() > margin.ln_1p()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machines with these log-ratios, one list of blocks each.
    fn machines(blocks: &[&[f64]]) -> Vec<MachineMean> {
        let of = |logs: &&[f64]| {
            let variant: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            MachineMean::of(&vec![1.0; logs.len()], &variant, true).unwrap()
        };
        blocks.iter().map(of).collect()
    }

    /// Calcium in turnip greens, four leaves of four: [Snedecor Cochran 1989, chapter 13].
    const LEAVES: [&[f64]; 4] = [
        &[3.28, 3.09, 3.03, 3.03],
        &[3.52, 3.48, 3.38, 3.38],
        &[2.88, 2.80, 2.81, 2.76],
        &[3.34, 3.38, 3.23, 3.26],
    ];

    /// The textbook's components are 0.0724 between leaves, and 0.0066 within.
    ///
    /// scipy 1.17.1: stats.t.interval(0.95, 3, mean, stderr) of the leaves' means.
    #[test]
    fn balanced_machines_have_the_textbook_components_and_interval() {
        let means = machines(&LEAVES);
        let found = MachineVariance::of(&means).unwrap();
        assert!((found.within.variance - 0.0066).abs() < 5e-5, "{found:?}");
        assert!((found.between().unwrap().cov - cov_of(0.0724)).abs() < 1e-4, "{found:?}");
        let effect = classify_machines(&means, 0.02).unwrap();
        assert_eq!((effect.method, effect.df), (Method::Machines, Some(3.0)));
        let shifts = [3.1075, 3.44, 2.8125, 3.3025];
        let centre = mean(&shifts);
        let error = (CellVariance::of_values(&shifts).variance / 4.0).sqrt();
        let interval = effect.interval.unwrap();
        // stats.t.ppf(0.975, 3).
        assert!((interval.low.ln() - (centre - 3.182_446_305 * error)).abs() < 1e-8);
        assert!((interval.high.ln() - (centre + 3.182_446_305 * error)).abs() < 1e-8);
        let more = found.half_width_on(4);
        assert!((more.ln_1p() - 3.182_446_305 * error).abs() < 1e-8, "{more}");
    }

    #[test]
    fn deviation_between_machines_is_within_its_limits() {
        let found = MachineVariance::of(&machines(&LEAVES)).unwrap().between().unwrap();
        // By hand: F(0.975; 3, 12) = 4.4742, F(0.025; 3, 12) = 1 / 14.3366,
        // chi-square(0.975; 3) = 9.3484 and (0.025; 3) = 0.21580.
        let (of_means, noise) = (0.074_083_333, 0.001_650_521);
        let low = (3.0 * (of_means - noise * 4.4742) / 9.3484_f64).exp_m1().sqrt();
        let high = (3.0 * (of_means - noise / 14.3366) / 0.2158_f64).exp_m1().sqrt();
        assert!((found.low / low - 1.0).abs() < 1e-3, "{found:?} {low}");
        assert!((found.high / high - 1.0).abs() < 1e-3, "{found:?} {high}");
        let equal = machines(&[&[0.1, -0.1, 0.0], &[0.15, -0.05, 0.05], &[0.05, -0.15, -0.05]]);
        let found = MachineVariance::of(&equal).unwrap().between().unwrap();
        assert!(
            found.cov.abs() < 1e-12 && found.low.abs() < 1e-12 && found.high > 0.0,
            "{found:?}"
        );
    }

    #[test]
    fn machine_with_one_block_counts_as_much_as_others() {
        let means = machines(&[&[0.02], &[0.04, 0.06, 0.05], &[0.08, 0.08]]);
        let effect = classify_machines(&means, 0.02).unwrap();
        assert!((effect.ratio.ln() - 0.05).abs() < 1e-12, "{effect:?}");
        let single = machines(&[&[0.02], &[0.05]]);
        let found = MachineVariance::of(&single).unwrap();
        assert_eq!(found.between(), None);
        // scipy 1.17.1, stats.chi2.ppf(0.2, 1): 0.064185.
        let bound = cov_of(0.00045 / 0.064_185);
        assert!((found.planned() / bound - 1.0).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn incomplete_blocks_are_compared_by_means() {
        let (base, variant) = ([1.0, 1.1, 0.9], [1.2, 1.3]);
        let found = MachineMean::of(&base, &variant, false).unwrap();
        let [base, variant] = [&base[..], &variant[..]].map(|it| logs(it).unwrap());
        assert!((found.shift - (mean(&variant) - mean(&base))).abs() < 1e-12);
        assert!((found.per_block - (1.0 / 3.0 + 0.5) / 2.0).abs() < 1e-12);
        assert!((found.within.df - 3.0).abs() < 1e-12);
        assert_eq!(MachineMean::of(&[0.0], &[1.0], true), None);
    }

    #[test]
    fn equal_machines_and_one_machine_have_no_variance() {
        assert_eq!(MachineVariance::of(&machines(&[&[0.1, 0.2]])), None);
        assert_eq!(classify_machines(&machines(&[&[0.1], &[0.1]]), 0.02), None);
        assert_eq!(MachineVariance::of(&[]), None);
        assert!(half_width_of(1e-4, 1).is_infinite());
    }

    #[test]
    fn only_a_far_machine_beyond_the_margin_is_an_outlier() {
        let of = |last: f64, margin| {
            let mut means = machines(&[&[0.01], &[0.012], &[0.008], &[0.011], &[0.009]]);
            means[4].shift = last;
            outlier(&means, margin)
        };
        assert_eq!(of(0.009, 0.0), None);
        assert_eq!(of(0.05, 0.02), Some(4));
        assert_eq!(of(0.025, 0.02), None, "within the margin");
        assert_eq!(outlier(&machines(&[&[0.0], &[0.001], &[0.0005], &[0.5]]), 0.02), None);
    }
}
