//! Classifies a step's time series: warm-up, drift, cycles, stalls.

use model::{float, whole};
use std::collections::BTreeMap;

use model::time_profile::{Cycle, Drift, Stalls, TimeProfile, TrendClass};
use model::{Nanos, metric};

use super::cycle::cycle;
use super::means::{means, squares};
use super::series::Series;
use super::slope::slope;
use super::stalls::{StallSpan, stall_spans, sum, without};
use super::steady::{ALL, MIN_CLASSIFIED_S, MIN_STEADY_S, MIN_STEADY_SHARE, class, steady_part};
use crate::sample::mean;
use crate::series::inflation;

/// Seconds of a mean in long steps: our choice, short against cycles.
const WIDTH: usize = 5;
/// Fewest means: shorter steps have means of fewer seconds.
const MIN_MEANS: usize = 24;
/// Most means: longer steps have means of more seconds.
const MAX_MEANS: usize = 2_000;
/// Fewest means of one cycle: our choice, so that a mean keeps its shape.
const MEANS_OF_CYCLE: f64 = 8.0;
/// Standard errors beyond which a slope is real.
///
/// Our choice: 0.3 % false alarms for independent values; the tests of `slope` allow 2.5 % in slow
/// noise.
const REAL_ERRORS: f64 = 3.0;
/// Key of the drift of throughput.
const THROUGHPUT: &str = metric::THROUGHPUT_OPS_PER_S.name;

/// Returns the time profile of a step; `None` without seconds.
///
/// `margin` is the change that matters, as a share. Of a step that drifts, the steady part is what
/// drifts; of one that is not steady, or too short to classify, it is the whole. A step that ends
/// by count (`is_timed` false) is classified, but not trimmed: its work is one piece.
///
/// Source: the functions of this module; error rates: `tests/steady`.
pub fn time_profile(series: &Series, margin: f64, is_timed: bool) -> Option<TimeProfile> {
    let rates = series.rates();
    if rates.is_empty() {
        return None;
    }
    let classifier = Classifier { series, rates: &rates, margin };
    let is_short = series.length_s(0) < MIN_CLASSIFIED_S || mean(&rates) <= 0.0;
    let stalls = stall_spans(series.seconds());
    let mut time_profile =
        if is_short { classifier.part(TrendClass::TooShort, 0) } else { classifier.whole(&stalls) };
    time_profile.stalls = sum(&stalls);
    if !is_timed {
        time_profile.steady_from_ns = Nanos(0);
    }
    Some(time_profile)
}

/// A series under classification.
struct Classifier<'a> {
    series: &'a Series,
    rates: &'a [f64],
    margin: f64,
}

