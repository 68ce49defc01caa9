//! Means and slopes of autocorrelated series.
//!
//! All limits are two-sided at 95 %.

use model::float;

use crate::distribution::student::half_width;
use crate::sample::Estimate;

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

/// Returns the mean and its interval; `None` below two values.
///
/// Student's interval at the effective sample size: the length over its inflation by
/// autocorrelation.
///
/// Source: [Geyer 1992, section 3.3] for the effective sample size; coverage: the test below.
pub fn mean(series: &[f64]) -> Option<Estimate> {
    let n = float(series.len());
    if series.len() < 2 {
        return None;
    }
    let value = series.iter().sum::<f64>() / n;
    let variance = series.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (n - 1.0);
    let effective = n / inflation(series);
    let half = half_width(0.95, effective - 1.0) * (variance / effective).sqrt();
    Some(Estimate { value, low: value - half, high: value + half })
}

/// Least-squares line with the 95 % limits of its slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Growth per second.
    pub slope: f64,
    /// Lower limit of the slope.
    pub low: f64,
    /// Upper limit of the slope.
    pub high: f64,
    /// Mean of the series.
    pub level: f64,
    /// Time from the first value to the last, seconds.
    pub span_s: f64,
}

impl Trend {
    /// Returns the rise of the line from first to last value.
    pub fn growth(&self) -> f64 {
        self.slope * self.span_s
    }
}

/// Fewest values of a trend: leaves two degrees of freedom.
const MIN_VALUES: usize = 4;

/// Returns the trend of `(seconds, value)`; `None` below four values.
///
/// Ordinary least squares; its residual variance is inflated for autocorrelation, and the degrees
/// of freedom are those of the effective sample size: a gauge that rises and falls (a cycle of
/// compactions) counts as growing only after some cycles.
///
/// Source: [Draper Smith 1998, section 1.4]; the inflation: [Geyer 1992, section 3.3].
pub fn trend(points: &[(f64, f64)]) -> Option<Trend> {
    if points.len() < MIN_VALUES {
        return None;
    }
    let line = line(points)?;
    let inflation = inflation(&line.residuals);
    let freedom = float(points.len()) / inflation - 2.0;
    let half = half_width(0.95, freedom) * line.error * inflation.sqrt();
    let (first, last) = (points.first()?.0, points.last()?.0);
    Some(Trend {
        slope: line.slope,
        low: line.slope - half,
        high: line.slope + half,
        level: line.level,
        span_s: last - first,
    })
}

/// Returns the mean growth per second between neighbours; `None` below four values.
///
/// For a gauge that is a random walk (a debt that is paid now faster, now slower): the residuals of
/// a line are too correlated to show anything, the steps are not, and their mean has an interval.
///
/// Source: a random walk with drift is tested on its differences [Hamilton 1994, section 17.4]; the
/// interval is that of [`mean`].
pub fn drift(points: &[(f64, f64)]) -> Option<Estimate> {
    if points.len() < MIN_VALUES {
        return None;
    }
    let step = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
    mean(&points.windows(2).map(step).filter(|step| step.is_finite()).collect::<Vec<_>>())
}

/// A least-squares line, its residuals taken as independent.
struct Line {
    slope: f64,
    /// Standard error of the slope.
    error: f64,
    level: f64,
    residuals: Vec<f64>,
}

