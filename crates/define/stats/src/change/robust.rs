//! Robust noise estimate and spike clipping of a history.

use crate::median;
use crate::sample::mean;

/// Points of the running median: our choice, so that three spikes in a row are none.
const WINDOW: usize = 7;
/// Standard deviations from the running median at which a point is clipped.
///
/// Our choice: clipped (Huber and biweight) losses [Fearnhead Rigaill 2019, section 5] with a wider
/// limit, because sd and median are estimates of few points.
const CLIP: f64 = 3.75;
/// Standard deviation of a normal distribution over its median absolute deviation.
///
/// Source: [Rousseeuw Croux 1993, section 1].
const NORMAL: f64 = 1.4826;

/// Values with their spikes clipped.
pub(super) struct Clipped {
    /// The values; a spike is moved to the limit.
    pub(super) values: Vec<f64>,
    /// Robust standard deviation of the noise; 0 without noise.
    pub(super) sd: f64,
}

/// Clips single points that lie far from their neighbours.
///
/// Several of them on one side at the end stay as they are: they may be a new level.
pub(super) fn clip(values: &[f64]) -> Clipped {
    let medians = running_median(values);
    let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let residuals: Vec<f64> = values.iter().zip(&medians).map(|(one, mid)| one - mid).collect();
    let from_differences = spread(&differences) / std::f64::consts::SQRT_2;
    let sd = from_differences.max(spread(&residuals));
    let limit = limit(sd);
    let run = run_at_end(&residuals, sd);
    let first = if run > 1 { values.len() - run } else { values.len() };
    let mut clipped = values.to_vec();
    for (one, mid) in clipped.iter_mut().zip(&medians).take(first) {
        *one = one.clamp(mid - limit, mid + limit);
    }
    Clipped { values: clipped, sd }
}

/// Returns the number of last values that lie beyond the limit, all on the side of the last one.
pub(super) fn run_at_end(residuals: &[f64], sd: f64) -> usize {
    let side = residuals.last().map_or(0.0, |last| last.signum());
    residuals.iter().rev().take_while(|one| *one * side > limit(sd)).count()
}

/// Replaces the spikes of one level by its median.
pub(super) fn remove_spikes(values: &mut [f64], sd: f64) {
    if let Some(middle) = median(values) {
        let is_spike = |value: &&mut f64| (**value - middle).abs() > limit(sd);
        values.iter_mut().filter(is_spike).for_each(|value| *value = middle);
    }
}

/// Returns the distance from its level at which a point is a spike.
pub(super) fn limit(sd: f64) -> f64 {
    CLIP * sd
}

/// Returns the standard deviation by the median absolute deviation.
///
/// Where more than half of the deviations are 0 (counts, rounded values) the mean deviation is
/// used.
fn spread(values: &[f64]) -> f64 {
    /// Standard deviation of a normal variable over its mean absolute value.
    const OF_MEAN: f64 = 1.253_314_137_315_5;
    let Some(centre) = median(values) else { return 0.0 };
    let sizes: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    match median(&sizes) {
        Some(size) if size > 0.0 => NORMAL * size,
        _ => OF_MEAN * mean(&sizes),
    }
}

/// Returns the running median; at both ends it is the median of the last whole window.
fn running_median(values: &[f64]) -> Vec<f64> {
    let half = WINDOW / 2;
    let mut window = [0.0; WINDOW];
    let last = values.len().saturating_sub(WINDOW);
    let at = |index: usize| {
        let from = index.saturating_sub(half).min(last);
        let around = &values[from..values.len().min(from + WINDOW)];
        let own = &mut window[..around.len()];
        own.copy_from_slice(around);
        own.sort_unstable_by(f64::total_cmp);
        let upper = own.len() / 2;
        if own.len() % 2 == 1 { own[upper] } else { f64::midpoint(own[upper - 1], own[upper]) }
    };
    (0..values.len()).map(at).collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "medians are values given")]
mod tests {
    use super::*;

    #[test]
    fn spike_is_clipped_and_step_is_not() {
        let mut values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 10) / 4.0).collect();
        for value in &mut values[20..] {
            *value += 50.0;
        }
        values[10] = 30.0;
        let clipped = clip(&values);
        assert!(clipped.sd > 0.5 && clipped.sd < 4.0, "{}", clipped.sd);
        assert!(clipped.values[10] < 20.0, "{}", clipped.values[10]);
        assert_eq!(clipped.values[11..], values[11..]);
    }

    #[test]
    fn points_beyond_the_limit_at_the_end_are_clipped_only_when_alone() {
        let noise = |at: u32| f64::from(at * 7 % 10) / 4.0;
        for (last, is_clipped) in
            [(&[30.0][..], true), (&[30.0, 29.0], false), (&[30.0, -9.0], true)]
        {
            let values: Vec<f64> = (0..40).map(noise).chain(last.iter().copied()).collect();
            let clipped = clip(&values);
            assert_eq!(clipped.values != values, is_clipped, "{last:?}");
            assert_eq!(clipped.values[..40], values[..40]);
        }
    }

    #[test]
    fn rounded_values_still_have_noise() {
        let mut values = vec![5.0; 30];
        values[7] = 6.0;
        values[19] = 4.0;
        let sd = clip(&values).sd;
        assert!(sd > 0.0 && sd < 0.5, "{sd}");
        assert_eq!(clip(&[3.0; 30]).sd, 0.0);
    }
}