impl Classifier<'_> {
    /// Returns the profile of a step that is long enough; stalls are separate.
    fn whole(&self, stalls: &[StallSpan]) -> TimeProfile {
        let width = self.width();
        let levels = without(self.series.seconds(), stalls);
        let mut found = steady_part(&means(&levels, width), self.margin);
        let least_s = MIN_STEADY_S.max(MIN_STEADY_SHARE * self.series.length_s(0));
        let is_long = self.series.length_s(found.from * width) >= least_s;
        if !is_long {
            found = ALL;
        }
        let from = found.from * width;
        let drift = self.drift(self.rates, from);
        let cycle = cycle(&self.rates[from..]);
        let is_drift = drift.is_some_and(|drift| drift.is_real);
        let class =
            if is_long { class(&found, is_drift, cycle.as_ref()) } else { TrendClass::NotSteady };
        let mut time_profile = self.part(class, from);
        let others = self.series.others.iter();
        let others = others.filter_map(|(name, values)| Some((*name, self.drift(values, from)?)));
        let drifts = drift.map(|drift| (THROUGHPUT, drift)).into_iter().chain(others);
        time_profile.drifts = drifts.map(|(name, drift)| (name.to_owned(), drift)).collect();
        time_profile.cycle = cycle.map(|found| Cycle {
            period_ns: self.length_of(found.period, from),
            variance_share: found.variance_share,
        });
        time_profile
    }

    /// Returns the profile of a part, without drifts and cycle.
    fn part(&self, class: TrendClass, from: usize) -> TimeProfile {
        let rates = &self.rates[from..];
        let level = mean(rates);
        // The variance of ln x is that of x / level, and a second without operations has no ln.
        let variance = squares(rates, level) / level.powi(2) / float(rates.len().max(2) - 1);
        let inflation = inflation(rates);
        TimeProfile {
            class,
            steady_from_ns: self.start(from),
            drifts: BTreeMap::new(),
            cycle: None,
            stalls: Stalls::default(),
            seconds: u32::try_from(rates.len()).unwrap_or(u32::MAX),
            long_run_variance: if level > 0.0 { variance * inflation } else { 0.0 },
            effective_seconds: float(rates.len()) / inflation,
        }
    }

    /// Returns the start of a second; 0 for the first, whatever precedes it.
    fn start(&self, at: usize) -> Nanos {
        if at == 0 { Nanos(0) } else { self.series.seconds()[at].start_ns }
    }

    /// Returns the length of so many seconds from the `from`th on.
    fn length_of(&self, seconds: f64, from: usize) -> Nanos {
        let mean_s = self.series.length_s(from) / float(self.rates.len() - from);
        Nanos(whole(seconds * mean_s * 1e9))
    }

    /// Returns the width of a mean, in seconds.
    fn width(&self) -> usize {
        let all = self.rates.len();
        let of_cycle = cycle(&self.rates[all / 2..]).map_or(f64::INFINITY, |cycle| cycle.period);
        let mut width = WIDTH.min(all / MIN_MEANS).max(1);
        while width > 1 && float(width) > of_cycle / MEANS_OF_CYCLE {
            width -= 1;
        }
        width.max(all.div_ceil(MAX_MEANS))
    }

    fn drift(&self, values: &[f64], from: usize) -> Option<Drift> {
        let points = self.series.known(values, from);
        let slope = slope(&points)?;
        let span_s = points.last()?.0 - points.first()?.0;
        if slope.level <= 0.0 {
            return None;
        }
        let over_part = slope.per_second * span_s / slope.level;
        let is_significant = slope.per_second.abs() > REAL_ERRORS * slope.error;
        Some(Drift {
            per_hour: slope.per_second * 3600.0 / slope.level,
            over_part,
            is_real: is_significant && over_part.abs() > self.margin,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;
    use crate::time_profile::Second;

    /// Seconds with a noise of 1 %; `rss` grows by a byte each.
    fn series(level: impl Fn(u64) -> f64, length: u64) -> Series {
        let (mut series, mut noise) = (Series::default(), Noise::new(11));
        for at in 0..length {
            let second = Second {
                start_ns: Nanos::from_secs(at),
                length_ns: Nanos::SECOND,
                ops_per_s: 1e4 * level(at) * (1.0 + 0.01 * noise.normal()),
            };
            series.push(second, [(metric::RSS_BYTES.name, 1e3 + second.start_ns.as_secs_f64())]);
        }
        series
    }

    #[test]
    fn slow_start_is_a_warm_up() {
        let slow = series(|at| if at < 30 { 0.4 } else { 1.0 }, 120);
        let time_profile = time_profile(&slow, 0.02, true).unwrap();
        assert_eq!((time_profile.class, time_profile.seconds), (TrendClass::WarmUp, 90));
        assert_eq!(time_profile.steady_from_ns, Nanos::from_secs(30));
        assert!((time_profile.long_run_variance / 1e-4 - 1.0).abs() < 0.5, "{time_profile:?}");
        assert!(time_profile.effective_seconds > 50.0, "{time_profile:?}");
        assert!(!time_profile.drifts[metric::THROUGHPUT_OPS_PER_S.name].is_real);
        let rss = time_profile.drifts[metric::RSS_BYTES.name];
        // From 1,030 to 1,119: 1,074.5 in the middle.
        assert!(rss.is_real && (rss.over_part - 89.0 / 1074.5).abs() < 1e-6, "{rss:?}");
        assert!((rss.per_hour - 3600.0 / 1074.5).abs() < 1e-6, "{rss:?}");
    }

    #[test]
    fn a_stall_does_not_hide_a_slow_start() {
        let level = |at: u64| match at {
            0..7 => 0.5,
            14..17 => 0.0,
            17 => 0.4,
            _ => 1.0,
        };
        let time_profile = time_profile(&series(level, 24), 0.02, true).unwrap();
        assert_eq!((time_profile.class, time_profile.stalls.count), (TrendClass::WarmUp, 1));
        assert_eq!(time_profile.steady_from_ns, Nanos::from_secs(7));
        assert!(
            time_profile.long_run_variance > 0.1,
            "stalls count in the variance: {time_profile:?}"
        );
    }

    #[test]
    fn counted_step_is_not_trimmed() {
        let slow = series(|at| if at < 30 { 0.4 } else { 1.0 }, 120);
        let time_profile = time_profile(&slow, 0.02, false).unwrap();
        assert_eq!(
            (time_profile.class, time_profile.steady_from_ns),
            (TrendClass::WarmUp, Nanos(0))
        );
    }

    #[test]
    fn late_change_is_not_steady_and_line_drifts() {
        let late = series(|at| if at < 90 { 1.0 } else { 0.8 }, 120);
        let late = time_profile(&late, 0.02, true).unwrap();
        assert_eq!((late.class, late.seconds), (TrendClass::NotSteady, 120));
        let falling = series(|at| 1.0 - 0.001 * Nanos(at * 1_000_000_000).as_secs_f64(), 120);
        let falling = time_profile(&falling, 0.02, true).unwrap();
        assert_eq!((falling.class, falling.steady_from_ns), (TrendClass::Drift, Nanos(0)));
        let drift = falling.drifts[metric::THROUGHPUT_OPS_PER_S.name];
        assert!(drift.is_real && (drift.over_part + 0.126).abs() < 0.01, "{drift:?}");
    }

    #[test]
    fn short_step_has_stalls_but_no_class() {
        let short = series(|at| if at == 3 { 0.0 } else { 1.0 }, 10);
        let time_profile = time_profile(&short, 0.02, true).unwrap();
        assert_eq!((time_profile.class, time_profile.stalls.count), (TrendClass::TooShort, 1));
        assert_eq!(time_profile.steady_from_ns, Nanos(0));
        assert!(time_profile.drifts.is_empty());
    }

    #[test]
    fn idle_series_differs_from_empty_series() {
        assert_eq!(time_profile(&Series::default(), 0.02, true), None);
        let idle = time_profile(&series(|_| 0.0, 60), 0.02, true).unwrap();
        assert_eq!((idle.class, idle.long_run_variance), (TrendClass::TooShort, 0.0));
        let one = time_profile(&series(|_| 1.0, 1), 0.02, true).unwrap();
        assert_eq!((one.seconds, one.class), (1, TrendClass::TooShort));
    }

    #[test]
    fn invalid_seconds_are_skipped() {
        let whole = series(|at| if at < 30 { 0.4 } else { 1.0 }, 120);
        let mut valid = Series::default();
        for second in whole.seconds().iter().filter(|second| second.start_ns.0 % 7_000_000_000 != 0)
        {
            valid.push(*second, []);
        }
        valid.seconds.retain(|second| !(40..60).contains(&(second.start_ns.0 / 1_000_000_000)));
        let time_profile = time_profile(&valid, 0.02, true).unwrap();
        let from_s = time_profile.steady_from_ns.as_secs_f64();
        assert!((28.0..=36.0).contains(&from_s), "{time_profile:?}");
        assert_eq!(time_profile.class, TrendClass::WarmUp);
    }
}
