//! What others published beside what was found here: which findings reproduce, and why others may
//! not.
//!
//! Not a judge: whether a finding reproduces is told by `analysis::published`. Every format shows
//! the same `told`: text and Markdown here, the page's section in `html::published`, the picture
//! in `plot::published`.

mod csv;
mod markdown;
mod reasons;
mod sentence;
mod text;
mod told;
mod words;

pub(crate) use csv::{FIELDS, lines};
pub(crate) use markdown::markdown;
pub(crate) use reasons::whole;
pub(crate) use sentence::sentence;
pub use text::render_published;
pub(crate) use told::{Finding, Publication, told};
pub use words::unmeasured;
pub(crate) use words::{legend, verdict};
