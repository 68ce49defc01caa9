//! Detectable difference with an estimated standard error (assurance).
//!
//! The noncentral t takes the noise as known. Where an experiment only estimates it, the power is
//! averaged over the true noise.

use crate::distribution::student::half_width;

/// Detectable difference in half-widths of the 95 % interval, by 1 / degrees of freedom: from 0 to
/// 1 in steps of 1/20.
///
/// Source: the integral of the tests below, solved by scipy 1.17.1, `integrate.quad` and
/// `optimize.brentq`.
const MULTIPLES: [f64; 21] = [
    1.429_406, 1.473_215, 1.520_513, 1.571_457, 1.626_178, 1.684_782, 1.747_351, 1.813_949,
    1.884_627, 1.959_433, 2.038_412, 2.121_618, 2.209_114, 2.300_977, 2.397_304, 2.498_207,
    2.603_818, 2.714_290, 2.829_794, 2.950_520, 3.076_677,
];

/// Returns the difference detectable at 80 % power, in estimated errors.
///
/// The power is that of a t test at 5 % in a new experiment of the same design, averaged over the
/// true noise. `freedom` is behind the estimate and behind the test. Below one it is that of one;
/// infinite degrees are known noise: 2.80. Between the multiples above it is interpolated, to 0.04
/// % too much at most.
///
/// Source: power averaged over what is unknown [O'Hagan Stevens Campbell 2005]. They average over
/// the effect; averaging over the noise alone, by the chi-square distribution of its estimate, and
/// solving for the difference is our choice: the effect is what is sought.
pub fn detectable(freedom: f64) -> f64 {
    let mut left = 20.0 / freedom.max(1.0);
    let mut multiple = MULTIPLES[0];
    for pair in MULTIPLES.windows(2) {
        multiple += left.clamp(0.0, 1.0) * (pair[1] - pair[0]);
        left -= 1.0;
    }
    multiple * half_width(0.95, freedom)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, SQRT_2};

    use statrs::distribution::{ContinuousCDF, StudentsT};
    use statrs::function::beta::ln_beta;

    use super::*;
    use crate::distribution::noncentral;

    /// Returns the power for a difference of so many estimated errors.
    ///
    /// Significant means |Z + m s1| > t s2, with Z normal and both s of chi-square by their degrees
    /// of freedom f. In polar coordinates of s1 and s2 the radius and Z make a Student's t of 2 f,
    /// and the squared cosine of the angle is of the beta distribution with f / 2 and f / 2.
    fn power(errors: f64, freedom: f64) -> f64 {
        const STEPS: u32 = 4_000;
        let limit = half_width(0.95, freedom);
        let student = StudentsT::new(0.0, 1.0, 2.0 * freedom).unwrap();
        let step = FRAC_PI_2 / f64::from(STEPS);
        let scale = ln_beta(freedom / 2.0, freedom / 2.0);
        let at = |index: u32| {
            let (sin, cos) = ((f64::from(index) + 0.5) * step).sin_cos();
            let density = 2.0 * ((freedom - 1.0) * (sin * cos).ln() - scale).exp();
            let above = student.cdf(SQRT_2 * (errors * cos - limit * sin));
            let below = student.cdf(-SQRT_2 * (errors * cos + limit * sin));
            density * (above + below) * step
        };
        (0..STEPS).map(at).sum()
    }

    #[test]
    fn power_is_80_percent_at_any_degrees_of_freedom() {
        // All nodes, and points between.
        let nodes = (2..=40).map(|half_steps| 40.0 / f64::from(half_steps));
        for freedom in nodes.chain([33.0, 58.0, 400.0]) {
            let found = power(detectable(freedom), freedom);
            assert!((found - noncentral::POWER).abs() < 3e-4, "{freedom}: {found}");
        }
    }

    #[test]
    fn detectable_difference_matches_double_integration() {
        // scipy 1.17.1: the normal's chances integrated twice over stats.chi2.pdf by
        // integrate.quad are 0.8 within 1e-9 at these.
        let known = [(2.0, 8.770_580_193), (4.0, 4.677_703_928), (18.0, 3.105_782_732)];
        for (freedom, known) in known {
            let found = detectable(freedom);
            assert!((found / known - 1.0).abs() < 4e-4, "{freedom}: {found}");
        }
    }

    #[test]
    fn estimated_noise_always_needs_more_than_known_noise() {
        let known = noncentral::detectable(f64::INFINITY);
        assert!((detectable(f64::INFINITY) / known - 1.0).abs() < 1e-4);
        let mut last = f64::INFINITY;
        for step in 0..2_000 {
            let freedom = 1.0 + f64::from(step) * 0.13;
            let found = detectable(freedom);
            assert!(found < last && found > noncentral::detectable(freedom), "{freedom}");
            last = found;
        }
        assert!((detectable(0.3) - detectable(1.0)).abs() < 1e-12);
    }
}
