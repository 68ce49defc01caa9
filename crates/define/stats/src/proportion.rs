//! Proportion of late operations, with its interval.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::distribution::student::half_width;
use crate::sample::Estimate;
use crate::series::inflation;
use model::float;

/// Operations of one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Operations.
    pub all: f64,
    /// Of these, the late ones.
    pub late: f64,
}

/// Returns the share of late operations with its 95 % interval.
///
/// Late operations come in bursts, so operations are not independent. The exact binomial interval
/// is therefore taken at the effective sample size: the variance of the ratio of totals comes from
/// the blocks' residuals, is inflated for their autocorrelation, and is at least the binomial one.
/// Few blocks widen it by the ratio of Student's quantiles. Without a late operation it is the
/// exact binomial interval; without operations it is 0 to 1.
///
/// Source: [Korn Graubard 1998]; the variance: clusters [Cochran 1977, section 3.12].
pub fn share(blocks: &[Block]) -> Estimate {
    let all: f64 = blocks.iter().map(|block| block.all).sum();
    let late: f64 = blocks.iter().map(|block| block.late).sum();
    if all <= 0.0 {
        return Estimate { value: 0.0, low: 0.0, high: 1.0 };
    }
    let value = (late / all).min(1.0);
    let effective = effective_size(blocks, value, all);
    let (low, high) = exact(value * effective, effective);
    Estimate { value, low, high }
}

/// Returns the effective number of independent operations.
fn effective_size(blocks: &[Block], value: f64, all: f64) -> f64 {
    if value <= 0.0 || value >= 1.0 {
        return all;
    }
    let n = float(blocks.len());
    let residuals: Vec<f64> = blocks.iter().map(|block| block.late - value * block.all).collect();
    let inflation = inflation(&residuals);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let variance = squares * n / (n - 1.0).max(1.0) / (all * all) * inflation;
    let binomial = value * (1.0 - value) / all;
    let freedom = n / inflation - 1.0;
    let student = (half_width(0.95, all - 1.0) / half_width(0.95, freedom)).powi(2);
    all / (variance / binomial).max(1.0) * student
}

/// Above this many on either side the score limits are used.
///
/// They agree to five digits there, and the incomplete beta function's series converges too slowly.
const MAX_EXACT: f64 = 10_000.0;

/// Returns the 95 % limits of `late` in `all`; neither need be whole.
///
/// Source: [Clopper Pearson 1934]; beyond [`MAX_EXACT`]: [Wilson 1927].
fn exact(late: f64, all: f64) -> (f64, f64) {
    let good = (all - late).max(0.0);
    if late.min(good) > MAX_EXACT {
        return score(late, all);
    }
    let low = if late > 0.0 { beta_quantile(late, good + 1.0, 0.025) } else { 0.0 };
    let high = if good > 0.0 { beta_quantile(late + 1.0, good, 0.975) } else { 1.0 };
    (low, high)
}

/// Returns the limits of the score interval.
fn score(late: f64, all: f64) -> (f64, f64) {
    let z = half_width(0.95, f64::INFINITY);
    let share = late / all;
    let middle = (share + z * z / (2.0 * all)) / (1.0 + z * z / all);
    let spread = share * (1.0 - share) / all + z * z / (4.0 * all * all);
    let half = z * spread.sqrt() / (1.0 + z * z / all);
    (middle - half, middle + half)
}

/// Bisections of the interval 0 to 1: more than a double's 52 digits.
const HALVINGS: u32 = 100;

