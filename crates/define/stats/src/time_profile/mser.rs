//! MSER-5: a second opinion on where a series becomes steady.

use super::means::{float, mean, means};

/// Values of a batch.
const BATCH: usize = 5;
/// Fewest batches of which anything is said.
const LEAST_BATCHES: usize = 6;

/// Returns how many values MSER-5 leaves out at the start; `None` when it cannot tell.
///
/// It leaves out what makes the standard error of the rest's mean least, and at most half: when the
/// least is there, the series is too short to tell. It always finds a place, whether or not there
/// is a steady state: a second opinion only.
///
/// Source: K. P. White, 1997, "An Effective Truncation Heuristic for Bias Reduction in Simulation
/// Output", Simulation 69(6); K. P. White, M. J. Cobb and S. C. Spratt, 2000, "A Comparison of Five
/// Steady-State Truncation Heuristics for Simulation", Winter Simulation Conference (batches of 5).
#[must_use]
pub fn mser5(values: &[f64]) -> Option<usize> {
    let batches = means(values, BATCH);
    if batches.len() < LEAST_BATCHES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let half = batches.len() / 2;
    let score = |from: usize| {
        let rest = &batches[from..];
        let middle = mean(rest);
        let squares: f64 = rest.iter().map(|value| (value - middle).powi(2)).sum();
        squares / float(rest.len()).powi(2)
    };
    let best = (0..=half).map(|from| (score(from), from)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.1 < half).then_some(best.1 * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_differs_is_left_out() {
        let from_50: Vec<f64> =
            (0..200).map(|at| if at < 50 { 100.0 } else { 0.0 } + f64::from(at * 7 % 5)).collect();
        assert_eq!(mser5(&from_50), Some(50));
        let level: Vec<f64> = (0..200).map(|at| f64::from(at * 7 % 5)).collect();
        assert_eq!(mser5(&level), Some(0));
    }

    #[test]
    fn half_of_the_series_or_more_is_no_answer() {
        let falling: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(mser5(&falling), None);
        assert_eq!(mser5(&[1.0; 29]), None);
        assert_eq!(mser5(&[f64::NAN; 100]), None);
    }
}
