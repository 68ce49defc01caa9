//! Quantiles of Student's t.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Beyond this the quantile is the normal's to four digits, and the series gains nothing.
const MOST_FREEDOM: f64 = 10_000.0;

/// Returns the 97.5 % quantile of Student's t: the half-width of a 95 % interval.
///
/// Below one degree of freedom it is that of one.
///
/// Source: Student, 1908, "The Probable Error of a Mean", Biometrika 6(1).
pub(crate) fn quantile(freedom: f64) -> f64 {
    let freedom = freedom.clamp(1.0, MOST_FREEDOM);
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |student| student.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_printed_table() {
        // Fisher and Yates, 1963, "Statistical Tables", table III, P = 0.05.
        let table = [(1.0, 12.706), (2.0, 4.303), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042)];
        for (freedom, printed) in table.into_iter().chain([(120.0, 1.980)]) {
            assert!((quantile(freedom) - printed).abs() < 5.1e-4, "{freedom}");
        }
        assert!((quantile(1e9) - 1.960).abs() < 5e-4);
        assert!((quantile(0.2) - quantile(1.0)).abs() < 1e-12);
    }

    #[test]
    fn the_quantile_falls_with_every_fraction_of_a_degree() {
        let mut last = f64::INFINITY;
        for step in 0..20_000 {
            let now = quantile(1.0 + f64::from(step) * 0.037);
            assert!(now < last, "{now} at step {step}");
            last = now;
        }
    }
}
