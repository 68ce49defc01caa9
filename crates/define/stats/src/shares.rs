//! Differences of shares between two sides of replicate counts.
//!
//! Categories are functions, counts are samples of a profile, a replicate is a run. Samples of one
//! run are correlated, so that a Poisson test on pooled samples lists something in every A/A
//! comparison: the dispersion between runs is estimated. Shares are closed: where one grows, all
//! others shrink. A common factor, estimated by the categories that agree on it, takes that out.

use model::float;
use serde::Serialize;

use crate::distribution::student::{half_width, two_sided};
use crate::family::holm;
use crate::sample::median;

/// Fewest samples a run, on average of one side, of a category that is tested.
///
/// Our choice: the estimate of a smaller category is far from normal, and every further test costs
/// power.
pub const SAMPLES_FROM: f64 = 10.0;
/// Degrees of freedom of the median dispersion, to which each dispersion is shrunk.
///
/// Our choice: half the degrees of a comparison of ten runs with ten.
const PRIOR_FREEDOM: f64 = 10.0;
/// Fewest categories on both sides that separate a common factor from a difference.
///
/// Our choice: of three, two outvote one.
const FACTOR_FROM: usize = 3;
/// Residual beyond which a category has no weight, in standard errors.
///
/// Source: [Holland Welsch 1977]: Tukey's biweight has 95 % efficiency for normal residuals.
const BIWEIGHT: f64 = 4.685;
/// Median absolute residual to standard deviation, for normal residuals [Rousseeuw Croux 1993].
const MAD_SCALE: f64 = 1.4826;
/// Largest share of the weights of the common factor that one category has.
///
/// Our choice: a changed category then moves the factor by less than its standard error: 0.2 times
/// the biweight's largest influence, 1.34 errors of the category, each at most 2.24 of the factor.
const LARGEST_WEIGHT: f64 = 0.2;
/// Iterations of the common factor.
///
/// Our choice: simulations were within 1e-12 after fewer than 30.
const ITERATIONS: u32 = 50;

/// Counts of each run, by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Counts of the base's runs and of the variant's runs, in the order of the runs.
    pub sides: [Vec<u64>; 2],
}

impl RunCounts {
    /// Returns zero counts for so many runs a side.
    pub fn zero(runs: [usize; 2]) -> Self {
        Self { sides: runs.map(|runs| vec![0; runs]) }
    }

    /// Adds the counts of the same runs.
    pub fn add(&mut self, other: &Self) {
        let runs = self.sides.iter_mut().flatten().zip(other.sides.iter().flatten());
        runs.for_each(|(own, other)| *own = own.saturating_add(*other));
    }

    /// Returns the sums of both sides.
    pub fn sums(&self) -> [u64; 2] {
        self.sides.each_ref().map(|runs| runs.iter().copied().fold(0, u64::saturating_add))
    }
}

/// The factor by which unchanged shares differ between the sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CommonFactor {
    /// Share on the variant's side over the share on the base's side of an unchanged category, > 0.
    pub factor: f64,
    /// Standard error of the factor's logarithm.
    pub log_error: f64,
}

/// A category's shares on both sides, and whether they differ beyond the common factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShareDifference {
    /// Share of the base's samples, 0 to 1.
    pub base: f64,
    /// Share of the variant's samples, 0 to 1.
    pub variant: f64,
    /// Variance between runs over the Poisson variance, >= 1.
    pub dispersion: f64,
    /// Share of the variant - factor x share of the base.
    pub difference: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// Two-sided p-value of this category alone.
    pub p: f64,
    /// The p-value adjusted for the tested categories; `None` where the category is too small.
    pub adjusted_p: Option<f64>,
}

impl ShareDifference {
    /// Returns the difference in standard errors; 0 without samples.
    pub fn t(&self) -> f64 {
        if self.error > 0.0 { self.difference / self.error } else { 0.0 }
    }
}

/// Shares of many categories on two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareComparison {
    /// The categories, in the order given.
    pub categories: Vec<ShareDifference>,
    /// The common factor.
    pub common: CommonFactor,
    /// Number of categories that are large enough to be tested.
    pub tested: usize,
    /// Degrees of freedom: the runs - 2.
    pub freedom: f64,
    totals: RunCounts,
    median_dispersion: f64,
}

