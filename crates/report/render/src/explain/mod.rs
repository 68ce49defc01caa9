//! An explanation in words: time account, moved costs, bounds, what is untested.
//!
//! `analysis::explain` decides which claims are allowed; this module only words them.
//!
//! To add a sentence, add it to `sentence`.

mod account;
mod functions;
mod render;
mod sentence;

pub use render::Explained;
pub(crate) use render::in_report;
