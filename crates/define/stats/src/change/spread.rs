//! Lasting changes of the noise itself.

use super::level::Noise;
use super::prune::prune;
use crate::pelt::{Sums, segment};
use crate::sample::mean;

/// Fewest values whose noise is searched for changes.
const VALUES: usize = 50;
/// Shortest stretch of one noise.
const SHORTEST: usize = 10;
/// Most values that are searched; longer histories are averaged first.
const MOST: usize = 500;
/// Smallest size of a residual, in standard deviations: a logarithm needs more than 0.
const LEAST: f64 = 0.05;
/// Variance of the logarithm of a normal variable's absolute value.
///
/// Source: pi^2 / 8 [Abramowitz Stegun 1964, 6.4].
const OF_LOG: f64 = 1.233_700_550_136_169_8;

/// Returns the changes of the noise: first point, and ratio of the standard deviations.
///
/// The logarithms of the absolute residuals are segmented like values: a change of their mean is a
/// change of the noise by a factor. Places are known to the five-hundredth of a history.
///
/// Source: segmentation as [Killick Fearnhead Eckley 2012], with the known variance of such
/// logarithms.
pub(super) fn changes(residuals: &[f64], strictness: f64) -> Vec<(usize, f64)> {
    let count = residuals.len() as f64;
    let sd = (residuals.iter().map(|one| one * one).sum::<f64>() / count).sqrt();
    if residuals.len() < VALUES || sd <= 0.0 {
        return Vec::new();
    }
    let logs: Vec<f64> = residuals.iter().map(|one| one.abs().max(LEAST * sd).ln()).collect();
    let each = logs.len().div_ceil(MOST);
    let means: Vec<f64> = logs.chunks(each).map(mean).collect();
    let (sums, variance) = (Sums::of(&means), OF_LOG / each as f64);
    let penalty = strictness * count.ln() * variance;
    let shortest = SHORTEST.div_ceil(each);
    let starts = segment(&means, penalty, shortest, shortest);
    let boundaries = prune(&sums, starts, Noise::white(variance));
    let starts: Vec<usize> = boundaries.iter().map(|boundary| boundary.at).collect();
    let edges = super::level::edges(&starts, means.len());
    edges
        .windows(3)
        .map(|three| {
            let shift = sums.mean(three[1], three[2]) - sums.mean(three[0], three[1]);
            (three[1] * each, shift.exp())
        })
        .collect()
}
