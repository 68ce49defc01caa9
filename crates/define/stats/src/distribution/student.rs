//! Student's t: half-widths of intervals and p-values.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Beyond this the quantile is the normal's to four digits, and the series gains nothing.
const MAX_FREEDOM: f64 = 10_000.0;

/// Returns Student's t at `freedom`, no fewer than one degree.
fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom.clamp(1.0, MAX_FREEDOM)).ok()
}

/// Returns the half-width of an interval of that `level`, in standard errors.
///
/// `level` is above 0 and below 1, two-sided. Below one degree of freedom it is that of one;
/// infinite degrees are the normal's.
///
/// Source: [Student 1908].
pub fn half_width(level: f64, freedom: f64) -> f64 {
    student(freedom).map_or(f64::INFINITY, |student| student.inverse_cdf(0.5 + level / 2.0))
}

/// Returns the two-sided p-value of `t`; 1 when `t` is no number.
///
/// Source: [Student 1908].
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    let student = student(freedom).filter(|_| !t.is_nan());
    student.map_or(1.0, |student| (2.0 * student.cdf(-t.abs())).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_printed_table() {
        // [Fisher Yates 1963, table III], P = 0.05.
        let table = [(1.0, 12.706), (2.0, 4.303), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042)];
        for (freedom, printed) in table.into_iter().chain([(120.0, 1.980)]) {
            assert!((half_width(0.95, freedom) - printed).abs() < 5.1e-4, "{freedom}");
        }
        assert!((half_width(0.95, 1e9) - 1.960).abs() < 5e-4);
        assert!((half_width(0.95, 0.2) - half_width(0.95, 1.0)).abs() < 1e-12);
    }

    #[test]
    fn half_widths_and_p_values_match_scipy() {
        // scipy 1.17.1, stats.t.ppf(0.5 + level / 2, df).
        let known = [
            (0.90, 1.0, 6.313_751_514_675),
            (0.90, 7.3, 1.882_930_017_956),
            (0.90, 100.0, 1.660_234_326_085),
            (0.95, 2.0, 4.302_652_729_749),
            (0.95, 18.0, 2.100_922_040_241),
            (0.60, 4.0, 0.940_964_577_235),
        ];
        for (level, freedom, known) in known {
            assert!((half_width(level, freedom) / known - 1.0).abs() < 1e-9, "{level} {freedom}");
            let chance = two_sided(known, freedom);
            assert!((chance - (1.0 - level)).abs() < 1e-9, "{level} {freedom}: {chance}");
        }
        assert!((two_sided(0.0, 3.0) - 1.0).abs() < 1e-12);
        assert!((two_sided(f64::NAN, 3.0) - 1.0).abs() < 1e-12, "0 / 0: no difference, no noise");
    }

    #[test]
    fn the_quantile_falls_with_every_fraction_of_a_degree() {
        let mut last = f64::INFINITY;
        for step in 0..20_000 {
            let now = half_width(0.95, 1.0 + f64::from(step) * 0.037);
            assert!(now < last, "{now} at step {step}");
            last = now;
        }
    }
}
