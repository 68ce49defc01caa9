//! Periodic cycles: flushes, compactions, checkpoints.

use model::float;
use std::f64::consts::{LN_2, TAU};

use super::means::{detrended, means, rolling_median, squares};

/// Longest series that is searched; longer ones are averaged first.
///
/// 4,096 seconds are 68 minutes; in a longer step, cycles of two means or less do not show.
const MAX_VALUES: usize = 4_096;
/// Fewest values.
const MIN_VALUES: usize = 32;
/// False-alarm probability of a peak, over all frequencies together.
///
/// Our choice, as for the other limits of this file, by the false alarms in
/// `red_noise_seldom_has_a_cycle`: a cycle must show in spectrum, autocorrelation and variance.
const CHANCE: f64 = 0.01;
/// Fewest periods in the series.
const MIN_PERIODS: usize = 4;
/// Least autocorrelation at the period.
const MIN_AUTOCORRELATION: f64 = 0.2;
/// Least share of the variance, harmonics included.
const MIN_VARIANCE_SHARE: f64 = 0.1;
/// Window of the median-smoothed spectrum: a twelfth of all frequencies, within these limits.
const AROUND: (usize, usize) = (5, 25);

/// A detected cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Its period, in values.
    pub period: f64,
    /// Share of the variance that it explains, harmonics included.
    pub variance_share: f64,
}

/// Returns the strongest significant cycle of evenly spaced values.
///
/// A peak of the periodogram above red noise, with at least four periods in the series, that the
/// autocorrelation confirms. Cost: the square of the length, 4,096 at most.
///
/// Source: red noise fitted to the median-smoothed spectrum [Mann Lees 1996].
pub fn cycle(values: &[f64]) -> Option<Found> {
    let width = values.len().div_ceil(MAX_VALUES).max(1);
    let values = detrended(&means(values, width));
    if values.len() < MIN_VALUES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let powers = periodogram(&values);
    let background = Background::of(&powers, values.len());
    let (mut best, mut height) = (0, 0.0);
    for (index, power) in powers.iter().enumerate().skip(MIN_PERIODS - 1) {
        let ratio = power / background.at(index + 1);
        if ratio > height {
            (best, height) = (index + 1, ratio);
        }
    }
    let is_noise = (-height).exp() * float(powers.len()) >= CHANCE;
    if best == 0 || is_noise {
        return None;
    }
    let (period, correlation) = refined(&values, float(values.len()) / float(best));
    let share = share(&powers, best);
    (correlation > MIN_AUTOCORRELATION && share >= MIN_VARIANCE_SHARE)
        .then_some(Found { period: period * float(width), variance_share: share })
}

/// Returns the power at 1, 2, ... periods a series, below half its values.
///
/// The values are tapered by Hann's window. Source of the recurrence: [Goertzel 1958].
fn periodogram(values: &[f64]) -> Vec<f64> {
    let n = float(values.len());
    let tapered: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(at, value)| value * 0.5 * (1.0 - (TAU * (float(at) + 0.5) / n).cos()))
        .collect();
    let power = |periods: usize| {
        let twice = 2.0 * (TAU * float(periods) / n).cos();
        let (mut last, mut before) = (0.0, 0.0);
        for value in &tapered {
            (last, before) = (value + twice * last - before, last);
        }
        (last * last + before * before - twice * last * before).max(0.0)
    };
    (1..values.len().div_ceil(2)).map(power).collect()
}

/// The spectrum of an autoregression of order one.
struct Background {
    level: f64,
    r: f64,
    n: f64,
}

impl Background {
    /// Fits it to the median-smoothed powers, by Whittle's likelihood.
    ///
    /// Source: [Whittle 1953]; the median of an exponential distribution is its mean times ln 2.
    fn of(powers: &[f64], length: usize) -> Self {
        let around = (powers.len() / 12).clamp(AROUND.0, AROUND.1);
        let smooth = rolling_median(powers, around);
        let angle = |at: usize| (TAU * float(at + 1) / float(length)).cos();
        let cosines: Vec<f64> = (0..smooth.len()).map(angle).collect();
        let fitted = |step: u32| {
            let r = f64::from(step) * 0.01;
            let shapes = cosines.iter().map(|cosine| shape(r, *cosine));
            let ratios = smooth.iter().zip(shapes).map(|(power, shape)| power / LN_2 / shape);
            let level = ratios.sum::<f64>() / float(smooth.len());
            let logs = cosines.iter().map(|cosine| (level * shape(r, *cosine)).ln());
            (logs.sum::<f64>(), Self { level, r, n: float(length) })
        };
        let best = (0..99).map(fitted).min_by(|a, b| a.0.total_cmp(&b.0));
        best.expect("there are 99").1
    }

