//! Batch means, medians, detrending and outlier clipping.

use model::float;

use crate::sample::mean;

/// Returns the means of `width` values each; the last one takes the remainder.
pub(super) fn means(values: &[f64], width: usize) -> Vec<f64> {
    let whole = (values.len() / width.max(1)).max(1);
    let part = |index: usize| {
        let end = if index + 1 == whole { values.len() } else { (index + 1) * width };
        mean(&values[index * width..end])
    };
    if values.is_empty() { Vec::new() } else { (0..whole).map(part).collect() }
}

/// Returns the sum of the squared distances from `level`.
pub(super) fn squares(values: &[f64], level: f64) -> f64 {
    values.iter().map(|value| (value - level).powi(2)).sum()
}

/// Returns the values less their least-squares line.
pub(super) fn detrended(values: &[f64]) -> Vec<f64> {
    let (level, middle) = (mean(values), (float(values.len()) - 1.0) / 2.0);
    let away = |at: usize| float(at) - middle;
    let spread: f64 = (0..values.len()).map(|at| away(at).powi(2)).sum();
    let products: f64 = values.iter().enumerate().map(|(at, value)| value * away(at)).sum();
    let slope = if spread > 0.0 { products / spread } else { 0.0 };
    values.iter().enumerate().map(|(at, value)| value - level - slope * away(at)).collect()
}

/// Returns the median, the lower one of two; NaN of nothing.
pub(super) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Returns the median of up to `width` values around each value.
pub(super) fn rolling_median(values: &[f64], width: usize) -> Vec<f64> {
    let mut window = Vec::with_capacity(width + 1);
    let around = |at: usize| {
        let first = at.saturating_sub(width / 2).min(values.len().saturating_sub(width));
        window.clear();
        window.extend_from_slice(&values[first..(first + width).min(values.len())]);
        median(&mut window)
    };
    (0..values.len()).map(around).collect()
}

/// Width of the rolling median.
const AROUND: usize = 7;
/// Robust standard deviations beyond which a value is clipped.
///
/// Our choice: a normal value lies beyond four once in 16,000.
const AWAY: f64 = 4.0;
/// Standard deviation of a normal distribution over its median absolute deviation.
const MAD_TO_SD: f64 = 1.4826;

/// Returns the values with outliers clipped (Hampel filter).
///
/// Source: median absolute deviation [Hampel 1974].
pub(super) fn clipped(values: &[f64]) -> Vec<f64> {
    let usual = rolling_median(values, AROUND);
    let mut away: Vec<f64> = values.iter().zip(&usual).map(|(one, it)| (one - it).abs()).collect();
    let limit = AWAY * MAD_TO_SD * median(&mut away);
    // More than half of the values equal their neighbours: no scale.
    if limit.is_nan() || limit <= 0.0 {
        return values.to_vec();
    }
    values.iter().zip(&usual).map(|(one, it)| one.clamp(it - limit, it + limit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_hold_every_value() {
        assert_eq!(means(&[1.0, 3.0, 5.0, 7.0, 9.0], 2), [2.0, 7.0]);
        assert_eq!(means(&[1.0, 3.0], 5), [2.0]);
        assert_eq!(means(&[], 5), []);
    }

    #[test]
    fn a_median_rolls_and_stays_whole_at_the_ends() {
        let values = [1.0, 9.0, 2.0, 3.0, 8.0, 4.0];
        assert_eq!(rolling_median(&values, 3), [2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
        assert_eq!(rolling_median(&[3.0, 1.0], 7), [1.0, 1.0]);
    }

    #[test]
    fn a_line_leaves_nothing() {
        let line: Vec<f64> = (0..9).map(|at| 3.0 - 0.5 * f64::from(at)).collect();
        assert!(squares(&detrended(&line), 0.0) < 1e-20);
        assert_eq!(detrended(&[4.0]), [0.0]);
    }

    #[test]
    fn an_outlier_is_moved_and_a_step_stays() {
        let mut values: Vec<f64> = (0..40).map(|at| f64::from(at % 3)).collect();
        values[20] = 500.0;
        let clipped = clipped(&values);
        assert!(clipped[20] < 10.0, "{}", clipped[20]);
        let steps: Vec<f64> = (0..40).map(|at| f64::from(at % 3 + at / 20 * 50)).collect();
        assert_eq!(super::clipped(&steps), steps);
    }
}