/// Compares the shares of categories between two sides of runs.
///
/// Shares are pooled over runs, weighted by samples. Their variance is the Poisson variance times a
/// dispersion, estimated from the chi-square of the runs within both sides, shrunk to the median of
/// the categories, and at least 1. The test is Student's with runs - 2 degrees of freedom; p-values
/// are adjusted over the categories with at least [`SAMPLES_FROM`] samples a run. `totals` are the
/// samples of each run, which may exceed the sum of its categories. `None` with fewer than three
/// runs, with a side without samples, or where a category has other runs than the totals.
///
/// Source: [McCullagh Nelder 1989, sections 4.5 and 6.2.3], the dispersion; [Smyth 2004], the
/// shrinkage; [Anders Huber 2010], the common factor by the majority of categories; [Holm 1979].
pub fn compare_shares(categories: &[RunCounts], totals: &RunCounts) -> Option<ShareComparison> {
    let lengths = |counts: &RunCounts| counts.sides.each_ref().map(Vec::len);
    let runs: usize = lengths(totals).iter().sum();
    let is_complete = categories.iter().all(|counts| lengths(counts) == lengths(totals));
    if runs < 3 || totals.sums().contains(&0) || !is_complete {
        return None;
    }
    let mut comparison = ShareComparison {
        categories: Vec::new(),
        common: CommonFactor { factor: 1.0, log_error: 0.0 },
        tested: 0,
        freedom: float(runs) - 2.0,
        totals: totals.clone(),
        median_dispersion: 1.0,
    };
    let large: Vec<&RunCounts> =
        categories.iter().filter(|counts| comparison.is_large(counts)).collect();
    comparison.tested = large.len();
    let dispersions = large.iter().filter_map(|counts| comparison.raw_dispersion(counts));
    let dispersions: Vec<f64> = dispersions.map(|(dispersion, _)| dispersion).collect();
    comparison.median_dispersion = median(&dispersions).unwrap_or(1.0);
    let ratios = large.iter().filter_map(|counts| comparison.ratio(counts)).collect();
    comparison.common = common_factor(ratios).unwrap_or(comparison.common);
    comparison.categories = comparison.differences(categories);
    Some(comparison)
}

impl ShareComparison {
    /// Tests categories against the common factor, adjusted for the number of large ones.
    pub fn differences(&self, categories: &[RunCounts]) -> Vec<ShareDifference> {
        let mut found: Vec<ShareDifference> =
            categories.iter().map(|counts| self.difference(counts)).collect();
        let of_all = found.iter_mut().zip(categories);
        let mut large: Vec<&mut ShareDifference> =
            of_all.filter(|(_, counts)| self.is_large(counts)).map(|(one, _)| one).collect();
        let adjusted = holm(&large.iter().map(|one| one.p).collect::<Vec<f64>>());
        large.iter_mut().zip(adjusted).for_each(|(one, p)| one.adjusted_p = Some(p));
        found
    }

    /// Tests counts that are not among the categories: their sums, or inclusive samples.
    ///
    /// The adjusted p-value is `None`.
    ///
    /// Source: the method of [`compare_shares`].
    pub fn difference(&self, counts: &RunCounts) -> ShareDifference {
        let [base_total, variant_total] = self.totals.sums().map(float);
        let [base_sum, variant_sum] = counts.sums().map(float);
        let (base, variant) = (base_sum / base_total, variant_sum / variant_total);
        let dispersion = self.dispersion(counts);
        let CommonFactor { factor, log_error } = self.common;
        let poisson = variant / variant_total + factor * factor * base / base_total;
        let error = (dispersion * poisson + (factor * base * log_error).powi(2)).sqrt();
        let difference = variant - factor * base;
        let p = two_sided(difference / error, self.freedom);
        ShareDifference { base, variant, dispersion, difference, error, p, adjusted_p: None }
    }

    /// Returns the half-width of an interval of that `level`, 0 to 1, from a standard error.
    ///
    /// Source: [Student 1908].
    pub fn half_width(&self, error: f64, level: f64) -> f64 {
        half_width(level, self.freedom) * error
    }

    /// Returns whether either side has [`SAMPLES_FROM`] samples a run.
    fn is_large(&self, counts: &RunCounts) -> bool {
        let mut sides = counts.sums().map(float).into_iter().zip(&self.totals.sides);
        sides.any(|(sum, runs)| sum >= SAMPLES_FROM * float(runs.len()))
    }

    /// Returns the chi-square of the runs within the sides over its degrees of freedom, and these.
    fn raw_dispersion(&self, counts: &RunCounts) -> Option<(f64, f64)> {
        let (mut square, mut freedom) = (0.0, 0.0);
        for (counts, totals) in counts.sides.iter().zip(&self.totals.sides) {
            let sum = |values: &[u64]| values.iter().map(|value| float(*value)).sum::<f64>();
            let share = sum(counts) / sum(totals);
            if share > 0.0 {
                let runs = counts.iter().zip(totals).filter(|(_, total)| **total > 0);
                for (count, total) in runs {
                    let expected = share * float(*total);
                    square += (float(*count) - expected).powi(2) / expected;
                    freedom += 1.0;
                }
                freedom -= 1.0;
            }
        }
        (freedom > 0.0).then(|| (square / freedom, freedom))
    }

