//! Percentiles of response and service times on a logarithmic axis.

use maud::{Markup, html};
use model::Unit;

use super::axis::Log;
use super::mark::{self, Mark};
use super::matrix::{Area, Matrix};
use super::picture::{Labels, Picture, line, px, text};
use super::plane::round;
use super::subject::Subject;
use crate::label::{Loading, loading};

/// The percentiles: how the metric ends, name, mark.
const MARKS: [(&str, &str, Mark); 5] = [
    ("p50", "p50", Mark::Disc),
    ("p99", "p99", Mark::Diamond),
    ("p999", "p99.9", Mark::Triangle),
    ("p9999", "p99.99", Mark::Ring),
    ("max", "max", Mark::Bar),
];
/// Height of a row that has one line of marks.
const SINGLE: f64 = 24.0;
/// Height of a row that has two.
const DOUBLE: f64 = 40.0;
/// Distance of each of two lines from the row's middle.
const ASIDE: f64 = 9.0;
/// Room at the right for the names of the two lines.
const NAMES: f64 = 46.0;

/// How to read the picture.
const CAPTION: &str = "Logarithmic axis, the same for all steps; figures are means over the runs, \
    and the longest time is the mean of the runs' longest times. Response time runs from the \
    moment an operation was due, service time from the moment it was begun: the difference is the \
    time that an operation waited for other operations. A closed loop has service times only: \
    requests that would have arrived during a stall are not in these figures. A percentile that is \
    missing is withheld or has too few operations beyond it.";

/// Draws the percentiles; `None` when no time is known.
pub(crate) fn times(subject: &Subject<'_>) -> Option<Picture> {
    let is_open: Vec<bool> =
        subject.steps.iter().map(|step| loading(step) != Loading::Closed).collect();
    let has_open = is_open.contains(&true);
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &subject.headings,
        row_height: if has_open { DOUBLE } else { SINGLE },
        foot: 26.0,
        legend: Some((24.0, legend())),
    };
    let at = |column: usize, row: usize, kind: &str, suffix: &str| {
        let metric = format!("{kind}_ns_{suffix}");
        subject.spread(column, row, &metric).map(|spread| spread.mean)
    };
    let kinds = |column: usize| -> &[&str] {
        if is_open[column] { &["response", "service"] } else { &["service"] }
    };
    let places = (0..subject.steps.len())
        .flat_map(|column| (0..subject.rows.len()).map(move |row| (column, row)));
    let values = places.flat_map(|(column, row)| {
        let marks =
            MARKS.iter().flat_map(move |mark| kinds(column).iter().map(move |it| (mark, it)));
        marks.filter_map(move |((suffix, _, _), kind)| at(column, row, kind, suffix))
    });
    let room = if has_open { NAMES } else { 8.0 };
    // One axis for all columns, so that steps can be compared too.
    let axis = Log::holding(values, matrix.panel_width() - room)?;
    let back = |area: &Area| decades(area, axis);
    let cell = |area: &Area, row: usize| {
        let known = |kind: &str| -> Vec<(f64, Mark)> {
            let place = |suffix: &str| at(area.column, row, kind, suffix);
            let known = MARKS.iter().filter_map(|(suffix, _, mark)| {
                place(suffix).map(|value| (area.x + axis.at(value), *mark))
            });
            known.collect()
        };
        let colour = subject.rows[row].colour;
        html! {
            @if is_open[area.column] {
                @for (kind, aside) in [("response", -ASIDE), ("service", ASIDE)] {
                    (marks(area, aside, &known(kind), colour, Some(kind)))
                }
            } @else {
                (marks(area, 0.0, &known("service"), colour, None))
            }
        }
    };
    Some(matrix.picture(Labels::new("times", "Times, p50 to the longest", CAPTION), &back, &cell))
}

fn decades(area: &Area, axis: Log) -> Markup {
    let bottom = area.y + area.height;
    // Labels of neighbouring decades must not touch.
    let count = axis.decades().count();
    let every = if count > 5 { 2 } else { 1 };
    html! {
        @for (index, decade) in axis.decades().enumerate() {
            @let x = area.x + axis.at(decade);
            (line((x, area.y), (x, bottom + 3.0), "grid"))
            @if index % every == 0 {
                // The first and the last stay within the panel.
                @let (class, aside) = if index == 0 {
                    ("axis", 0.0)
                } else if index + 1 == count {
                    ("axis end", 8.0)
                } else {
                    ("axis mid", 0.0)
                };
                (text(x + aside, bottom + 15.0, class, &round(Unit::Nanos, decade)))
            }
        }
    }
}

/// Draws the marks of one line, `aside` of the row's middle.
fn marks(
    area: &Area,
    aside: f64,
    known: &[(f64, Mark)],
    colour: &str,
    name: Option<&str>,
) -> Markup {
    let middle = area.y + area.height / 2.0 + aside;
    let right = area.x + area.width;
    let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else {
        let what = name.map(|name| format!("{name} not known"));
        return text(right, middle + 4.0, "none end", what.as_deref().unwrap_or("not known"));
    };
    html! {
        line x1=(px(*first)) y1=(px(middle)) x2=(px(*last)) y2=(px(middle))
            stroke=(colour) stroke-width="2" stroke-opacity=".45" {}
        @for (x, mark) in known { (mark.draw((*x, middle), colour, None)) }
        @if let Some(name) = name { (text(right, middle + 3.5, "axis end", name)) }
    }
}

fn legend() -> Markup {
    let marks = MARKS.map(|(_, name, mark)| (mark, name));
    mark::legend(&marks, 6.0, 74.0)
}
