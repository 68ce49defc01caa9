//! Marks of one value: shapes that differ without colour.

use maud::{Markup, html};
use model::validity::Outcome;

use super::palette::{ALARM, INK};
use super::picture::{px, text};

/// A shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Disc,
    Diamond,
    Triangle,
    Ring,
    Bar,
    Cross,
    HollowDiamond,
    HollowSquare,
}

impl Mark {
    /// Returns the shape of a probe's outcome.
    pub(crate) const fn of(outcome: Option<Outcome>) -> Self {
        match outcome {
            None | Some(Outcome::Passed) => Self::Disc,
            Some(Outcome::Failed) => Self::Cross,
            Some(Outcome::Undecided) => Self::HollowDiamond,
            Some(Outcome::Invalid) => Self::HollowSquare,
        }
    }

    /// Draws the shape around a point; `about` is its tooltip.
    pub(crate) fn draw(self, (x, y): (f64, f64), colour: &str, about: Option<&str>) -> Markup {
        let at = format!("M{},{}", px(x), px(y));
        let title = html! { @if let Some(about) = about { title { (about) } } };
        let solid = |d: String| html! { path d=(d) fill=(colour) { (title) } };
        let hollow = |d: String| {
            html! { path d=(d) fill="#fff" stroke=(colour) stroke-width="1.6" { (title) } }
        };
        match self {
            Self::Disc => html! {
                circle cx=(px(x)) cy=(px(y)) r="5" fill=(colour) { (title) }
            },
            Self::Diamond => solid(format!("{at}m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z")),
            Self::Triangle => solid(format!("{at}m0,-5l5,9h-10z")),
            Self::Ring => html! {
                circle cx=(px(x)) cy=(px(y)) r="4" fill="#fff" stroke=(colour) stroke-width="2"
                    { (title) }
            },
            Self::Bar => html! {
                rect x=(px(x - 1.5)) y=(px(y - 7.0)) width="3" height="14" fill=(colour)
                    { (title) }
            },
            Self::Cross => html! {
                path d=(format!("{at}m-4,-4l8,8m0,-8l-8,8")) stroke=(ALARM) stroke-width="2"
                    fill="none" { (title) }
            },
            Self::HollowDiamond => hollow(format!("{at}m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z")),
            Self::HollowSquare => hollow(format!("{at}m-4,-4h8v8h-8z")),
        }
    }
}

/// Returns a legend of shapes that begins at `x`: each with its name, `apart` from the next.
pub(crate) fn legend(marks: &[(Mark, &str)], x: f64, apart: f64) -> Markup {
    let place = |index: usize| x + apart * model::float(index);
    html! {
        @for (index, (mark, name)) in marks.iter().enumerate() {
            (mark.draw((place(index), 8.0), INK, None))
            (text(place(index) + 11.0, 12.0, "", name))
        }
    }
}
