//! Linear trend and drift of a gauge, with intervals.

use crate::distribution::student::quantile;
use crate::series::correlation::inflation;
use crate::series::mean::{Mean, mean};
use model::float;

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
    let half = quantile(freedom) * line.error * inflation.sqrt();
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
pub fn drift(points: &[(f64, f64)]) -> Option<Mean> {
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
