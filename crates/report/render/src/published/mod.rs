//! Published findings next to ours, with the outcome of each.
//!
//! Outcomes come from `analysis::published`. Every format shows the same [`Publication`]s: text and
//! Markdown here, the page's section in `html::published`, the picture in `plot::published`.

mod csv;
mod markdown;
mod outcome;
mod publication;
mod sentence;
mod text;

pub(crate) use csv::{FIELDS, lines};
pub(crate) use markdown::markdown;
pub use outcome::unmeasured;
pub(crate) use outcome::{legend, verdict};
pub(crate) use publication::{Finding, Publication, publications};
pub(crate) use sentence::sentence;
pub use text::render_published;
