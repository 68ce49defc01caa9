//! Response-time percentiles on a logarithmic axis: five marks on one line per variant and step.

use maud::{Markup, html};
use model::Unit;

use super::axis::Log;
use super::matrix::{Area, Matrix};
use super::palette::INK;
use super::picture::{Picture, Words, line, px, text};
use super::subject::Subject;
use crate::figure::figure;

/// The percentiles: metric, name, mark.
const MARKS: [(&str, &str, Mark); 5] = [
    ("response_ns_p50", "p50", Mark::Disc),
    ("response_ns_p99", "p99", Mark::Diamond),
    ("response_ns_p999", "p99.9", Mark::Triangle),
    ("response_ns_p9999", "p99.99", Mark::Ring),
    ("response_ns_max", "max", Mark::Bar),
];

#[derive(Clone, Copy)]
enum Mark {
    Disc,
    Diamond,
    Triangle,
    Ring,
    Bar,
}

/// Draws the percentiles; `None` when no response time is known.
pub(crate) fn times(subject: &Subject<'_>) -> Option<Picture> {
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &subject.headings,
        row_height: 24.0,
        foot: 26.0,
        legend: Some((24.0, legend())),
    };
    let at = |column: usize, row: usize, metric: &str| {
        subject.spread(column, row, metric).map(|spread| spread.median)
    };
    let places = (0..subject.steps.len())
        .flat_map(|column| (0..subject.rows.len()).map(move |row| (column, row)));
    let values = places.flat_map(|(column, row)| {
        MARKS.iter().filter_map(move |(metric, _, _)| at(column, row, metric))
    });
    // One axis for all columns, so that steps can be compared too.
    let axis = Log::holding(values, matrix.panel_width() - 8.0)?;
    let back = |area: &Area| decades(area, axis);
    let cell = |area: &Area, row: usize| {
        let known = MARKS.iter().filter_map(|(metric, _, mark)| {
            at(area.column, row, metric).map(|value| (area.x + axis.at(value), *mark))
        });
        marks(area, &known.collect::<Vec<_>>(), subject.rows[row].colour)
    };
    let caption = "Logarithmic axis, the same for all steps; medians over the runs, also of the \
                   runs' longest. Response time runs from the moment an operation was due. In a \
                   closed loop it is due when the one before has ended, so requests that would \
                   have arrived during a stall are not in these figures.";
    let words = Words::new("times", "Response times, p50 to the longest", caption);
    Some(matrix.picture(words, &back, &cell))
}

fn decades(area: &Area, axis: Log) -> Markup {
    let bottom = area.y + area.height;
    // Labels of neighbouring decades must not touch.
    let every = if axis.decades().count() > 5 { 2 } else { 1 };
    html! {
        @for (index, decade) in axis.decades().enumerate() {
            @let x = area.x + axis.at(decade);
            (line((x, area.y), (x, bottom + 3.0), "grid"))
            @if index % every == 0 {
                @let class = if index == 0 { "axis" } else { "axis mid" };
                (text(x, bottom + 15.0, class, &decade_label(decade)))
            }
        }
    }
}

/// Returns a power of ten in ns as people write it: `10 us` with the Greek letter.
fn decade_label(ns: f64) -> String {
    figure(Unit::Nanos, ns).replace(".00", "").replace(".0", "")
}

fn marks(area: &Area, known: &[(f64, Mark)], colour: &str) -> Markup {
    let middle = area.y + area.height / 2.0;
    let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else {
        return text(area.x + area.width, middle + 4.0, "none end", "not known");
    };
    html! {
        line x1=(px(*first)) y1=(px(middle)) x2=(px(*last)) y2=(px(middle))
            stroke=(colour) stroke-width="2" stroke-opacity=".45" {}
        @for (x, mark) in known { (draw(*mark, *x, middle, colour)) }
    }
}

fn draw(mark: Mark, x: f64, y: f64, colour: &str) -> Markup {
    let path = |d: String| html! { path d=(d) fill=(colour) {} };
    let at = format!("M{},{}", px(x), px(y));
    match mark {
        Mark::Disc => html! { circle cx=(px(x)) cy=(px(y)) r="5" fill=(colour) {} },
        Mark::Diamond => path(format!("{at}m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z")),
        Mark::Triangle => path(format!("{at}m0,-5l5,9h-10z")),
        Mark::Ring => html! {
            circle cx=(px(x)) cy=(px(y)) r="4" fill="#fff" stroke=(colour) stroke-width="2" {}
        },
        Mark::Bar => html! {
            rect x=(px(x - 1.5)) y=(px(y - 7.0)) width="3" height="14" fill=(colour) {}
        },
    }
}

fn legend() -> Markup {
    let place = |index: usize| 6.0 + 74.0 * super::matrix::float(index);
    html! {
        @for (index, (_, name, mark)) in MARKS.iter().enumerate() {
            (draw(*mark, place(index), 8.0, INK))
            (text(place(index) + 11.0, 12.0, "", name))
        }
    }
}
