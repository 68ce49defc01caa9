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
    /// Robust standard deviation of the noise; 0 when there is none.
    pub(super) sd: f64,
}

/// Clips single points that lie far from their neighbours.
pub(super) fn clip(values: &[f64]) -> Clipped {
    let medians = running_median(values);
    let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let residuals: Vec<f64> = values.iter().zip(&medians).map(|(one, mid)| one - mid).collect();
    let from_differences = spread(&differences) / std::f64::consts::SQRT_2;
    let sd = from_differences.max(spread(&residuals));
    let limit = limit(sd);
    let clipped = values.iter().zip(&medians).map(|(one, mid)| one.clamp(mid - limit, mid + limit));
    Clipped { values: clipped.collect(), sd }
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

/// Returns the running median; windows are shorter at both ends.
fn running_median(values: &[f64]) -> Vec<f64> {
    let half = WINDOW / 2;
    let mut window = [0.0; WINDOW];
    let at = |index: usize| {
        let around = &values[index.saturating_sub(half)..values.len().min(index + half + 1)];
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
    fn rounded_values_still_have_noise() {
        let mut values = vec![5.0; 30];
        values[7] = 6.0;
        values[19] = 4.0;
        let sd = clip(&values).sd;
        assert!(sd > 0.0 && sd < 0.5, "{sd}");
        assert_eq!(clip(&[3.0; 30]).sd, 0.0);
    }
}
