//! Fisher's F: p-values and quantiles of ratios of variances.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Beyond this every tail is zero, and `statrs` overflows.
const RATIO_MAX: f64 = 1e100;

/// Returns the probability of a ratio above `ratio`, with the degrees of freedom of its numerator
/// and its denominator.
///
/// 1 when the ratio is no number, or no degrees are left.
///
/// Source: [Snedecor Cochran 1989].
pub fn above(ratio: f64, df_numerator: f64, df_denominator: f64) -> f64 {
    match FisherSnedecor::new(df_numerator, df_denominator) {
        Ok(law) if !ratio.is_nan() => law.sf(ratio.clamp(0.0, RATIO_MAX)),
        _ => 1.0,
    }
}

/// Returns the ratio that a ratio of variances is below with this chance.
///
/// Infinite without degrees of freedom.
///
/// Source: [Snedecor Cochran 1989].
pub fn quantile(chance: f64, df_numerator: f64, df_denominator: f64) -> f64 {
    let law = FisherSnedecor::new(df_numerator, df_denominator);
    law.map_or(f64::INFINITY, |law| law.inverse_cdf(chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_printed_one_and_any_ratio_has_one() {
        // [Fisher Yates 1963, table V], P = 0.05, 4 and 10 degrees of freedom.
        assert!((above(3.48, 4.0, 10.0) - 0.05).abs() < 1e-3);
        assert!((quantile(0.95, 4.0, 10.0) - 3.48).abs() < 5e-3);
        assert!(quantile(0.95, 4.0, 0.0).is_infinite());
        for unknown in [above(f64::NAN, 4.0, 10.0), above(3.48, 0.0, 10.0)] {
            assert!((unknown - 1.0).abs() < 1e-12);
        }
        for huge in [1e200, 1e308, f64::INFINITY] {
            assert!(above(huge, 4.0, 10.0) < 1e-12, "{huge}");
        }
    }
}
