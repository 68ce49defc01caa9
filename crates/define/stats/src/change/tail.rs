//! Outliers at the end of a history.

use super::level::Noise;
use super::prune::{CHANCE, chance};
use super::robust::{limit, run_at_end};
use crate::distribution::student;
use crate::sample::mean;
use model::float;

/// Fewest points of a level that a next point is compared with.
const LEVEL: usize = 4;

/// Returns the p-value of the last value of a long history, when it is an outlier.
///
/// An outlier is what is clipped as a spike: `sd` is the deviation of the clipping; `off` are the
/// distances of the values from their levels, and `points` those of the last level. The p-value is
/// that by the noise, or the share of outliers, where spikes are common.
pub(super) fn of_long(off: &[f64], points: usize, noise: Noise, sd: f64) -> Option<f64> {
    let (last, rest) = off.split_last()?;
    let is_alone = run_at_end(off, sd) == 1 && sd > 0.0;
    let error = noise.error(points.saturating_sub(1).max(1), 1);
    is_alone.then(|| chance(last.abs() / error, rest.len()).max(share(rest, sd)))
}

/// Returns the p-value of so many outliers in a row on one side, where spikes are as common as in
/// `off`.
pub(super) fn of_spikes(off: &[f64], count: usize, sd: f64) -> f64 {
    2.0 * (share(off, sd) / 2.0).powi(i32::try_from(count).unwrap_or(i32::MAX))
}

/// Returns the share of values that lie beyond the limit.
fn share(off: &[f64], sd: f64) -> f64 {
    let far = off.iter().filter(|off| off.abs() > limit(sd)).count();
    far as f64 / off.len().max(1) as f64
}

/// Returns the p-value of the last value of a level, when it is an outlier.
///
/// Source: the prediction interval of Student's t for one further value [Snedecor Cochran 1989].
pub(super) fn of_short(level: &[f64]) -> Option<f64> {
    let (last, rest) = level.split_last()?;
    let count = float(rest.len());
    if rest.len() < LEVEL {
        return None;
    }
    let mean = mean(rest);
    let squares: f64 = rest.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) * (1.0 + 1.0 / count)).sqrt();
    let p = student::two_sided((last - mean) / error, count - 1.0);
    (error > 0.0 && p <= CHANCE).then_some(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_spikes_in_a_row_are_as_likely_as_spikes_are_common() {
        let off: Vec<f64> = (0..100).map(|at| if at % 10 == 0 { 9.0 } else { 0.5 }).collect();
        assert!((of_spikes(&off, 1, 1.0) - 0.1).abs() < 1e-12);
        assert!((of_spikes(&off, 2, 1.0) - 0.005).abs() < 1e-12);
        assert_eq!(of_long(&off, 100, Noise::white(1.0), 1.0), None);
    }

    #[test]
    fn a_level_without_noise_has_no_outlier() {
        assert_eq!(of_short(&[5.0; 9]), None);
        assert_eq!(of_short(&[1e308, -1e308, 1e308, 1e308, 1e308, 1.0]), None);
    }
}
