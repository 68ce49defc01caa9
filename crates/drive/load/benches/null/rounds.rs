//! Summary of a benchmark's rounds.

/// Returns the least and the median.
pub(crate) fn least_and_median(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[0], values[values.len() / 2])
}
