//! Histories: values, fitted levels and changes, a panel each.

use analysis::history::{ClassifiedChange, History, Studied, Trend};
use maud::{Markup, html};
use model::{Unit, float};

use super::palette::{ALARM, INK};
use super::picture::{Labels, Picture, line, px, text};
use super::plane::{path, round, sample, ticks};
use crate::figure::digits;
use crate::history::arrow;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
/// Height of a panel with its heading and the labels below it.
const ROW: f64 = 190.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 34.0;
const LEGEND: f64 = 30.0;
/// Share of the range left free above and below the values.
const MARGIN: f64 = 0.08;
/// Colours of an improvement and of what is neither.
const GOOD: &str = "#0072B2";
const PLAIN: &str = "#777";

/// Draws histories, one below the other.
pub(crate) fn histories(all: &[Studied]) -> Picture {
    let panels = all.iter().enumerate();
    let body = html! {
        (legend())
        @for (index, one) in panels { (Panel::of(one, LEGEND + ROW * float(index)).draw(one)) }
    };
    let caption = "Every value, the level or ramp fitted to them, and where it changed. The \
                   vertical axis does not start at zero.";
    Picture {
        labels: Labels::new("history", "Histories", caption),
        folded: None,
        width: WIDTH,
        height: LEGEND + ROW * float(all.len()),
        body,
    }
}

fn legend() -> Markup {
    html! {
        circle cx="72" cy="8" r="2" fill=(PLAIN) {}
        (text(80.0, 12.0, "", "a value"))
        (sample(140.0, "solid", INK, "level or ramp"))
        (line((262.0, 2.0), (262.0, 14.0), "limit"))
        (text(270.0, 12.0, "", "change: \u{25b2} up, \u{25bc} down"))
        (text(WIDTH - RIGHT, 12.0, "axis end", "the vertical axes do not start at zero"))
    }
}

/// Where a panel lies, and how values become places in it.
struct Panel {
    top: f64,
    bottom: f64,
    last: usize,
    low: f64,
    high: f64,
}

impl Panel {
    fn of(one: &Studied, above: f64) -> Self {
        let known = || one.history.values.iter().flatten().copied();
        let least = known().fold(f64::INFINITY, f64::min);
        let most = known().fold(f64::NEG_INFINITY, f64::max);
        let room = if most > least { (most - least) * MARGIN } else { most.abs().max(1.0) * 0.5 };
        Self {
            top: above + ABOVE,
            bottom: above + ROW - BELOW,
            last: one.history.values.len().saturating_sub(1).max(1),
            low: least - room,
            high: most + room,
        }
    }

    fn x(&self, point: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * float(point) / float(self.last)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * (value - self.low) / (self.high - self.low)
    }

    fn draw(&self, one: &Studied) -> Markup {
        let history = &one.history;
        let values = history.values.iter().enumerate();
        html! {
            (text(LEFT, self.top - 24.0, "head", &history.title()))
            (self.axes(history))
            @for (point, value) in values {
                @if let Some(value) = value {
                    circle cx=(px(self.x(point))) cy=(px(self.y(*value))) r="1.8" fill=(PLAIN) {
                        title { (history.labels[point]) ": " (value) }
                    }
                }
            }
            @for piece in &one.found.pieces {
                @let ends = [(piece.from, piece.first), (piece.to, piece.last)];
                @let ends = ends.map(|(at, value)| (self.x(at), self.y(value)));
                (path(&ends, "solid", INK))
            }
            (self.changes(one))
        }
    }

    /// Returns grid, numbers and the labels of the first and the last point.
    fn axes(&self, history: &History) -> Markup {
        let unit = history.unit.unwrap_or(Unit::Count);
        let step = ticks(self.high - self.low).get(1).copied().unwrap_or(1.0);
        let first = (self.low / step).ceil();
        let marks = (0_u32..12).map(|index| (first + f64::from(index)) * step);
        let marks: Vec<f64> = marks.take_while(|mark| *mark <= self.high).collect();
        let labels = &history.labels;
        html! {
            @for mark in marks {
                @let y = self.y(mark);
                (line((LEFT, y), (WIDTH - RIGHT, y), "grid"))
                (text(LEFT - 6.0, y + 3.5, "axis end", &round(unit, mark)))
            }
            (line((LEFT, self.bottom), (WIDTH - RIGHT, self.bottom), "rule"))
            (text(LEFT, self.bottom + 14.0, "axis", &labels[0]))
            (text(WIDTH - RIGHT, self.bottom + 14.0, "axis end", &labels[labels.len() - 1]))
        }
    }

    fn changes(&self, one: &Studied) -> Markup {
        let change = |classified: &ClassifiedChange| {
            let change = &classified.change;
            let colour = match classified.trend {
                Trend::Better => GOOD,
                Trend::Worse => ALARM,
                Trend::Neither => INK,
            };
            let (x, arrow) = (self.x(change.index), arrow(change.after > change.before));
            let effect = change.effect.map(|effect| format!(" {} %", digits(100.0 * effect)));
            html! {
                line x1=(px(x)) x2=(px(x)) y1=(px(self.top)) y2=(px(self.bottom))
                    stroke=(colour) stroke-width="1.4" stroke-dasharray="7 4" {
                    title { (one.history.labels[change.index]) }
                }
                (text(x, self.top - 3.0, "mid halo", &format!("{arrow}{}", effect.unwrap_or_default())))
            }
        };
        html! { @for classified in &one.changes { (change(classified)) } }
    }
}
