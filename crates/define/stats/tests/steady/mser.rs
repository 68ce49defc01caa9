//! MSER-5 truncation: the yardstick of the warm-up trim.

/// Values of a batch.
const BATCH: usize = 5;
/// Fewest batches of an estimate.
const MIN_BATCHES: usize = 6;

/// Returns the values to truncate; `None` for at least half.
///
/// The truncation that minimises the standard error of the mean of the rest, at most half of the
/// series: at half, the series is too short. It always finds a place, whether or not there is a
/// steady state, so it only confirms another method.
///
/// Source: [White 1997]; batches of 5: [White Cobb Spratt 2000].
pub(crate) fn mser5(values: &[f64]) -> Option<usize> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let batches: Vec<f64> = values.chunks_exact(BATCH).map(mean).collect();
    if batches.len() < MIN_BATCHES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let half = batches.len() / 2;
    let score = |from: usize| {
        let rest = &batches[from..];
        let middle = mean(rest);
        let squares: f64 = rest.iter().map(|value| (value - middle).powi(2)).sum();
        squares / (rest.len() as f64).powi(2)
    };
    let best = (0..=half).map(|from| (score(from), from)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.1 < half).then_some(best.1 * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_start_is_truncated() {
        let from_50: Vec<f64> =
            (0..200).map(|at| if at < 50 { 100.0 } else { 0.0 } + f64::from(at * 7 % 5)).collect();
        assert_eq!(mser5(&from_50), Some(50));
        let level: Vec<f64> = (0..200).map(|at| f64::from(at * 7 % 5)).collect();
        assert_eq!(mser5(&level), Some(0));
    }

    #[test]
    fn half_of_the_series_is_too_much() {
        let falling: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(mser5(&falling), None);
        assert_eq!(mser5(&[1.0; 29]), None);
        assert_eq!(mser5(&[f64::NAN; 100]), None);
    }
}
