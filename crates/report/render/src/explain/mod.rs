//! An explanation in words: time account, moved costs, bounds, what is untested.
//!
//! `analysis::explain` decides which claims are allowed; this module only words them.
//!
//! To add a format, add it to `render`; a sentence, to `sentence`.

mod account;
mod chosen;
mod label;
mod render;
mod sentence;
mod untested;

pub(crate) use chosen::chosen;
pub(crate) use render::Block;
pub use render::render_explanations;