    fn dispersion(&self, counts: &RunCounts) -> f64 {
        let (own, freedom) = self.raw_dispersion(counts).unwrap_or((1.0, 0.0));
        let sum = own * freedom + self.median_dispersion * PRIOR_FREEDOM;
        (sum / (freedom + PRIOR_FREEDOM)).max(1.0)
    }

    /// Returns the ratio of a category's shares; `None` where a side has no samples.
    fn ratio(&self, counts: &RunCounts) -> Option<Ratio> {
        let [base_total, variant_total] = self.totals.sums().map(float);
        let [base, variant] = counts.sums().map(float);
        let log = (variant / variant_total / (base / base_total)).ln();
        let variance = self.dispersion(counts) * (1.0 / base + 1.0 / variant);
        (base > 0.0 && variant > 0.0).then_some(Ratio { log, error: variance.sqrt() })
    }
}

/// The logarithm of a ratio of shares, and its standard error.
#[derive(Debug, Clone, Copy)]
struct Ratio {
    log: f64,
    error: f64,
}

/// Returns the factor that most ratios agree on; `None` with fewer than [`FACTOR_FROM`].
///
/// The start is the median, weighted by the reciprocal standard errors, so that one category of
/// most samples does not decide it. Then Tukey's biweight with precisions as weights. Where the
/// ratios scatter by more than their errors, the standard error grows by as much.
///
/// Source: [Holland Welsch 1977]; the start's weights are our choice.
fn common_factor(mut ratios: Vec<Ratio>) -> Option<CommonFactor> {
    if ratios.len() < FACTOR_FROM {
        return None;
    }
    let floor = least_error(&ratios);
    ratios.iter_mut().for_each(|ratio| ratio.error = ratio.error.max(floor));
    let mut mu = weighted_median(&mut ratios)?;
    let residual = |ratio: &Ratio, mu: f64| (ratio.log - mu) / ratio.error;
    let sizes: Vec<f64> = ratios.iter().map(|ratio| residual(ratio, mu).abs()).collect();
    let scale = (median(&sizes)? * MAD_SCALE).max(1.0);
    let mut precision = 0.0;
    for _ in 0..ITERATIONS {
        let weight = |ratio: &Ratio| {
            let far = residual(ratio, mu) / (scale * BIWEIGHT);
            (1.0 - far * far).max(0.0).powi(2) / (ratio.error * ratio.error)
        };
        precision = ratios.iter().map(weight).sum();
        mu = ratios.iter().map(|ratio| weight(ratio) * ratio.log).sum::<f64>() / precision;
    }
    let is_known = mu.is_finite() && precision > 0.0;
    is_known.then(|| CommonFactor { factor: mu.exp(), log_error: scale / precision.sqrt() })
}

/// Returns the error below which a ratio has more than [`LARGEST_WEIGHT`] of all precision.
fn least_error(ratios: &[Ratio]) -> f64 {
    let precision = |ratio: &Ratio| 1.0 / (ratio.error * ratio.error);
    let mut limit = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let all: f64 = ratios.iter().map(|ratio| precision(ratio).min(limit)).sum();
        limit = all * LARGEST_WEIGHT.max(1.0 / float(ratios.len()));
    }
    1.0 / limit.sqrt()
}

