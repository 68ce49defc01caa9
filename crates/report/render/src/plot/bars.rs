//! Bars from zero with the range of the runs as whisker.

use maud::{Markup, html};
use model::Unit;
use stats::Spread;

use super::axis::Linear;
use super::matrix::{Area, Matrix};
use super::picture::{Labels, Picture, line, px, text};
use super::subject::Subject;
use crate::figure::figure;

/// Room for the value written at the right of a bar.
const VALUE: f64 = 62.0;
const BAR: f64 = 13.0;

/// What the bars of one column show.
pub(crate) struct Column {
    pub(crate) heading: String,
    pub(crate) unit: Unit,
    /// One per row; `None` where not known.
    pub(crate) cells: Vec<Option<Spread>>,
}

/// Draws the columns.
pub(crate) fn bars(subject: &Subject<'_>, columns: &[Column], labels: Labels) -> Picture {
    let headings: Vec<String> = columns.iter().map(|column| column.heading.clone()).collect();
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &headings,
        row_height: 22.0,
        foot: 12.0,
        legend: None,
    };
    let length = matrix.panel_width() - VALUE;
    let axis = |column: &Column| {
        Linear::holding(column.cells.iter().flatten().map(|spread| spread.max), length)
    };
    let back = |area: &Area| {
        let column = &columns[area.column];
        let base =
            subject.base_row().and_then(|row| column.cells[row]).filter(|base| base.mean > 0.0);
        let (top, bottom) = (area.y, area.y + area.height);
        html! {
            (line((area.x, top), (area.x, bottom), "rule"))
            @if let Some(base) = base {
                @let x = area.x + axis(column).at(base.mean);
                (line((x, top), (x, bottom), "ref"))
            }
        }
    };
    let cell = |area: &Area, row: usize| {
        let column = &columns[area.column];
        let colour = subject.rows[row].colour;
        bar(area, axis(column), column.unit, column.cells[row], colour)
    };
    matrix.picture(labels, &back, &cell)
}

fn bar(area: &Area, axis: Linear, unit: Unit, spread: Option<Spread>, colour: &str) -> Markup {
    let middle = area.y + area.height / 2.0;
    let right = area.x + area.width;
    let Some(spread) = spread else {
        return text(right, middle + 4.0, "none end", "not known");
    };
    let [low, mean, high] =
        [spread.min, spread.mean, spread.max].map(|value| area.x + axis.at(value));
    html! {
        rect x=(px(area.x)) y=(px(middle - BAR / 2.0)) width=(px(mean - area.x))
            height=(px(BAR)) fill=(colour) {}
        @if spread.n > 1 && spread.max > 0.0 {
            (line((low, middle), (high, middle), "whisker"))
            @for x in [low, high] {
                (line((x, middle - 4.0), (x, middle + 4.0), "whisker"))
            }
        }
        (text(right, middle + 4.0, "end", &figure(unit, spread.mean)))
    }
}
