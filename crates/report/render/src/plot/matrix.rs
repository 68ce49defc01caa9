//! The common layout: a row per variant, a column per step.

use maud::{Markup, html};
use model::float;

use super::palette::INK;
use super::picture::{Labels, Picture, text};

/// Width of every picture: a page's width on a laptop and on A4 across.
pub(crate) const WIDTH: f64 = 1_060.0;
/// Most columns side by side; more go into another band below.
const COLUMNS: usize = 4;
const GAP: f64 = 22.0;
const HEAD: f64 = 26.0;
/// Widest panel: bars of a lone column would otherwise fill the page.
const PANEL_MAX: f64 = 420.0;

/// One row: a variant.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) is_base: bool,
    pub(crate) colour: &'static str,
}

/// A place to draw in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) column: usize,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Rows, columns and their sizes.
pub(crate) struct Matrix<'a> {
    pub(crate) rows: &'a [Row],
    /// Headings of the columns; a line break makes two lines.
    pub(crate) columns: &'a [String],
    pub(crate) row_height: f64,
    /// Space below the rows of a band, for an axis.
    pub(crate) foot: f64,
    /// Drawn once above everything, this high.
    pub(crate) legend: Option<(f64, Markup)>,
}

/// The only row of a picture whose columns name the variants.
pub(crate) const UNNAMED: [Row; 1] = [Row { label: String::new(), is_base: false, colour: INK }];

impl Matrix<'_> {
    /// Returns the width of a panel.
    pub(crate) fn panel_width(&self) -> f64 {
        let per_band = float(self.per_band());
        let left = WIDTH - self.label_width();
        ((left - GAP * (per_band - 1.0)) / per_band).min(PANEL_MAX)
    }

    /// Draws `back` once per column behind all its rows, and `cell` once per row and column.
    pub(crate) fn picture(
        &self,
        labels: Labels,
        back: &dyn Fn(&Area) -> Markup,
        cell: &dyn Fn(&Area, usize) -> Markup,
    ) -> Picture {
        let lines = self.columns.iter().map(|heading| heading.lines().count()).max().unwrap_or(1);
        let head = HEAD + 14.0 * float(lines.saturating_sub(1));
        let rows = self.row_height * float(self.rows.len());
        let band_height = head + rows + self.foot;
        let top = self.legend.as_ref().map_or(0.0, |(height, _)| *height);
        let width = self.panel_width();
        let band = |band: usize| {
            let y = top + band_height * float(band) + head;
            let first = band * self.per_band();
            let last = self.columns.len().min(first + self.per_band());
            html! {
                (self.names(y))
                @for column in first..last {
                    @let x = self.label_width() + float(column - first) * (width + GAP);
                    (self.column(&Area { column, x, y, width, height: rows }, back, cell))
                }
            }
        };
        let bands = self.columns.len().div_ceil(self.per_band());
        Picture {
            labels,
            folded: None,
            width: WIDTH,
            height: top + band_height * float(bands),
            body: html! {
                @if let Some((_, legend)) = &self.legend { (legend) }
                @for index in 0..bands { (band(index)) }
            },
        }
    }

    fn column(
        &self,
        area: &Area,
        back: &dyn Fn(&Area) -> Markup,
        cell: &dyn Fn(&Area, usize) -> Markup,
    ) -> Markup {
        let heading: Vec<&str> = self.columns[area.column].lines().collect();
        let lift = |index: usize| 8.0 + 14.0 * float(heading.len() - 1 - index);
        html! {
            @for (index, line) in heading.iter().enumerate() {
                (text(area.x, area.y - lift(index), "head", line))
            }
            (back(area))
            @for row in 0..self.rows.len() {
                @let y = area.y + self.row_height * float(row);
                (cell(&Area { y, height: self.row_height, ..*area }, row))
            }
        }
    }

    fn names(&self, y: f64) -> Markup {
        let middle = |row: usize| y + self.row_height * (float(row) + 0.5) + 4.0;
        html! {
            @for (index, row) in self.rows.iter().enumerate() {
                @let class = if row.is_base { "name end base" } else { "name end" };
                (text(self.label_width() - 12.0, middle(index), class, &row.label))
            }
        }
    }

    /// Returns the room that names need, within reason; none for rows without a name.
    fn label_width(&self) -> f64 {
        // The base is set in bold.
        let wide =
            |row: &Row| float(row.label.chars().count()) * if row.is_base { 7.7 } else { 6.7 };
        let longest = self.rows.iter().map(wide).fold(0.0, f64::max);
        if longest == 0.0 {
            return 0.0;
        }
        (longest + 20.0).clamp(80.0, 260.0)
    }

    /// Returns the columns of a band: as many in each as possible, evenly shared.
    fn per_band(&self) -> usize {
        let bands = self.columns.len().div_ceil(COLUMNS).max(1);
        self.columns.len().div_ceil(bands).max(1)
    }
}
