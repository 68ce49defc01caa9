//! Panels with two axes, the upright one linear or logarithmic: one per variant and step.

use maud::{Markup, html};
use model::Unit;

use super::axis::{Linear, Log};
use super::matrix::{Area, Matrix, UNNAMED};
use super::picture::{Labels, Picture, line, px, text};
use super::subject::Subject;
use crate::figure::figure;

/// Height of a panel with its axis.
const ROW: f64 = 214.0;
/// Room above the axis for points that have no value.
const ABOVE: f64 = 26.0;
/// Room for the numbers at the left of a panel.
const LEFT: f64 = 46.0;
/// Room for the numbers and the name of the axis below a panel.
const BELOW: f64 = 34.0;
/// Most marks of an axis.
const TICKS: f64 = 5.0;

/// The axis that goes up.
#[derive(Debug, Clone, Copy)]
enum Up {
    FromZero(Linear),
    Decades(Log),
}

/// One variant's panel: its curve, if it has one, and the ends of the axes.
pub(crate) struct Panel<'a, C> {
    heading: String,
    colour: &'static str,
    curve: Option<&'a C>,
    ends: Ends,
}

/// The ends of a panel's axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// Largest value across.
    pub(crate) across: f64,
    /// Lowest and highest value up; the axis is logarithmic unless the lowest is 0.
    pub(crate) up: (f64, f64),
}

/// Units of the axes, and the name of the axis across.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axes {
    pub(crate) across: Unit,
    pub(crate) up: Unit,
    pub(crate) name: &'static str,
}

impl<'a, C> Panel<'a, C> {
    /// Returns a panel that is of no variant.
    pub(crate) fn lone(heading: String, curve: &'a C, ends: Ends) -> Self {
        Self { heading, colour: super::palette::INK, curve: Some(curve), ends }
    }
}

/// Returns a panel per variant of one step; `curve` finds that of a variant.
pub(crate) fn panels<'a, C>(
    subject: &Subject<'_>,
    heading: &str,
    ends: Ends,
    curve: impl Fn(&str) -> Option<&'a C>,
) -> Vec<Panel<'a, C>> {
    let variants = subject.compared.comparison.variants.iter().zip(&subject.rows);
    let panel = |(variant, row): (&analysis::VariantRuns, &super::matrix::Row)| Panel {
        heading: format!("{}\n{heading}", row.label),
        colour: row.colour,
        curve: curve(&variant.name),
        ends,
    };
    variants.map(panel).collect()
}

/// Draws the panels: their axes, then `draw` for each curve.
pub(crate) fn planes<C>(
    labels: Labels,
    legend: Markup,
    panels: &[Panel<'_, C>],
    axes: Axes,
    draw: &dyn Fn(&Plane, &C, &str) -> Markup,
) -> Picture {
    let headings: Vec<String> = panels.iter().map(|panel| panel.heading.clone()).collect();
    let matrix = Matrix {
        rows: &UNNAMED,
        columns: &headings,
        row_height: ROW,
        foot: 14.0,
        legend: Some((30.0, legend)),
    };
    let cell = |area: &Area, _: usize| {
        let panel = &panels[area.column];
        let known = panel.curve.zip(Plane::within(area, panel.ends));
        let Some((curve, plane)) = known else {
            return text(area.x + area.width, area.y + ROW / 2.0, "none end", "not known");
        };
        html! { (plane.axes(axes)) (draw(&plane, curve, panel.colour)) }
    };
    matrix.picture(labels, &|_| html! {}, &cell)
}

/// Where a panel lies, and how values become places in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    across: Linear,
    up: Up,
}

impl Plane {
    fn within(area: &Area, ends: Ends) -> Option<Self> {
        let (low, high) = ends.up;
        let height = area.height - ABOVE - BELOW;
        let up = match low > 0.0 {
            true => Up::Decades(Log::holding([low, high], height)?),
            false => Up::FromZero(Linear::holding([high], height)),
        };
        Some(Self {
            left: area.x + LEFT,
            right: area.x + area.width,
            top: area.y + ABOVE,
            bottom: area.y + area.height - BELOW,
            across: Linear::holding([ends.across], area.width - LEFT),
            up,
        })
    }

    pub(crate) fn x(&self, value: f64) -> f64 {
        self.left + self.across.at(value)
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        self.bottom
            - match self.up {
                Up::FromZero(axis) => axis.at(value),
                Up::Decades(axis) => axis.at(value),
            }
    }

