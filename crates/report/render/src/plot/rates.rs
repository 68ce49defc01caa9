//! Response time by offered rate, a panel per variant and step.

use analysis::{RateCurve, RatePoint};
use maud::{Markup, html};
use model::validity::Outcome;
use model::{Limit, Nanos, Unit};

use super::axis::{Linear, Log};
use super::mark::{Mark, legend};
use super::matrix::{Area, Matrix, UNNAMED};
use super::palette::INK;
use super::picture::{Labels, Picture, line, text};
use super::plane::{LEFT, Plane, Stroke, Up, apart, path, sample};
use super::subject::Subject;
use crate::figure::{figure, float};
use crate::validity::rate;
use model::units::clients;

const ROW: f64 = 214.0;
/// Room above the axis for points that have no time.
const ABOVE: f64 = 26.0;
/// Room right of the axis for the names of the lines.
const NAMES: f64 = 34.0;
/// Rates that it takes to make a curve where none was searched.
const RATES: usize = 3;
/// Rates closer than this share are one rate with noise.
const SAME: f64 = 0.03;

/// The percentiles: name, line, value.
type Of = fn(&RatePoint) -> Option<Nanos>;
const LINES: [(&str, Stroke, Of); 3] = [
    ("p50", Stroke::Solid, |point| point.response.p50),
    ("p99", Stroke::Dashed, |point| point.response.p99),
    ("p99.9", Stroke::Dotted, |point| point.response.p999),
];

/// One variant's panel: its curve, if it has one, and the axes of all panels of the step.
struct Panel<'a> {
    colour: &'static str,
    limit: Option<Limit>,
    curve: Option<&'a RateCurve>,
    across: Linear,
    up: Option<Log>,
}

/// Draws the curves; `None` when no step has been offered several rates.
pub(crate) fn rates(subject: &Subject<'_>) -> Option<Picture> {
    let keys = keys(&subject.compared.curves);
    if keys.is_empty() {
        return None;
    }
    let heading = |first: &&RateCurve| {
        let heading = heading(first);
        subject.rows.iter().map(move |row| format!("{}\n{heading}", row.label)).collect::<Vec<_>>()
    };
    let headings: Vec<String> = keys.iter().flat_map(heading).collect();
    let matrix = Matrix {
        rows: &UNNAMED,
        columns: &headings,
        row_height: ROW,
        foot: 14.0,
        legend: Some((30.0, marks_and_lines())),
    };
    let width = matrix.panel_width() - LEFT - NAMES;
    let panels: Vec<Panel<'_>> =
        keys.iter().flat_map(|first| panels(subject, first, width)).collect();
    let back = |_: &Area| html! {};
    let cell = |area: &Area, _: usize| {
        let area = Area { width: area.width - NAMES, ..*area };
        panels[area.column].draw(&area)
    };
    let caption = "Across: offered rate, from zero. Up: response time, logarithmic; both the same \
                   for all variants of a step. One line per run and percentile; each mark is a \
                   probe, on the percentile of the limit. Above the axis: probes without a steady \
                   response time. The dashed line across is the limit, the upright one the highest \
                   rate found, its band the range over the runs.";
    let labels = Labels::new("rates", "Response time by offered rate", caption);
    Some(matrix.picture(labels, &back, &cell))
}

/// Returns a panel per variant for the step that `first` is a curve of.
fn panels<'a>(subject: &'a Subject<'_>, first: &RateCurve, width: f64) -> Vec<Panel<'a>> {
    let all = &subject.compared.curves;
    let of_step: Vec<&RateCurve> = all.iter().filter(|curve| is_same(curve, first)).collect();
    let points = || of_step.iter().flat_map(|curve| &curve.points);
    let times = points().flat_map(|point| LINES.iter().filter_map(|(_, _, of)| of(point)));
    let limit = first.limit.map(|limit| limit.within);
    let times = times.chain(limit).map(|time| float(time.0));
    let across = Linear::holding(points().map(|point| point.offered_ops_per_s), width);
    let up = Log::holding(times, ROW - ABOVE - super::plane::BELOW);
    let variants = subject.compared.comparison.variants.iter().zip(&subject.rows);
    let panel = |(variant, row): (&analysis::VariantRuns, &super::matrix::Row)| Panel {
        colour: row.colour,
        limit: first.limit,
        curve: of_step.iter().copied().find(|curve| curve.variant == variant.name),
        across,
        up,
    };
    variants.map(panel).collect()
}

/// Returns the first curve of each step that was offered several rates.
fn keys(curves: &[RateCurve]) -> Vec<&RateCurve> {
    let mut keys: Vec<&RateCurve> = Vec::new();
    for curve in curves.iter().filter(|curve| is_curve(curve)) {
        if !keys.iter().any(|key| is_same(key, curve)) {
            keys.push(curve);
        }
    }
    keys
}

fn is_curve(curve: &RateCurve) -> bool {
    let mut rates: Vec<f64> = Vec::new();
    for point in &curve.points {
        let is_new = |last: &f64| point.offered_ops_per_s > last * (1.0 + SAME);
        if rates.last().is_none_or(is_new) {
            rates.push(point.offered_ops_per_s);
        }
    }
    curve.found.is_some() || rates.len() >= RATES
}

fn is_same(one: &RateCurve, other: &RateCurve) -> bool {
    (&one.step, one.clients, one.limit) == (&other.step, other.clients, other.limit)
}

