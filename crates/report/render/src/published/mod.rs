//! Published findings next to ours, with the outcome of each.
//!
//! Outcomes come from `analysis::published`. Every format shows the same `Publication`s.

mod document;
mod outcome;
mod publication;
mod reproduced;
mod row;
mod sentence;
mod unmeasured;

pub use document::PublishedFindings;
pub(crate) use document::{TITLE, document};
pub(crate) use publication::{Publication, publications};
pub use reproduced::render_reproduced;
pub use row::FINDINGS;
pub use unmeasured::unmeasured;
