//! Minimum detectable effect (MDE) of a design.

use std::sync::LazyLock;

use crate::distribution::{assurance, noncentral};

/// Detectable difference in standard errors where the noise is known: solved for once.
static KNOWN_NOISE: LazyLock<f64> = LazyLock::new(|| noncentral::detectable(f64::INFINITY));

/// Returns the minimum detectable effect at 80 % power, as a share.
///
/// `error` is the true standard error of the difference of logarithms; `freedom` the degrees of
/// freedom of the test. For an estimated error use [`assured`].
///
/// Source: power of the noncentral t [Cohen 1988, section 12.8]; [`noncentral::detectable`].
pub fn share(error: f64, freedom: f64) -> f64 {
    let is_known = freedom.is_infinite();
    let errors = if is_known { *KNOWN_NOISE } else { noncentral::detectable(freedom) };
    (errors * error).exp_m1()
}

/// Returns the same for an `error` estimated with `freedom` degrees.
///
/// The power is that of a new experiment of the same design, averaged over the true noise.
///
/// A moderated variance has the degrees of its prior too. The new experiment shares that part of
/// the estimate; the average takes it as drawn anew, so the power is higher: 81 to 85 % in
/// simulation.
///
/// Source: [`assurance::detectable`].
pub fn assured(error: f64, freedom: f64) -> f64 {
    (assurance::detectable(freedom) * error).exp_m1()
}

/// Returns the coefficient of variation (CoV) for a variance of logarithms.
///
/// Source: [Aitchison Brown 1957, section 2.2].
pub fn cov_of(log_variance: f64) -> f64 {
    log_variance.exp_m1().sqrt()
}

/// Returns the variance of the logarithm for a CoV.
///
/// Source: [Aitchison Brown 1957, section 2.2].
pub fn log_variance_of(cov: f64) -> f64 {
    (cov * cov).ln_1p()
}
