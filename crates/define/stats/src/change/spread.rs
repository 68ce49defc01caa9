//! Lasting changes of the noise itself.

use super::level::Noise;
use super::prune::prune;
use crate::pelt::{Sums, segment};

/// Fewest values whose noise is searched for changes.
const VALUES: usize = 50;
/// Shortest stretch of one noise.
const SHORTEST: usize = 10;
/// Smallest size of a residual, in standard deviations: a logarithm needs more than 0.
const LEAST: f64 = 0.05;
/// Variance of the logarithm of a normal variable's size.
///
/// Source: pi^2 / 8; M. Abramowitz and I. Stegun, 1964, "Handbook of Mathematical Functions", 6.4.
const OF_LOG: f64 = 1.233_700_550_136_169_8;

/// Returns where the noise changed: first point, and the ratio of the standard deviations.
///
/// The logarithms of the residuals' sizes are parted as the values are: a change of their mean is
/// a change of the noise by a factor.
///
/// Source: the project's reference, analysis, sections 3 and 4.2.
pub(super) fn changes(residuals: &[f64], strictness: f64) -> Vec<(usize, f64)> {
    let count = residuals.len() as f64;
    let sd = (residuals.iter().map(|one| one * one).sum::<f64>() / count).sqrt();
    if residuals.len() < VALUES || sd <= 0.0 {
        return Vec::new();
    }
    let logs: Vec<f64> = residuals.iter().map(|one| one.abs().max(LEAST * sd).ln()).collect();
    let sums = Sums::of(&logs);
    let penalty = strictness * count.ln() * OF_LOG;
    let kept = prune(&sums, segment(&logs, penalty, SHORTEST), Noise::white(OF_LOG));
    let starts: Vec<usize> = kept.iter().map(|kept| kept.at).collect();
    let edges = super::level::edges(&starts, residuals.len());
    edges
        .windows(3)
        .map(|three| {
            let shift = sums.mean(three[1], three[2]) - sums.mean(three[0], three[1]);
            (three[1], shift.exp())
        })
        .collect()
}