    fn at(&self, periods: usize) -> f64 {
        self.level * shape(self.r, (TAU * float(periods) / self.n).cos())
    }
}

/// Returns the spectrum of red noise of variance 1 at the cosine of a frequency.
fn shape(r: f64, cosine: f64) -> f64 {
    (1.0 - r * r) / (1.0 + r * r - 2.0 * r * cosine)
}

/// Returns the period near `about` with the largest autocorrelation, and the correlation.
fn refined(values: &[f64], about: f64) -> (f64, f64) {
    let plain = squares(values, 0.0);
    let correlation = |lag: usize| {
        let later = values.get(lag..).unwrap_or_default();
        let products: f64 = values.iter().zip(later).map(|(a, b)| a * b).sum();
        products / plain * float(values.len()) / float(later.len().max(1))
    };
    let reach = (about * 0.1).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a lag is a small positive number"
    )]
    let (low, high) = ((about - reach).floor().max(1.0) as usize, (about + reach).ceil() as usize);
    let lags = (low..=high.min(values.len() / 2)).map(|lag| (correlation(lag), lag));
    let best = lags.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 1));
    (float(best.1), best.0)
}

/// Harmonics that are counted as the cycle's, the first included.
const HARMONICS: usize = 4;

/// Returns the share of all power at the peak and its harmonics, with the neighbours over which
/// the taper and an inexact period spread them.
fn share(powers: &[f64], peak: usize) -> f64 {
    let around = |harmonic: usize| {
        let reach = harmonic.div_ceil(2);
        let (first, end) = (harmonic * peak - 1 - reach, harmonic * peak + reach);
        powers.get(first.min(powers.len())..end.min(powers.len())).unwrap_or_default()
    };
    let own: f64 = (1..=HARMONICS).flat_map(around).sum();
    own / powers.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;

    /// A sawtooth of `period` seconds and height 1, with white noise of `sd`.
    fn sawtooth(length: u32, period: u32, sd: f64) -> Vec<f64> {
        let mut noise = Noise::new(3);
        let tooth = |at: u32| f64::from(at % period) / f64::from(period) + sd * noise.normal();
        (0..length).map(tooth).collect()
    }

    #[test]
    fn sawtooth_period_is_found_at_any_length() {
        for (length, period) in [(1800, 90), (1800, 77), (300, 60), (20_000, 600)] {
            let found = cycle(&sawtooth(length, period, 0.2)).unwrap();
            assert!((found.period / f64::from(period) - 1.0).abs() < 0.03, "{period}: {found:?}");
            assert!((0.5..0.9).contains(&found.variance_share), "{period}: {found:?}");
        }
    }

    #[test]
    fn sine_share_is_its_variance_share() {
        let mut noise = Noise::new(5);
        let sine = |at: u32| (TAU * f64::from(at) / 40.0).sin() + 0.5 * noise.normal();
        let found = cycle(&(0..1000).map(sine).collect::<Vec<_>>()).unwrap();
        // Variances of 1/2 and 1/4.
        assert!((found.variance_share - 0.667).abs() < 0.04, "{found:?}");
    }

    #[test]
    fn red_noise_seldom_has_a_cycle() {
        for (length, r, count, most) in [
            (60, 0.6, 200, 6),
            (300, 0.0, 200, 6),
            (300, 0.6, 200, 6),
            (300, 0.9, 200, 6),
            (1800, 0.6, 50, 2),
        ] {
            let has = |seed: u64| cycle(&Noise::new(seed).autoregression(length, r)).is_some();
            let found = (0..count).filter(|&seed| has(seed)).count();
            assert!(found <= most, "{length} {r}: {found} of {count}");
        }
    }

    #[test]
    fn fewer_than_four_periods_and_constant_values_have_no_cycle() {
        assert_eq!(cycle(&sawtooth(300, 100, 0.1)), None);
        assert_eq!(cycle(&[5.0; 300]), None);
        assert_eq!(cycle(&sawtooth(31, 5, 0.0)), None);
        assert_eq!(cycle(&[f64::NAN; 300]), None);
        assert_eq!(cycle(&[]), None);
    }
}
