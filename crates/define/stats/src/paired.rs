//! Correlation of blocks whose orders are mirrored.

/// Largest correlation of the differences of two mirrored blocks (AB, then BA).
///
/// Where the noise of a run and of the next correlate by r, that is r (1 - r) / 2: at most 1/8.
/// Source: our derivation, from AR(1) noise [Priestley 1981, section 3.5.2].
const MIRRORED: f64 = 0.125;

/// Returns the most that slow noise adds to a squared error of paired blocks, as a factor.
///
/// Correlation adds to the variance of the mean, and takes from the variance that is estimated.
/// Between pairs of blocks the order is drawn, so that it adds nothing on average.
///
/// Source: our derivation; `tests/quality/correlated.rs` has it for AR(1) noise, and for bursts.
pub fn inflation(blocks: f64) -> f64 {
    (1.0 + MIRRORED) / (1.0 - MIRRORED / (blocks - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_that_of_the_worst_correlation() {
        let of = |r: f64| r * (1.0 - r) / 2.0;
        let worst = (0..=1000).map(|at| of(f64::from(at) / 1000.0)).fold(0.0, f64::max);
        assert!((worst - MIRRORED).abs() < 1e-9, "{worst}");
        assert!((inflation(10.0) - 1.125 / (1.0 - 0.125 / 9.0)).abs() < 1e-12);
    }
}
