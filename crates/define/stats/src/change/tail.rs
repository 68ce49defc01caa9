//! Outliers at the end of a history.

use super::level::Noise;
use super::prune::{CHANCE, chance};
use super::robust::limit;
use crate::distribution::student;
use crate::sample::mean;
use model::float;

/// Fewest points of a level that a next point is compared with.
const LEVEL: usize = 4;

/// Outliers among the last points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tail {
    /// No outlier at the end.
    Quiet,
    /// The last point is an outlier, with its p-value.
    One(f64),
    /// The last two points are outliers on the same side, with their p-value.
    Two(f64),
}

/// Classifies the end of a long history, by the distances of its values from their levels.
///
/// An outlier is what is clipped as a spike: `sd` is the deviation of the clipping. The p-value is
/// that by the noise, or, where spikes are common, that of so many spikes in a row. `points` are
/// those of the last level.
pub(super) fn of_long(off: &[f64], points: usize, noise: Noise, sd: f64) -> Tail {
    let is_far = |off: &f64| off.abs() > limit(sd);
    let [rest @ .., before, last] = off else { return Tail::Quiet };
    if !is_far(last) || sd <= 0.0 {
        return Tail::Quiet;
    }
    let share = rest.iter().filter(|one| is_far(one)).count() as f64 / off.len() as f64;
    let in_noise = |off: f64, own: usize| {
        chance(off.abs() / noise.error(points.saturating_sub(own).max(1), own), rest.len())
    };
    if is_far(before) && before.signum() == last.signum() {
        return Tail::Two(in_noise(f64::midpoint(*before, *last), 2).max(share * share / 2.0));
    }
    Tail::One(in_noise(*last, 1).max(share))
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
    fn a_level_without_noise_has_no_outlier() {
        assert_eq!(of_short(&[5.0; 9]), None);
        assert_eq!(of_short(&[1e308, -1e308, 1e308, 1e308, 1e308, 1.0]), None);
    }
}
