//! Variance inflation of an autocorrelated series.

use model::float;

/// Returns the variance inflation of a series' mean by autocorrelation; >= 1.
///
/// The long-run variance over the plain one. Autocovariances are summed in pairs while the pairs
/// are positive, and forced non-increasing, so that the sum stops before it is noise. The effective
/// sample size is the length divided by this. Constant and alternating series have 1: an interval
/// is never narrowed.
///
/// Source: initial monotone sequence estimator [Geyer 1992, section 3.3].
pub fn inflation(series: &[f64]) -> f64 {
    let length = float(series.len());
    let mean = series.iter().sum::<f64>() / length.max(1.0);
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let covariance = |lag: usize| {
        let later = centred.get(lag..).unwrap_or_default();
        centred.iter().zip(later).map(|(a, b)| a * b).sum::<f64>() / length
    };
    let plain = covariance(0);
    if series.len() < 4 || plain <= 0.0 {
        return 1.0;
    }
    let mut sum = 0.0;
    let mut last = f64::INFINITY;
    for pair in 0..series.len() / 2 {
        let both = covariance(2 * pair) + covariance(2 * pair + 1);
        if both <= 0.0 {
            break;
        }
        last = both.min(last);
        sum += last;
    }
    ((2.0 * sum - plain) / plain).clamp(1.0, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;

    #[test]
    fn independent_values_are_not_inflated() {
        let mut noise = Noise::new(1);
        let series: Vec<f64> = (0..20_000).map(|_| noise.normal()).collect();
        assert!((inflation(&series) - 1.0).abs() < 0.1, "{}", inflation(&series));
        assert!((inflation(&[5.0; 100]) - 1.0).abs() < 1e-12);
        let alternating: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
        assert!((inflation(&alternating) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_inflation_of_an_autoregression_is_the_known_one() {
        // (1 + r) / (1 - r) [Priestley 1981, section 5.3.2].
        for (r, known) in [(0.5, 3.0), (0.8, 9.0)] {
            let series = Noise::new(7).autoregression(50_000, r);
            let ratio = inflation(&series) / known;
            assert!((0.85..1.15).contains(&ratio), "{r}: {ratio}");
        }
    }

    #[test]
    fn short_series_are_not_inflated() {
        assert!((inflation(&[]) - 1.0).abs() < 1e-12);
        assert!((inflation(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
    }
}
