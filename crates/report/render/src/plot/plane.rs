//! A panel with two axes, the upright one linear or logarithmic.

use maud::{Markup, html};
use model::Unit;

use super::axis::{Linear, Log};
use super::matrix::Area;
use super::picture::{line, px, text};
use crate::figure::figure;

/// Room for the numbers at the left of a panel.
pub(crate) const LEFT: f64 = 46.0;
/// Room for the numbers and the name of the axis below a panel.
pub(crate) const BELOW: f64 = 34.0;
/// Most marks of an axis.
const TICKS: f64 = 5.0;
/// Least distance between neighbouring labels.
const APART: f64 = 11.0;

/// The axis that goes up.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Up {
    FromZero(Linear),
    Decades(Log),
}

/// Where a panel lies, and how values become places in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) across: Linear,
    pub(crate) up: Up,
}

impl Plane {
    /// Returns the plane in `area`, `above` below its top.
    pub(crate) fn within(area: &Area, above: f64, across: Linear, up: Up) -> Self {
        Self {
            left: area.x + LEFT,
            right: area.x + area.width,
            top: area.y + above,
            bottom: area.y + area.height - BELOW,
            across,
            up,
        }
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

    /// Draws a value across with its interval, `low` to `high`.
    pub(crate) fn found(&self, low: f64, value: f64, high: f64) -> Markup {
        let (low, x, high) = (self.x(low), self.x(value), self.x(high));
        html! {
            rect x=(px(low)) y=(px(self.top)) width=(px(high - low))
                height=(px(self.bottom - self.top)) class="found" {}
            (line((x, self.top), (x, self.bottom), "mark"))
        }
    }

    /// Returns grid, numbers and the name of the axis across.
    pub(crate) fn axes(&self, units: (Unit, Unit), name: &str) -> Markup {
        let marks: Vec<f64> = match self.up {
            Up::FromZero(axis) => ticks(axis.max()),
            Up::Decades(axis) => axis.decades().collect(),
        };
        let of_x = ticks(self.across.max());
        html! {
            @for value in marks {
                @let y = self.y(value);
                (line((self.left, y), (self.right, y), "grid"))
                (text(self.left - 5.0, y + 3.5, "axis end", &round(units.1, value)))
            }
            (line((self.left, self.bottom), (self.right, self.bottom), "rule"))
            @for value in of_x {
                @let x = self.x(value);
                (line((x, self.bottom), (x, self.bottom + 3.0), "rule"))
                (text(x, self.bottom + 13.0, "axis mid", &round(units.0, value)))
            }
            (text(self.right, self.bottom + 26.0, "axis end", name))
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
    let step = step * decade;
    (0_u32..)
        .map(|index| f64::from(index) * step)
        .take_while(|value| *value <= max * (1.0 + 1e-9))
        .collect()
}

/// Returns a round value without empty decimals: `10 us` with the Greek letter.
pub(crate) fn round(unit: Unit, value: f64) -> String {
    let written = figure(unit, value);
    let (number, suffix) = written.split_once(' ').unwrap_or((&written, ""));
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    if suffix.is_empty() { number.to_owned() } else { format!("{number} {suffix}") }
}

/// Returns heights moved apart so that labels at them do not touch, in the order given.
pub(crate) fn apart(heights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|a, b| heights[*b].total_cmp(&heights[*a]));
    let mut moved = heights.to_vec();
    let mut last = f64::INFINITY;
    for index in order {
        moved[index] = heights[index].min(last - APART);
        last = moved[index];
    }
    moved
}

/// How a line is drawn; the same for the same percentile in every picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    const fn class(self) -> &'static str {
        match self {
            Self::Solid => "solid",
            Self::Dashed => "dashed",
            Self::Dotted => "dotted",
        }
    }
}

/// Returns a line through places; a lone place is a dot.
pub(crate) fn path(places: &[(f64, f64)], stroke: Stroke, colour: &str) -> Markup {
    let [(x, y)] = places else { return polyline(places, stroke.class(), Some(colour)) };
    html! { circle cx=(px(*x)) cy=(px(*y)) r="1.5" fill=(colour) {} }
}

/// Returns a line through places; nothing without any.
pub(crate) fn polyline(places: &[(f64, f64)], class: &str, colour: Option<&str>) -> Markup {
    let places: Vec<String> =
        places.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
    html! {
        @if !places.is_empty() {
            polyline points=(places.join(" ")) class=(class) stroke=[colour] {}
        }
    }
}

/// Returns a legend's entry: a piece of the line and its name.
pub(crate) fn sample(x: f64, stroke: Stroke, colour: &str, name: &str) -> Markup {
    html! {
        (path(&[(x, 8.0), (x + 24.0, 8.0)], stroke, colour))
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
    }

    proptest! {
        #[test]
        fn labels_never_touch(heights in prop::collection::vec(0.0..200.0_f64, 1..6)) {
            let mut moved = apart(&heights);
            moved.sort_by(f64::total_cmp);
            for pair in moved.windows(2) {
                prop_assert!(pair[1] - pair[0] >= APART - 1e-9);
            }
        }

        #[test]
        fn there_are_few_marks_and_the_last_is_within(max in 1e-3..1e9_f64) {
            let marks = ticks(max);
            prop_assert!((2..=6).contains(&marks.len()), "{:?}", marks);
            prop_assert!(marks.last().is_some_and(|last| *last <= max * 1.000_001));
        }
    }
}