fn heading(curve: &RateCurve) -> String {
    let limit = curve.limit.map(|limit| format!("\nlimit {limit}"));
    format!("{}, {}{}", curve.step, clients(curve.clients), limit.unwrap_or_default())
}

impl Panel<'_> {
    fn draw(&self, area: &Area) -> Markup {
        let (Some(curve), Some(up)) = (self.curve, self.up) else {
            let place = (area.x + area.width, area.y + ROW / 2.0);
            return text(place.0, place.1, "none end", "not known");
        };
        let plane = Plane::within(area, ABOVE, self.across, Up::Decades(up));
        html! {
            (plane.axes((Unit::OpsPerSecond, Unit::Nanos), "offered operations per second"))
            (found(&plane, curve))
            (lines(&plane, curve, self.colour))
            (self.limit_line(&plane))
            @for point in &curve.points {
                (self.mark(&plane, point))
            }
            (names(&plane, curve))
            @if curve.points.iter().any(|point| self.time(point).is_none()) {
                (text(plane.left - 5.0, plane.top - 10.0, "none end", "no time"))
            }
        }
    }

    fn limit_line(&self, plane: &Plane) -> Markup {
        let within = self.limit.map(|limit| float(limit.within.0));
        html! {
            @if let Some(within) = within {
                @let y = plane.y(within);
                (line((plane.left, y), (plane.right, y), "limit"))
                (text(plane.left + 4.0, y - 4.0, "halo", &figure(Unit::Nanos, within)))
            }
        }
    }

    /// Returns the time of the limit's percentile, or the highest that is known.
    fn time(&self, point: &RatePoint) -> Option<Nanos> {
        let share = self.limit.map_or(0.999, |limit| limit.share);
        let of_limit = if share < 0.9 {
            0
        } else if share < 0.995 {
            1
        } else {
            2
        };
        (0..=of_limit).rev().find_map(|index| LINES[index].2(point))
    }

    fn mark(&self, plane: &Plane, point: &RatePoint) -> Markup {
        let y = self.time(point).map_or(plane.top - 12.0, |time| plane.y(float(time.0)));
        Mark::of(point.outcome).draw(
            (plane.x(point.offered_ops_per_s), y),
            self.colour,
            Some(&about(point)),
        )
    }
}

/// Returns the places of one percentile's line: of one run, or of all.
fn places(plane: &Plane, curve: &RateCurve, run: Option<&str>, of: Of) -> Vec<(f64, f64)> {
    let own = curve.points.iter().filter(|point| {
        run.is_none_or(|run| point.run == run) && point.outcome != Some(Outcome::Invalid)
    });
    let known = own.filter_map(|point| of(point).map(|time| (point.offered_ops_per_s, time)));
    known.map(|(rate, time)| plane.at((rate, float(time.0)))).collect()
}

/// Returns the lines of all runs.
fn lines(plane: &Plane, curve: &RateCurve, colour: &str) -> Markup {
    let mut runs: Vec<&str> = curve.points.iter().map(|point| point.run.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    html! {
        @for (_, stroke, of) in &LINES {
            @for run in &runs { (path(&places(plane, curve, Some(run), *of), *stroke, colour)) }
        }
    }
}

/// Returns the names of the lines, at their right ends.
fn names(plane: &Plane, curve: &RateCurve) -> Markup {
    let ends: Vec<(&str, (f64, f64))> = LINES
        .iter()
        .filter_map(|(name, _, of)| Some((*name, *places(plane, curve, None, *of).last()?)))
        .collect();
    let heights: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
    html! {
        @for ((name, (x, _)), y) in ends.iter().zip(apart(&heights)) {
            (text(x + 9.0, y + 3.5, "halo", name))
        }
    }
}

/// Returns the highest rate found, with its range over the runs.
fn found(plane: &Plane, curve: &RateCurve) -> Markup {
    let Some(found) = curve.found.as_ref() else { return html! {} };
    let Some(spread) = found.sustainable else {
        return text(plane.right, plane.bottom - 6.0, "alarm end", "no rate found");
    };
    let place = (plane.x(spread.median) - 5.0, plane.bottom - 6.0);
    html! {
        (plane.found(spread.min, spread.median, spread.max))
        (text(place.0, place.1, "base end halo", &rate(spread.median)))
    }
}

/// Returns the tooltip of a point.
fn about(point: &RatePoint) -> String {
    let run = crate::label::run_name(&point.run);
    let what = point.probe.map_or_else(
        || "step at a fixed rate".to_owned(),
        |probe| format!("probe #{}, {}", probe.number, probe.purpose.name()),
    );
    let ended = point.outcome.map_or("", Outcome::name);
    let times = LINES.iter().filter_map(|(name, _, of)| {
        of(point).map(|time| format!("{name} {}", figure(Unit::Nanos, float(time.0))))
    });
    let times: Vec<String> = times.collect();
    format!(
        "{run}, {what}: offered {}, {} {ended}: {}",
        rate(point.offered_ops_per_s),
        times.join(", "),
        point.reason
    )
}

fn marks_and_lines() -> Markup {
    const MARKS: [(Mark, &str); 4] = [
        (Mark::Disc, "passed"),
        (Mark::Cross, "failed"),
        (Mark::HollowDiamond, "undecided"),
        (Mark::HollowSquare, "invalid"),
    ];
    let place = |index: usize| 380.0 + 80.0 * super::matrix::float(index);
    html! {
        (legend(&MARKS, 6.0, 84.0))
        @for (index, (name, stroke, _)) in LINES.iter().enumerate() {
            (sample(place(index), *stroke, INK, name))
        }
    }
}