/// Returns the median of ratios, weighted by their reciprocal errors.
fn weighted_median(ratios: &mut [Ratio]) -> Option<f64> {
    ratios.sort_by(|a, b| a.log.total_cmp(&b.log));
    let mut left: f64 = ratios.iter().map(|ratio| 0.5 / ratio.error).sum();
    let is_middle = |ratio: &&Ratio| {
        left -= 1.0 / ratio.error;
        left <= 0.0
    };
    ratios.iter().find(is_middle).map(|ratio| ratio.log)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(base: &[u64], variant: &[u64]) -> RunCounts {
        RunCounts { sides: [base.to_vec(), variant.to_vec()] }
    }

    #[test]
    fn pooled_shares_dispersion_and_error_match_a_calculation_by_hand() {
        let totals = counts(&[1000, 2000], &[1000, 1000]);
        let one = counts(&[100, 260], &[150, 150]);
        let other = counts(&[500, 1000], &[500, 500]);
        let found = compare_shares(&[one.clone(), other], &totals).unwrap();
        assert_eq!((found.tested, found.freedom), (2, 2.0));
        assert_eq!(found.common, CommonFactor { factor: 1.0, log_error: 0.0 });
        let first = found.categories[0];
        assert_eq!((first.base, first.variant), (0.12, 0.15));
        // Expected 120, 240, 150, 150: (400 / 120 + 400 / 240) / 2 = 2.5; the other has 0, the
        // median is 1.25: (2.5 x 2 + 1.25 x 10) / 12.
        assert!((first.dispersion - 17.5 / 12.0).abs() < 1e-12, "{first:?}");
        let squared_error = 17.5 / 12.0 * (0.15 / 2000.0 + 0.12 / 3000.0);
        assert!((first.error - f64::sqrt(squared_error)).abs() < 1e-15, "{first:?}");
        assert!((first.difference - 0.03).abs() < 1e-15);
        assert!((first.t() - 0.03 / first.error).abs() < 1e-12);
        // Two degrees of freedom: p = 1 - t / sqrt(2 + t x t) [Student 1908].
        let p = 1.0 - first.t() / (2.0 + first.t() * first.t()).sqrt();
        assert!((first.p - p).abs() < 1e-9 && (first.adjusted_p.unwrap() - 2.0 * p).abs() < 1e-9);
        assert!(
            (found.half_width(first.error, 1.0 - first.p) / first.difference - 1.0).abs() < 1e-6
        );
        assert_eq!(found.difference(&one), ShareDifference { adjusted_p: None, ..first });
    }

    #[test]
    fn categories_of_one_side_are_tested_and_small_ones_are_not() {
        let totals = counts(&[1000; 3], &[1000; 3]);
        let same = || counts(&[200; 3], &[190; 3]);
        let new = counts(&[0; 3], &[50, 60, 40]);
        let small = counts(&[9; 3], &[9; 3]);
        let none = counts(&[0; 3], &[0; 3]);
        let all = [same(), same(), same(), same(), new, small, none];
        let found = compare_shares(&all, &totals).unwrap();
        assert_eq!(found.tested, 5);
        assert!((found.common.factor - 0.95).abs() < 1e-9, "{:?}", found.common);
        let [.., new, small, none] = found.categories[..] else { panic!("seven") };
        assert!((new.difference - 0.05).abs() < 1e-12 && new.adjusted_p.unwrap() < 0.01, "{new:?}");
        assert_eq!(small.adjusted_p, None);
        assert_eq!((none.difference, none.t(), none.p, none.adjusted_p), (0.0, 0.0, 1.0, None));
    }

    #[test]
    fn dominant_changed_category_moves_the_factor_less_than_its_error() {
        // One category of 40 % grows by a half; 30 others of 2 % do not change.
        let totals = counts(&[10_000; 5], &[12_000; 5]);
        let mut all = vec![counts(&[4000; 5], &[6000; 5])];
        all.extend((0..30).map(|_| counts(&[200; 5], &[200; 5])));
        let found = compare_shares(&all, &totals).unwrap();
        let bias = (found.common.factor * 1.2).ln().abs();
        assert!(bias < 1e-9, "{:?}", found.common);
        // Grown by three of its standard errors, it has some weight.
        all[0] = counts(&[4000; 5], &[4128; 5]);
        let found = compare_shares(&all, &counts(&[10_000; 5], &[10_128; 5])).unwrap();
        let bias = (found.common.factor * 1.0128).ln().abs();
        assert!(bias < found.common.log_error, "{bias} {:?}", found.common);
    }

    #[test]
    fn incomplete_input_has_no_comparison() {
        let totals = counts(&[100; 2], &[100; 2]);
        assert_eq!(compare_shares(&[counts(&[1; 2], &[1; 3])], &totals), None);
        assert_eq!(compare_shares(&[], &counts(&[100], &[100])), None);
        assert_eq!(compare_shares(&[], &counts(&[100; 2], &[0; 2])), None);
        assert_eq!(compare_shares(&[], &counts(&[], &[5; 4])), None);
        assert_eq!(compare_shares(&[], &totals).map(|found| found.tested), Some(0));
        let one_idle = compare_shares(&[counts(&[0, 50], &[50; 2])], &counts(&[0, 100], &[100; 2]));
        let difference = one_idle.unwrap().categories[0].difference;
        assert!(difference.abs() < 1e-15, "{difference}");
    }

    #[test]
    fn sums_of_counts_saturate() {
        let mut sum = RunCounts::zero([1, 2]);
        sum.add(&counts(&[3], &[4, u64::MAX]));
        sum.add(&counts(&[3], &[4, 5]));
        assert_eq!((sum.sums(), sum), ([6, u64::MAX], counts(&[6], &[8, u64::MAX])));
    }
}
