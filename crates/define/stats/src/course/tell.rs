//! A step's seconds to its course.

use std::collections::BTreeMap;

use model::course::{Course, CourseClass, Cycle, Drift};
use model::{Nanos};

use super::cycle::cycle;
use super::inflation_tmp::inflation;
use super::means::{float, mean, means};
use super::mser::mser5;
use super::series::Series;
use super::slope::slope;
use super::stalls::{stall_spans, sum};
use super::steady::{Kept, LEAST_KEPT_S, LEAST_SHARE, LEAST_TOLD_S, class, kept};

/// Seconds of a mean, where the step is long.
/// Source: the project's reference, analysis, section 3, step 1.
const WIDTH: usize = 5;
/// Means that are wanted at least; of a shorter step they are of fewer seconds.
const LEAST_MEANS: usize = 24;
/// Means at most; of a longer step they are of more seconds.
const MOST_MEANS: usize = 2_000;
/// Means of one cycle, at least.
/// Source: as above.
const MEANS_OF_CYCLE: f64 = 8.0;
/// Standard errors beyond which a slope is real.
/// Source: the project's reference, analysis, section 3, step 5.
const REAL_ERRORS: f64 = 3.0;
/// The name of the slope of throughput.
const THROUGHPUT: &str = "throughput_ops_per_s";

/// Returns the course of a step; `None` when there is no second to tell of.
///
/// `margin` is the change that matters, as a share. Where the class is not steady, the kept part is
/// the whole, or what drifts. Of a step that ends by count (`is_timed` false) nothing is left out at
/// the start: its work would be less than was asked for.
#[must_use]
pub fn course(series: &Series, margin: f64, is_timed: bool) -> Option<Course> {
    let rates = series.rates();
    let spans = stall_spans(series.seconds());
    if rates.is_empty() {
        return None;
    }
    let told = Told { series, rates: &rates, margin };
    let is_short = series.length_s(0) < LEAST_TOLD_S || mean(&rates) <= 0.0;
    let mut course = if is_short { told.short() } else { told.whole() };
    course.stalls = sum(&spans);
    if !is_timed {
        course.steady_from_ns = Nanos(0);
    }
    Some(course)
}

struct Told<'a> {
    series: &'a Series,
    rates: &'a [f64],
    margin: f64,
}

impl Told<'_> {
    /// Returns the course of a step too short to tell of.
    fn short(&self) -> Course {
        self.part(CourseClass::TooShort, 0)
    }

    fn whole(&self) -> Course {
        let width = self.width();
        let found = kept(&means(self.rates, width), self.margin);
        let from = found.from * width;
        let (all_s, kept_s) = (self.series.length_s(0), self.series.length_s(from));
        let is_long = kept_s >= LEAST_KEPT_S.max(LEAST_SHARE * all_s);
        let (found, from) = if is_long { (found, from) } else { (Kept { from: 0, ..found }, 0) };
        let drift = self.drift(&self.series.rates(), from);
        let cycle = cycle(&self.rates[from..]);
        let is_drift = drift.is_some_and(|drift| drift.is_real);
        let mut course = self.part(class(&found, is_long, is_drift, cycle.is_some()), from);
        course.second_opinion_ns = mser5(self.rates).map(|from| self.start(from));
        course.drifts.extend(drift.map(|drift| (THROUGHPUT.to_owned(), drift)));
        course.drifts.extend(self.drifts(from));
        course.cycle = cycle.map(|found| Cycle {
            period_ns: nanos(found.period * kept_s / float(self.rates.len() - from)),
            variance_share: found.variance_share,
        });
        course
    }

    /// Returns what is told of every part.
    fn part(&self, class: CourseClass, from: usize) -> Course {
        let rates = &self.rates[from..];
        let level = mean(rates);
        let squares: f64 = rates.iter().map(|rate| (rate / level - 1.0).powi(2)).sum();
        let variance = squares / float(rates.len().max(2) - 1);
        let inflation = inflation(rates);
        let is_known = level > 0.0;
        Course {
            class,
            steady_from_ns: if from == 0 { Nanos(0) } else { self.start(from) },
            second_opinion_ns: None,
            drifts: BTreeMap::new(),
            cycle: None,
            stalls: model::course::Stalls::default(),
            seconds: u32::try_from(rates.len()).unwrap_or(u32::MAX),
            long_run_variance: if is_known { variance * inflation } else { 0.0 },
            effective_seconds: float(rates.len()) / inflation,
        }
    }

    fn start(&self, at: usize) -> Nanos {
        self.series.seconds()[at].start_ns
    }

    /// Returns the seconds of a mean.
    fn width(&self) -> usize {
        let all = self.rates.len();
        let of_cycle = cycle(&self.rates[all / 2..]).map_or(f64::INFINITY, |cycle| cycle.period);
        let mut width = WIDTH.min(all / LEAST_MEANS).max(1);
        while width > 1 && float(width) > of_cycle / MEANS_OF_CYCLE {
            width -= 1;
        }
        width.max(all.div_ceil(MOST_MEANS))
    }

    /// Returns the slopes of what else was sampled.
    fn drifts(&self, from: usize) -> impl Iterator<Item = (String, Drift)> {
        let one = move |(name, values): (&&'static str, &Vec<f64>)| {
            Some(((*name).to_owned(), self.drift(values, from)?))
        };
        self.series.others.iter().filter_map(one)
    }

    fn drift(&self, values: &[f64], from: usize) -> Option<Drift> {
        let points = self.series.known(values, from);
        let slope = slope(&points)?;
        let span_s = points.last()?.0 - points.first()?.0;
        if slope.level <= 0.0 {
            return None;
        }
        let over_part = slope.per_second * span_s / slope.level;
        let is_told = slope.per_second.abs() > REAL_ERRORS * slope.error;
        Some(Drift {
            per_hour: slope.per_second * 3600.0 / slope.level,
            over_part,
            is_real: is_told && over_part.abs() > self.margin,
        })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a period of a step")]
fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).max(0.0) as u64)
}