fn line(points: &[(f64, f64)]) -> Option<Line> {
    let n = float(points.len());
    let middle = points.iter().map(|point| point.0).sum::<f64>() / n;
    let level = points.iter().map(|point| point.1).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|point| (point.0 - middle).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let slope =
        points.iter().map(|point| (point.0 - middle) * (point.1 - level)).sum::<f64>() / spread;
    let residual = |point: &(f64, f64)| point.1 - level - slope * (point.0 - middle);
    let residuals: Vec<f64> = points.iter().map(residual).collect();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let error = (squares / (n - 2.0) / spread).sqrt();
    Some(Line { slope, error, level, residuals })
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

    #[test]
    fn the_interval_is_students_when_values_are_independent() {
        // [Student 1908, section IX]: hours of sleep gained, difference of the two drugs; mean 1.58
        // and standard deviation 1.17 (divisor n). Shuffled to be uncorrelated.
        let gains = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let mean = mean(&gains).unwrap();
        assert!((mean.value - 1.58).abs() < 1e-9);
        // R: t.test(extra ~ group, sleep, paired = TRUE): 0.7001142 to 2.4598858.
        assert!((mean.low - 0.700_114_2).abs() < 1e-6, "{mean:?}");
        assert!((mean.high - 2.459_885_8).abs() < 1e-6, "{mean:?}");
    }

    #[test]
    fn correlated_mean_has_the_simulated_coverage() {
        // A simulation with numpy gave .946 for nominal .95 at n = 300, r = .5, and .913 at r = .9.
        for (r, least, most) in [(0.5, 0.92, 0.97), (0.9, 0.88, 0.95)] {
            let covers = |seed: u64| {
                let series = Noise::new(seed).autoregression(300, r);
                let mean = mean(&series).unwrap();
                (mean.low..mean.high).contains(&0.0)
            };
            let share = f64::from((0..1000).map(|seed| u32::from(covers(seed))).sum::<u32>()) / 1e3;
            assert!((least..most).contains(&share), "{r}: {share}");
        }
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(mean(&[1.0]), None);
    }

    /// Calibration of ozone monitors [NIST StRD, Norris].
    #[rustfmt::skip]
    const NORRIS: [(f64, f64); 36] = [
        (0.2, 0.1), (337.4, 338.8), (118.2, 118.1), (884.6, 888.0), (10.1, 9.2), (226.5, 228.1),
        (666.3, 668.5), (996.3, 998.5), (448.6, 449.1), (777.0, 778.9), (558.2, 559.2), (0.4, 0.3),
        (0.6, 0.1), (775.5, 778.1), (666.9, 668.8), (338.0, 339.3), (447.5, 448.9), (11.6, 10.8),
        (556.0, 557.7), (228.1, 228.3), (995.8, 998.0), (887.6, 888.8), (120.2, 119.6), (0.3, 0.3),
        (0.3, 0.6), (556.8, 557.6), (339.1, 339.3), (887.2, 888.0), (999.0, 998.5), (779.0, 778.9),
        (11.1, 10.2), (118.3, 117.6), (229.2, 228.9), (669.1, 668.4), (448.9, 449.2), (0.5, 0.2),
    ];

    #[test]
    fn the_slope_and_its_error_are_the_certified_ones() {
        // [NIST StRD], Norris.
        let line = line(&NORRIS).unwrap();
        assert!((line.slope - 1.002_116_818_020_45).abs() < 1e-12);
        assert!((line.error - 0.429_796_848_199_937e-3).abs() < 1e-14);
    }

    fn timed(series: &[f64]) -> Vec<(f64, f64)> {
        (0_u32..).map(f64::from).zip(series.iter().copied()).collect()
    }

    #[test]
    fn series_without_trend_seldom_raises_an_alarm() {
        // Chance of a false alarm: 2.5 % when independent; known to be larger when strongly
        // correlated, and bounded here.
        for (r, most) in [(0.0, 0.04), (0.6, 0.06), (0.9, 0.12)] {
            let grows = |seed: u64| {
                let series = Noise::new(seed).autoregression(60, r);
                trend(&timed(&series)).unwrap().low > 0.0
            };
            let alarms = (0..1000).filter(|&seed| grows(seed)).count();
            assert!(float(alarms) / 1e3 < most, "{r}: {alarms}");
        }
    }

    #[test]
    fn a_sawtooth_does_not_grow_and_a_ramp_under_noise_does() {
        let sawtooth: Vec<f64> = (0..60).map(|at| f64::from(at % 15)).collect();
        assert!(trend(&timed(&sawtooth)).unwrap().low < 0.0);
        let mut noise = Noise::new(3);
        let ramp: Vec<f64> = (0..60).map(|at| f64::from(at) * 0.1 + noise.normal()).collect();
        let found = trend(&timed(&ramp)).unwrap();
        assert!(found.low > 0.0 && found.high < 0.2, "{found:?}");
        assert!((found.growth() - 5.9).abs() < 1.0);
    }

    #[test]
    fn a_random_walk_grows_by_its_drift_and_seldom_without_one() {
        // Chance of a false alarm: 2.5 %. With a drift of four standard errors: found.
        let grows = |seed: u64, by: f64| {
            let mut noise = Noise::new(seed);
            let mut level = 0.0;
            let mut step = || {
                level += by + noise.normal();
                level
            };
            let walk: Vec<f64> = (0..300).map(|_| step()).collect();
            drift(&timed(&walk)).unwrap().low > 0.0
        };
        let alarms = (0..1000).filter(|&seed| grows(seed, 0.0)).count();
        assert!((10..45).contains(&alarms), "{alarms}");
        let found = (0..1000).filter(|&seed| grows(seed, 4.0 / 300_f64.sqrt())).count();
        assert!(found > 940, "{found}");
        let sawtooth: Vec<f64> = (0..60).map(|at| f64::from(at % 15)).collect();
        assert!(drift(&timed(&sawtooth)).unwrap().low < 0.0);
        assert_eq!(drift(&timed(&[1.0, 2.0, 3.0])), None);
    }

    #[test]
    fn a_perfect_line_has_no_width_and_a_few_values_no_trend() {
        let found = trend(&timed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        assert!((found.low - 1.0).abs() < 1e-9 && (found.high - 1.0).abs() < 1e-9);
        assert_eq!(trend(&timed(&[1.0, 2.0, 3.0])), None);
        assert_eq!(trend(&[(1.0, 2.0); 10]), None, "no time passes");
    }
}