/// Returns a quantile of the beta distribution, by bisection.
///
/// `probability` is above 0 and below 1. Where one of `a` and `b` is 0, all mass is at 0 or at 1.
/// The inverse of `statrs` starts no closer than 0.0001 and overflows there for many operations;
/// its distribution function is sound.
///
/// Source: [Abramowitz Stegun 1964, 26.5].
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let Ok(beta) = Beta::new(a, b) else { return if a > b { 1.0 } else { 0.0 } };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if beta.cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;

    fn blocks(late: &[f64], all: f64) -> Vec<Block> {
        late.iter().map(|&late| Block { all, late }).collect()
    }

    #[test]
    fn exact_limits_are_the_published_ones() {
        let published = [
            // [Clopper Pearson 1934], n = 10 (their first chart).
            (0.0, 10.0, 0.0, 0.3085),
            (1.0, 10.0, 0.0025, 0.4450),
            (5.0, 10.0, 0.1871, 0.8129),
            (10.0, 10.0, 0.6915, 1.0),
            // R, ?binom.test: 682 of Mendel's 925.
            (682.0, 925.0, 0.707_668_3, 0.765_406_6),
        ];
        for (late, all, low, high) in published {
            let found = exact(late, all);
            assert!((found.0 - low).abs() < 6e-5 && (found.1 - high).abs() < 6e-5, "{found:?}");
        }
        // -ln(0.025) / n: the two-sided rule of three.
        let none = exact(0.0, 1e6);
        assert!(none.0 < 1e-12 && (none.1 * 1e6 - 3.688_87).abs() < 1e-3, "{none:?}");
    }

    #[test]
    fn many_late_operations_meet_the_score_without_a_jump() {
        for (late, all) in [(9_999.0, 1e7), (9_999.0, 1e9), (9_999.0, 25_000.0)] {
            let (exact, score) = (exact(late, all), score(late, all));
            assert!((exact.0 / score.0 - 1.0).abs() < 2e-4, "{exact:?} {score:?}");
            assert!((exact.1 / score.1 - 1.0).abs() < 2e-4, "{exact:?} {score:?}");
        }
        let (low, high) = exact(5e8, 1e9);
        assert!(low < 0.5 && high > 0.5 && high - low < 1e-4);
    }

    #[test]
    fn independent_operations_have_the_exact_interval() {
        // Every block alike: no sign of dependence.
        let found = share(&blocks(&[1.0; 100], 1000.0));
        let (low, high) = exact(100.0, 100_000.0);
        assert!((found.value - 0.001).abs() < 1e-12);
        // Student's quantile at 99 against that at 99 999 degrees.
        assert!(found.low < low && found.low > low * 0.99, "{found:?} {low}");
        assert!(found.high > high && found.high < high * 1.01, "{found:?} {high}");
    }

    #[test]
    fn burst_counts_as_one_late_operation() {
        let mut late = [0.0; 60];
        late[30] = 60.0;
        let found = share(&blocks(&late, 1000.0));
        let (low, high) = exact(1.0, 1000.0);
        assert!((found.high / high - 1.0).abs() < 0.1, "{found:?} {high}");
        assert!(found.low < 2.0 * low, "{found:?} {low}");
    }

    #[test]
    fn none_late_differs_from_no_operations() {
        let none = share(&blocks(&[0.0; 10], 1000.0));
        assert!((none.value, none.low) == (0.0, 0.0) && none.high < 4e-4);
        assert!((share(&[]).high - 1.0).abs() < 1e-12);
        let every = share(&blocks(&[1000.0; 10], 1000.0));
        assert!(every.low > 0.999 && (every.high - 1.0).abs() < 1e-12);
    }

    /// Goal: limits have their coverage for bursts of known size and rate. Method: blocks hold
    /// bursts of 1 to 20 late operations; the mean of the bursts' number is the known truth, and
    /// bursts of neighbouring blocks are correlated.
    #[test]
    fn limits_have_coverage_for_bursts() {
        let (mut above, mut below) = (0, 0);
        let runs = 600_u32;
        for seed in 0..runs {
            let mut noise = Noise::new(u64::from(seed));
            let calm = noise.autoregression(120, 0.5);
            let late: Vec<f64> = calm
                .iter()
                .map(|level| {
                    let is_burst = *level > 1.0;
                    f64::from(u8::from(is_burst)) * (noise.uniform() * 20.0).ceil()
                })
                .collect();
            // P(Z > 1 / sd), sd = 1 / sqrt(1 - 0.25); a burst is 10.5 on average.
            let truth = 0.193_238 * 10.5 / 2000.0;
            let found = share(&blocks(&late, 2000.0));
            above += u32::from(found.low > truth);
            below += u32::from(found.high < truth);
        }
        let share = |count: u32| f64::from(count) / f64::from(runs);
        assert!(share(above) < 0.04 && share(below) < 0.06, "{above} {below} of {runs}");
    }

    #[test]
    fn quantiles_are_those_of_scipy() {
        // scipy 1.17.1, stats.beta.ppf(chance, a, b).
        let known = [
            (1.0, 10.0, 0.025, 0.002_528_578_544),
            (5.0, 6.0, 0.025, 0.187_086_028_447),
            (0.5, 0.5, 0.3, 0.206_107_373_854),
            (3.0, 1e6, 0.975, 7.224_654_345e-6),
        ];
        for (a, b, chance, known) in known {
            let found = beta_quantile(a, b, chance);
            assert!((found / known - 1.0).abs() < 1e-8, "{a} {b} {chance}: {found}");
        }
        assert!((beta_quantile(2.0, 0.0, 0.5) - 1.0).abs() < 1e-12);
        assert!(beta_quantile(0.0, 2.0, 0.5) < 1e-12);
    }
}