    pub(crate) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    /// Draws a value across with its interval and label.
    pub(crate) fn found(&self, [low, value, high]: [f64; 3], label: &str) -> Markup {
        let (low, x, high) = (self.x(low), self.x(value), self.x(high));
        html! {
            rect x=(px(low)) y=(px(self.top)) width=(px(high - low))
                height=(px(self.bottom - self.top)) class="found" {}
            (line((x, self.top), (x, self.bottom), "mark"))
            (text(x - 5.0, self.bottom - 6.0, "base end halo", label))
        }
    }

    /// Returns grid, numbers and the name of the axis across.
    fn axes(&self, axes: Axes) -> Markup {
        let marks: Vec<f64> = match self.up {
            Up::FromZero(axis) => ticks(axis.max()),
            Up::Decades(axis) => axis.decades().collect(),
        };
        html! {
            @for value in marks {
                @let y = self.y(value);
                (line((self.left, y), (self.right, y), "grid"))
                (text(self.left - 5.0, y + 3.5, "axis end", &round(axes.up, value)))
            }
            (line((self.left, self.bottom), (self.right, self.bottom), "rule"))
            @for value in ticks(self.across.max()) {
                @let x = self.x(value);
                (line((x, self.bottom), (x, self.bottom + 3.0), "rule"))
                (text(x, self.bottom + 13.0, "axis mid", &round(axes.across, value)))
            }
            (text(self.right, self.bottom + 26.0, "axis end", axes.name))
        }
    }
}

/// Returns round marks from zero up to `max`.
pub(crate) fn ticks(max: f64) -> Vec<f64> {
    if !(max > 0.0 && max.is_finite()) {
        return vec![0.0];
    }
    let least = max / TICKS;
    let decade = 10.0_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|by| by * decade >= least).unwrap_or(10.0);
    let marks = (0_u32..).map(|index| f64::from(index) * step * decade);
    marks.take_while(|value| *value <= max * (1.0 + 1e-9)).collect()
}

/// Returns a round value without empty decimals: `10 us` with the Greek letter.
pub(crate) fn round(unit: Unit, value: f64) -> String {
    let written = figure(unit, value);
    let (number, suffix) = written.split_once(' ').unwrap_or((&written, ""));
    let (number, exponent) = number.split_at(number.find('e').unwrap_or(number.len()));
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number}{exponent} {suffix}").trim_end().to_owned()
}

/// Returns a line through places; a lone place is a dot. `class` is `solid`, `dashed`, `dotted`.
pub(crate) fn path(places: &[(f64, f64)], class: &str, colour: &str) -> Markup {
    if let [(x, y)] = places {
        return html! { circle cx=(px(*x)) cy=(px(*y)) r="1.5" fill=(colour) {} };
    }
    let places: Vec<String> =
        places.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
    html! {
        @if !places.is_empty() {
            polyline points=(places.join(" ")) class=(class) stroke=(colour) {}
        }
    }
}

/// Returns a legend's entry: a piece of the line and its name.
pub(crate) fn sample(x: f64, class: &str, colour: &str, name: &str) -> Markup {
    html! {
        (path(&[(x, 8.0), (x + 24.0, 8.0)], class, colour))
        (text(x + 30.0, 12.0, "", name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_round_and_start_at_zero() {
        assert_eq!(ticks(8.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ticks(232_000.0), [0.0, 50e3, 100e3, 150e3, 200e3]);
        assert_eq!(ticks(0.0), [0.0]);
    }

    #[test]
    fn round_values_are_written_without_empty_decimals() {
        assert_eq!(round(Unit::OpsPerSecond, 50_000.0), "50 k");
        assert_eq!(round(Unit::Nanos, 1e6), "1 ms");
        assert_eq!(round(Unit::Count, 2.0), "2");
        assert_eq!(round(Unit::Count, 100.0), "100");
        assert_eq!(round(Unit::Count, 1e-10), "1e-10");
    }

    proptest! {
        #[test]
        fn there_are_few_marks_and_the_last_is_within(max in 1e-3..1e9_f64) {
            let marks = ticks(max);
            prop_assert!((2..=6).contains(&marks.len()), "{:?}", marks);
            prop_assert!(marks.last().is_some_and(|last| *last <= max * 1.000_001));
        }
    }
}
