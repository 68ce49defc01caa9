//! Steady state of a solid state drive over rounds of writes.

use model::float;

use crate::sample::mean;

/// Rounds of the measurement window.
pub const WINDOW: usize = 5;

/// Largest excursion of a round within the window, as a share of the window's mean.
const EXCURSION: f64 = 0.2;

/// Largest change of the fitted line over the window, as a share of the window's mean.
const SLOPE: f64 = 0.1;

/// Returns whether the last [`WINDOW`] rounds are steady; false while there are fewer.
///
/// The range of the rounds is at most 20 % of their mean, and the line fitted to them by least
/// squares changes by at most 10 % of it.
///
/// Source: definition of steady state [SNIA 2013].
pub fn is_steady(rounds: &[f64]) -> bool {
    let Some(first) = rounds.len().checked_sub(WINDOW) else { return false };
    let window = &rounds[first..];
    let mean = mean(window);
    let [low, high] = [f64::min, f64::max].map(|of| window.iter().copied().reduce(of));
    let range = high.zip(low).map_or(f64::NAN, |(high, low)| high - low);
    let centre = float(WINDOW - 1) / 2.0;
    let places = || (0..WINDOW).map(|at| float(at) - centre);
    let slope = places().zip(window).map(|(x, y)| x * y).sum::<f64>()
        / places().map(|x| x * x).sum::<f64>();
    // A comparison with NaN is false.
    range <= EXCURSION * mean && (slope * float(WINDOW - 1)).abs() <= SLOPE * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_level_rounds_are_steady_and_four_are_not() {
        assert!(is_steady(&[900.0, 100.0, 105.0, 95.0, 104.0, 98.0]));
        assert!(!is_steady(&[100.0; 4]));
        assert!(!is_steady(&[100.0, 100.0, f64::NAN, 100.0, 100.0]));
    }

    #[test]
    fn excursions_and_slopes_have_limits_of_their_own() {
        assert!(!is_steady(&[100.0, 100.0, 125.0, 100.0, 100.0]), "25 % in one round");
        assert!(is_steady(&[100.0, 100.0, 119.0, 100.0, 100.0]), "19 %");
        assert!(!is_steady(&[106.0, 103.0, 100.0, 97.0, 94.0]), "a fall of 12 %");
        assert!(is_steady(&[104.0, 102.0, 100.0, 98.0, 96.0]), "a fall of 8 %");
    }
}
