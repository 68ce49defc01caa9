//! CPU per operation, split by its user.

use maud::{Markup, html};
use model::{Unit, float};

use super::axis::Linear;
use super::matrix::{Area, Matrix};
use super::palette::CPU;
use super::picture::{Labels, Picture, line, px, text};
use super::subject::Subject;
use crate::figure::figure;

const VALUE: f64 = 62.0;
const BAR: f64 = 11.0;

const CAPTION: &str = "CPU time per operation of the measured clients (per row where a step writes \
                       rows), mean over the runs. In an embedded engine the client threads run the \
                       engine's code; for a server, the CPU time is measured for its control \
                       group. CPU of background writers, flushes and compactions is charged to the \
                       operations that ran at the same time.";

/// The parts in the order of the bars: metric, and name in the legend.
const PARTS: [(&str, &str); 4] = [
    ("server_cpu_us_per_op", "the server"),
    ("client_cpu_us_per_op", "client and writer threads"),
    ("background_cpu_us_per_op", "the engine's own threads"),
    (TOTAL, "the harness"),
];
const TOTAL: &str = "cpu_us_per_op";

/// Draws the split; `None` when no CPU is known.
pub(crate) fn cpu(subject: &Subject<'_>) -> Option<Picture> {
    if !subject.has_metric(TOTAL) {
        return None;
    }
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &subject.headings,
        row_height: 24.0,
        foot: 12.0,
        legend: Some((24.0, legend())),
    };
    let length = matrix.panel_width() - VALUE;
    let mean = |column: usize, row: usize, metric: &str| {
        subject.spread(column, row, metric).map(|spread| spread.mean)
    };
    let axis = |column: usize| {
        let totals = (0..subject.rows.len()).filter_map(|row| mean(column, row, TOTAL));
        Linear::holding(totals, length)
    };
    let back = |area: &Area| line((area.x, area.y), (area.x, area.y + area.height), "rule");
    let cell = |area: &Area, row: usize| {
        let parts = PARTS.map(|(metric, _)| mean(area.column, row, metric));
        stack(area, axis(area.column), parts)
    };
    Some(matrix.picture(Labels::new("cpu", "CPU per operation", CAPTION), &back, &cell))
}

/// Draws parts end to end; the last is the total, which the rest fills.
fn stack(area: &Area, axis: Linear, [server, client, own, total]: [Option<f64>; 4]) -> Markup {
    let (right, middle) = (area.x + area.width, area.y + area.height / 2.0);
    let Some(total) = total else { return text(right, middle + 4.0, "none end", "not known") };
    let mut end = 0.0;
    let ends = [server, client, own].map(|part| {
        end += part.unwrap_or(0.0);
        end
    });
    html! {
        @for ((from, to), colour) in [0.0].iter().chain(&ends).zip(ends.iter().chain([&total])).zip(CPU) {
            @let (from, to) = (axis.at(*from), axis.at(*to));
            @if to - from > 0.05 {
                rect x=(px(area.x + from)) y=(px(middle - BAR / 2.0)) width=(px(to - from))
                    height=(px(BAR)) fill=(colour) {}
            }
        }
        (text(right, middle + 4.0, "end", &figure(Unit::Micros, total)))
    }
}

fn legend() -> Markup {
    html! {
        @for (index, ((_, name), colour)) in PARTS.iter().zip(CPU).enumerate() {
            @let x = 190.0 * float(index);
            rect x=(px(x)) y="3" width="12" height="11" fill=(colour) {}
            (text(x + 17.0, 12.0, "", name))
        }
    }
}
