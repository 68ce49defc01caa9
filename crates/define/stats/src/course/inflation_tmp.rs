//! How many independent values a correlated series is worth.

/// Returns by how much autocorrelation inflates the variance of the series' mean; >= 1.
///
/// The long-run variance over the plain one. Autocovariances are summed in pairs while the pairs
/// are positive, and never let rise: the sum then stops before it is made of noise. A series is
/// worth its length divided by this. A constant series has 1, and so has one that alternates: an
/// interval is never narrowed.
///
/// Source: C. J. Geyer, 1992, "Practical Markov Chain Monte Carlo", Statistical Science 7(4),
/// section 3.3, initial monotone sequence estimator.
pub(super) fn inflation(series: &[f64]) -> f64 {
    let length = length_of(series);
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

/// Returns a length as a number.
#[expect(clippy::cast_precision_loss, reason = "series are far shorter than 2^53")]
pub(super) fn length_of<T>(series: &[T]) -> f64 {
    series.len() as f64
}

