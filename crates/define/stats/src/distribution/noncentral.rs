//! The noncentral t distribution: power of a t test.

use std::f64::consts::{FRAC_2_PI, PI};

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

use crate::distribution::student::half_width;

/// Beyond this noncentrality the series' first term underflows.
const MAX_NONCENTRALITY: f64 = 37.0;

/// Terms of the series at most; it converges in about the square of the noncentrality.
const MAX_TERMS: u32 = 2_000;

/// Truncation error of the series.
const PRECISION: f64 = 1e-12;

/// Power of a detectable difference.
///
/// Source: [Cohen 1988, section 2.4].
pub const POWER: f64 = 0.8;

/// Returns the distribution function of the noncentral t.
///
/// `freedom` is above 0; `noncentrality` is between -37 and 37; 1 when the square of `t` overflows.
///
/// Source: algorithm AS 243 [Lenth 1989].
pub fn cdf(t: f64, freedom: f64, noncentrality: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - cdf(-t, freedom, -noncentrality);
    }
    let below_zero = Normal::standard().cdf(-noncentrality);
    if !(t * t).is_finite() {
        return 1.0;
    }
    let x = t * t / (t * t + freedom);
    if x <= 0.0 {
        return below_zero;
    }
    let (b, square) = (freedom / 2.0, noncentrality * noncentrality);
    let rest = (freedom / (t * t + freedom)).powf(b);
    let ln_beta = 0.5 * PI.ln() + ln_gamma(b) - ln_gamma(b + 0.5);
    let mut p = 0.5 * (-square / 2.0).exp();
    let mut q = FRAC_2_PI.sqrt() * p * noncentrality;
    let mut left = 0.5 - p;
    let mut odd = beta_reg(0.5, b, x);
    let mut odd_step = 2.0 * rest * (0.5 * x.ln() - ln_beta).exp();
    let mut even = 1.0 - rest;
    let mut even_step = b * x * rest;
    let mut sum = p * odd + q * even;
    for term in 1..=MAX_TERMS {
        let (n, a) = (f64::from(term), f64::from(term) + 0.5);
        odd -= odd_step;
        even -= even_step;
        odd_step *= x * (a + b - 1.0) / a;
        even_step *= x * (a + b - 0.5) / (a + 0.5);
        p *= square / (2.0 * n);
        q *= square / (2.0 * n + 1.0);
        left -= p;
        sum += p * odd + q * even;
        if (2.0 * left * (odd - odd_step)).abs() < PRECISION {
            break;
        }
    }
    (below_zero + sum).clamp(0.0, 1.0)
}

/// Returns the probability that the noncentral t exceeds `limit` on either side.
fn beyond(limit: f64, errors: f64, freedom: f64) -> f64 {
    if errors.abs() > MAX_NONCENTRALITY {
        return 1.0;
    }
    1.0 - cdf(limit, freedom, errors) + cdf(-limit, freedom, errors)
}

/// Most iterations: as many bisections give ten digits.
const MAX_STEPS: u32 = 36;

/// Returns the difference detectable at 80 % power, in standard errors.
///
/// Of a t test at 5 %. Below one degree of freedom it is that of one: 16.3.
///
/// Source: [Cohen 1988, section 12.8]; solved for the difference by the secant method within a
/// bracket.
pub fn detectable(freedom: f64) -> f64 {
    let freedom = freedom.clamp(1.0, 10_000.0);
    let limit = half_width(0.95, freedom);
    let missing = |errors: f64| POWER - beyond(limit, errors, freedom);
    // At the half-width itself the power is about one half.
    let (mut low, mut high) = (limit, (1.5 * limit + 1.0).min(MAX_NONCENTRALITY));
    let (mut last, mut last_missing) = (low, missing(low));
    let mut now = f64::midpoint(low, high);
    for _ in 0..MAX_STEPS {
        let now_missing = missing(now);
        if now_missing.abs() < PRECISION {
            break;
        }
        if now_missing > 0.0 {
            low = now;
        } else {
            high = now;
        }
        let secant = now - now_missing * (now - last) / (now_missing - last_missing);
        (last, last_missing) = (now, now_missing);
        now = if secant > low && secant < high { secant } else { f64::midpoint(low, high) };
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_function_matches_scipy() {
        // scipy 1.17.1, stats.nct.cdf(t, df, nc).
        let known = [
            (2.0, 4.0, 1.0, 0.764_567_453_824),
            (2.776, 4.0, 3.0, 0.380_622_270_108),
            (12.7062, 1.0, 16.0, 0.209_353_184_333),
            (-1.5, 7.0, 0.5, 0.034_534_648_309),
            (2.04, 30.0, 2.9, 0.198_123_318_519),
            (1.96, 1000.0, 2.8, 0.200_542_741_294),
            (4.3, 2.0, 5.65, 0.200_025_872_489),
        ];
        for (t, freedom, noncentrality, known) in known {
            let found = cdf(t, freedom, noncentrality);
            assert!((found - known).abs() < 1e-9, "{t} {freedom} {noncentrality}: {found}");
        }
    }

    #[test]
    fn power_matches_integration() {
        // scipy 1.17.1: normal probabilities integrated over the chi distribution of the standard
        // deviation by stats.chi.pdf and integrate.quad.
        let known = [
            (1.0, 4.0, 0.122_249_152_073),
            (3.0, 4.0, 0.619_261_459_402),
            (16.0, 1.0, 0.790_646_646_921),
            (0.0, 7.0, 0.05),
            (2.9, 30.0, 0.801_253_751_282),
            (2.8, 1000.0, 0.798_801_931_281),
        ];
        for (errors, freedom, known) in known {
            let found = beyond(half_width(0.95, freedom), errors, freedom);
            assert!((found - known).abs() < 1e-8, "{errors} {freedom}: {found}");
        }
        assert!((beyond(half_width(0.95, 3.0), 100.0, 3.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn detectable_difference_matches_integration() {
        // The same integral, solved by optimize.brentq.
        let known = [
            (1.0, 16.334_008_870),
            (2.0, 5.653_489_266),
            (4.0, 3.761_059_554),
            (5.5, 3.432_064_540),
            (8.0, 3.200_919_649),
            (18.0, 2.962_672_436),
            (38.0, 2.874_918_430),
            (1000.0, 2.804_275_896),
        ];
        for (freedom, known) in known {
            let found = detectable(freedom);
            assert!((found - known).abs() < 1e-7, "{freedom}: {found}");
        }
        // Known noise: the normal's quantiles at 97.5 % and 80 %.
        assert!((detectable(f64::INFINITY) - 2.801_585).abs() < 1e-3);
    }
}
