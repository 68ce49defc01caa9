//! Response time by offered rate, a panel per variant and step.

use analysis::{RateCurve, RatePoint};
use maud::{Markup, html};
use model::validity::Outcome;
use model::{Nanos, Unit, float};

use super::mark::{Mark, legend};
use super::palette::INK;
use super::picture::{Labels, Picture, line, text};
use super::plane::{Axes, Ends, Plane, panels, path, planes, sample};
use super::subject::Subject;
use crate::validity::rate;
use model::units::clients;

/// Rates that it takes to make a curve where none was searched.
const RATES: usize = 3;
/// Rates closer than this share are one rate with noise.
const SAME: f64 = 0.03;

/// The percentiles: name, line, value.
type Of = fn(&RatePoint) -> Option<Nanos>;
const LINES: [(&str, &str, Of); 3] = [
    ("p50", "solid", |point| point.response.p50),
    ("p99", "dashed", |point| point.response.p99),
    ("p99.9", "dotted", |point| point.response.p999),
];

/// Draws the curves; `None` when no step has been offered several rates.
pub(crate) fn rates(subject: &Subject<'_>) -> Option<Picture> {
    let all = &subject.compared.curves;
    let is_same = |one: &RateCurve, other: &RateCurve| {
        (&one.step, one.clients, one.limit) == (&other.step, other.clients, other.limit)
    };
    let mut keys: Vec<&RateCurve> = Vec::new();
    for curve in all.iter().filter(|curve| is_curve(curve)) {
        if !keys.iter().any(|key| is_same(key, curve)) {
            keys.push(curve);
        }
    }
    let of_step = |first: &&RateCurve| {
        let own: Vec<&RateCurve> = all.iter().filter(|curve| is_same(curve, first)).collect();
        let points = || own.iter().flat_map(|curve| &curve.points);
        let times = points().flat_map(|point| LINES.iter().filter_map(|(_, _, of)| of(point)));
        let times: Vec<f64> = times
            .chain(first.limit.map(|limit| limit.within))
            .map(|time| float(time.0).max(1.0))
            .collect();
        let low = times.iter().copied().fold(f64::INFINITY, f64::min);
        let high = times.iter().copied().fold(0.0, f64::max);
        let most = points().map(|point| point.offered_ops_per_s).fold(0.0, f64::max);
        let limit = first.limit.map(|limit| format!("\nlimit {limit}")).unwrap_or_default();
        let heading = format!("{}, {}{limit}", first.step, clients(first.clients));
        panels(subject, &heading, Ends { across: most, up: (low, high) }, |variant| {
            own.iter().copied().find(|curve| curve.variant == variant)
        })
    };
    let all_panels: Vec<_> = keys.iter().flat_map(of_step).collect();
    let caption = "Across: offered rate, from zero. Up: response time, logarithmic; both the same \
                   for all variants of a step. One line per run and percentile; each mark is a \
                   probe, on the percentile of the limit. Above the axis: probes without a steady \
                   response time. The dashed horizontal line is the limit. The vertical line is \
                   the highest rate found, and its band is the range over the runs.";
    let labels = Labels::new("rates", "Response time by offered rate", caption);
    let name = "offered operations per second";
    let axes = Axes { across: Unit::OpsPerSecond, up: Unit::Nanos, name };
    (!keys.is_empty()).then(|| planes(labels, marks_and_lines(), &all_panels, axes, &draw))
}

fn is_curve(curve: &RateCurve) -> bool {
    let mut rates: Vec<f64> = curve.points.iter().map(|point| point.offered_ops_per_s).collect();
    rates.dedup_by(|next, last| *next <= *last * (1.0 + SAME));
    curve.found.is_some() || rates.len() >= RATES
}

fn draw(plane: &Plane, curve: &RateCurve, colour: &str) -> Markup {
    let mut runs: Vec<&str> = curve.points.iter().map(|point| point.run.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    html! {
        (found(plane, curve))
        @for (_, class, of) in &LINES {
            @for run in &runs { (path(&places(plane, curve, run, *of), class, colour)) }
        }
        @if let Some(limit) = curve.limit {
            @let y = plane.y(float(limit.within.0));
            (line((plane.left, y), (plane.right, y), "limit"))
        }
        @for point in &curve.points {
            @let y = time(curve, point).map_or(plane.top - 12.0, |time| plane.y(float(time.0)));
            @let about = format!("{}: {}", rate(point.offered_ops_per_s), point.reason);
            (Mark::of(point.outcome).draw((plane.x(point.offered_ops_per_s), y), colour, Some(&about)))
        }
    }
}

/// Returns the time of the limit's percentile, or the highest that is known.
fn time(curve: &RateCurve, point: &RatePoint) -> Option<Nanos> {
    let of_limit = match curve.limit.map_or(0.999, |limit| limit.share) {
        share if share < 0.9 => 0,
        share if share < 0.995 => 1,
        _ => 2,
    };
    (0..=of_limit).rev().find_map(|index| LINES[index].2(point))
}

/// Returns the places of one percentile's line in one run.
fn places(plane: &Plane, curve: &RateCurve, run: &str, of: Of) -> Vec<(f64, f64)> {
    let is_own = |point: &&RatePoint| point.run == run && point.outcome != Some(Outcome::Invalid);
    let known = curve.points.iter().filter(is_own);
    let known = known.filter_map(|point| Some((point.offered_ops_per_s, float(of(point)?.0))));
    known.map(|place| plane.at(place)).collect()
}

/// Returns the highest rate found, with its range over the runs.
fn found(plane: &Plane, curve: &RateCurve) -> Markup {
    match curve.found.as_ref().map(|found| found.sustainable) {
        None => html! {},
        Some(None) => text(plane.right, plane.bottom - 6.0, "alarm end", "no rate found"),
        Some(Some(it)) => plane.found([it.min, it.mean, it.max], &rate(it.mean)),
    }
}

fn marks_and_lines() -> Markup {
    const MARKS: [(Mark, &str); 4] = [
        (Mark::Disc, "passed"),
        (Mark::Cross, "failed"),
        (Mark::HollowDiamond, "undecided"),
        (Mark::HollowSquare, "invalid"),
    ];
    html! {
        (legend(&MARKS, 6.0, 84.0))
        @for (index, (name, class, _)) in LINES.iter().enumerate() {
            (sample(380.0 + 80.0 * float(index), class, INK, name))
        }
    }
}
