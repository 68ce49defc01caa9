//! Quantiles of the beta distribution.

use statrs::distribution::{Beta, ContinuousCDF};

/// Bisections of the interval 0 to 1: more than a double's 52 digits.
const HALVINGS: u32 = 100;

/// Returns a quantile of the beta distribution, by bisection.
///
/// `probability` is above 0 and below 1. Where one of `a` and `b` is 0, all mass is at 0 or at 1.
/// The inverse of `statrs` starts no closer than 0.0001 and overflows there for many operations;
/// its distribution function is sound.
///
/// Source: [Abramowitz Stegun 1964, 26.5].
pub fn quantile(a: f64, b: f64, probability: f64) -> f64 {
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
            let found = quantile(a, b, chance);
            assert!((found / known - 1.0).abs() < 1e-8, "{a} {b} {chance}: {found}");
        }
        assert!((quantile(2.0, 0.0, 0.5) - 1.0).abs() < 1e-12);
        assert!(quantile(0.0, 2.0, 0.5) < 1e-12);
    }
}
