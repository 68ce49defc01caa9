//! Zipf and latest: rank k with probability proportional to 1/k^theta.
//!
//! Ranks are drawn by rejection-inversion: O(1) set-up, no table, any theta > 0. Hot rows are
//! spread over the key space by a permutation. YCSB spreads them by a hash modulo the rows, which
//! lets several ranks fall on one row (brianfrankcooper/YCSB issue 1495); a permutation does not.
//!
//! Source: [Hormann Derflinger 1996], section 4, algorithm ZRI (with v = 0).

use super::plain::Space;
use crate::permutation::Permutation;
use crate::random::{Stream, unit};

/// Skew when none is written. Source: [Cooper et al. 2010] (its constant 0.99).
pub(crate) const THETA_DEFAULT: f64 = 0.99;
/// Largest skew: beyond it nearly every pick is the first row, and powers of the rows underflow.
pub(super) const THETA_MAX: f64 = 10.0;
/// Most rows: ranks are drawn as 64-bit floating-point numbers.
pub(super) const ROWS_MAX: u64 = 1 << 52;
/// Most tries per draw. At least 3 of 4 tries succeed, so it is not reached in 10^38 draws.
const TRIES_MAX: u32 = 64;
/// Chooses which rows are hot. Fixed: the same rows are hot in every step and every run.
const HOT_ROWS: Stream = Stream::fixed(0x21bf_0000_0000_0001);

/// Ranks 1..=rows with probability proportional to 1/rank^theta.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks {
    rows: u64,
    theta: f64,
    /// The integral at the upper end of the last rank.
    end: f64,
    /// From `end` to the integral at the lower end of the first rank: negative.
    span: f64,
    /// A point at most this far below its rank is accepted at once.
    near: f64,
}

impl Ranks {
    /// Returns the distribution of ranks; `theta` in (0, 10], `rows` in 1..=2^52.
    pub(crate) fn new(rows: u64, theta: f64) -> Self {
        let mut ranks = Self { rows, theta, end: 0.0, span: 0.0, near: 0.0 };
        ranks.end = ranks.integral(rows as f64 + 0.5);
        ranks.span = ranks.integral(1.5) - 1.0 - ranks.end;
        ranks.near = 2.0 - ranks.inverse(ranks.integral(2.5) - ranks.height(2.0));
        ranks
    }

    /// Returns the rank of operation `n`.
    #[inline]
    pub(crate) fn rank(&self, stream: Stream, n: u64) -> u64 {
        let mut word = stream.word(n);
        for _ in 0..TRIES_MAX {
            let area = self.end + unit(word) * self.span;
            let point = self.inverse(area);
            let rank = self.nearest(point);
            let at = rank as f64;
            if at - point <= self.near || area >= self.integral(at + 0.5) - self.height(at) {
                return rank;
            }
            word = Stream::another(word);
        }
        1
    }

    #[expect(clippy::cast_possible_truncation, reason = "clamped to the ranks there are")]
    #[expect(clippy::cast_sign_loss, reason = "the cast saturates at 0, which is clamped to 1")]
    fn nearest(&self, point: f64) -> u64 {
        ((point + 0.5) as u64).clamp(1, self.rows)
    }

    /// Returns the unnormalised probability at `x`: x^-theta.
    fn height(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Returns the integral of [`Ranks::height`] from 1 to `x`, smooth at theta = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        exp_ratio((1.0 - self.theta) * log) * log
    }

    /// Returns the `x` whose [`Ranks::integral`] is `area`.
    fn inverse(&self, area: f64) -> f64 {
        // Rounding can push the argument below -1, where no logarithm is.
        let t = (area * (1.0 - self.theta)).max(-1.0);
        (log_ratio(t) * area).exp()
    }
}

/// Returns (e^x - 1) / x, which is 1 at 0.
fn exp_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// Returns ln(1 + x) / x, which is 1 at 0.
fn log_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}

/// Picks rows by Zipf's law, the hot ones spread over the key space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zipf {
    ranks: Ranks,
    rows: Permutation,
}

impl Zipf {
    /// Returns the distribution over all rows with skew `theta`.
    pub(super) fn new(space: Space, theta: f64) -> Self {
        Self { ranks: Ranks::new(space.rows, theta), rows: Permutation::new(space.rows, HOT_ROWS) }
    }

    pub(super) fn pick(&self, stream: Stream, n: u64) -> u64 {
        self.rows.apply(self.ranks.rank(stream, n) - 1)
    }
}

/// Picks the row with the highest id most often, then the one before it, and so on.
///
/// Source: [Cooper et al. 2010], section 4.1 ("Latest"), for a key space that does not grow during
/// the step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latest(Ranks);

impl Latest {
    /// Returns the distribution over all rows with skew `theta`.
    pub(super) fn new(space: Space, theta: f64) -> Self {
        Self(Ranks::new(space.rows, theta))
    }

    pub(super) fn pick(&self, stream: Stream, n: u64) -> u64 {
        self.0.rows - self.0.rank(stream, n)
    }
}

/// Reads a skew as written; `None` where it is left out.
///
/// # Errors
/// Names the range when the text is no number or is outside it.
pub(super) fn parse_theta(text: Option<&str>, space: Space) -> Result<f64, String> {
    if space.rows > ROWS_MAX {
        return Err(format!("needs at most {ROWS_MAX} rows"));
    }
    let Some(text) = text else { return Ok(THETA_DEFAULT) };
    match text.parse() {
        Ok(theta) if theta > 0.0 && theta <= THETA_MAX => Ok(theta),
        _ => Err(format!("theta `{text}` must be a number above 0 and at most {THETA_MAX}")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::distribution::registry::tests::{chi_square, space, stream};

    /// Returns the sum of 1/k^theta for k in 1..=rows.
    ///
    /// The first 10,000 terms are added up, the rest by the Euler-Maclaurin formula.
    pub(in crate::distribution) fn harmonic(rows: u64, theta: f64) -> f64 {
        let exact = rows.min(10_000);
        let sum: f64 = (1..=exact).map(|k| (k as f64).powf(-theta)).sum();
        if exact == rows {
            return sum;
        }
        let (a, b) = (exact as f64, rows as f64);
        let power = |x: f64, p: f64| x.powf(p);
        let integral = if (theta - 1.0).abs() < 1e-12 {
            (b / a).ln()
        } else {
            (power(b, 1.0 - theta) - power(a, 1.0 - theta)) / (1.0 - theta)
        };
        sum + integral + (power(b, -theta) - power(a, -theta)) / 2.0
            - theta / 12.0 * (power(b, -theta - 1.0) - power(a, -theta - 1.0))
    }

    #[test]
    fn small_zipf_matches_its_probabilities() {
        // Goal: every rank has its probability. Method: chi-square over 50 ranks, 49 degrees of
        // freedom: 95 is exceeded by chance once in 10,000.
        for theta in [0.01, 0.5, 0.99, 1.0, 1.000_000_01, 1.2, 2.0] {
            let ranks = Ranks::new(50, theta);
            let total = harmonic(50, theta);
            let picks = (0..200_000).map(|n| ranks.rank(stream(), n) - 1);
            let square = chi_square(picks, 50, |k| ((k + 1) as f64).powf(-theta) / total);
            assert!(square < 95.0, "theta {theta}: {square}");
        }
    }

    #[test]
    fn large_zipf_matches_theory_at_head_and_tail() {
        // Goal: a billion rows need no set-up and still have the right law. Method: counts of the
        // first ten ranks and of decades of ranks against the exact probabilities; each count is
        // binomial, and 5 standard deviations are allowed (1 in 1.7 million by chance).
        let (rows, draws) = (1_000_000_000, 200_000);
        for theta in [0.5, 0.99, 1.0, 1.2] {
            let ranks = Ranks::new(rows, theta);
            let drawn: Vec<_> = (0..draws).map(|n| ranks.rank(stream(), n)).collect();
            let total = harmonic(rows, theta);
            let below = |k: u64| if k == 0 { 0.0 } else { harmonic(k, theta) / total };
            let single = (1..=10).map(|k| (k - 1, k));
            let decades = (1..=9).map(|d| (10u64.pow(d - 1), 10u64.pow(d)));
            for (low, high) in single.chain(decades) {
                let p = below(high) - below(low);
                let count = drawn.iter().filter(|&&k| k > low && k <= high).count() as f64;
                let expected = p * draws as f64;
                let sigma = (expected * (1.0 - p)).sqrt();
                let off = (count - expected).abs();
                assert!(
                    off <= 5.0 * sigma + 1.0,
                    "theta {theta}, ({low}, {high}]: {count} {expected}"
                );
            }
        }
    }

    #[test]
    fn ranks_stay_in_range_at_the_extremes() {
        for rows in [1, 2, 3, 1_000_000_007, ROWS_MAX] {
            for theta in [f64::MIN_POSITIVE, 0.001, 0.999_999, 1.0, 1.5, THETA_MAX] {
                let ranks = Ranks::new(rows, theta);
                for n in 0..2000 {
                    assert!((1..=rows).contains(&ranks.rank(stream(), n)), "{rows} {theta}");
                }
            }
        }
    }

    #[test]
    fn hot_rows_are_spread_and_are_one_row_each() {
        // Goal: no two ranks share a row and the hot rows are not neighbours.
        let zipf = Zipf::new(space(1000), 0.99);
        let mut hot: Vec<_> = (0..1000).map(|rank| zipf.rows.apply(rank)).collect();
        assert!(hot.windows(2).take(10).all(|pair| pair[0].abs_diff(pair[1]) > 1), "{hot:?}");
        hot.sort_unstable();
        hot.dedup();
        assert_eq!(hot.len(), 1000);
    }

    #[test]
    fn the_newest_row_is_picked_most() {
        let latest = Latest::new(space(100), 0.99);
        let mut counts = [0u32; 100];
        for n in 0..20_000 {
            counts[usize::try_from(latest.pick(stream(), n)).unwrap()] += 1;
        }
        assert!(counts[99] > counts[98] && counts[98] > counts[90] && counts[90] > counts[10]);
        // The exact share of rank 1 of 100 at 0.99 is 0.190; the standard deviation is 0.0028.
        assert!((f64::from(counts[99]) / 20_000.0 - 0.190).abs() < 0.014, "{}", counts[99]);
    }
}
