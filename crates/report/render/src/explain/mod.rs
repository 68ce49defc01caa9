//! An explanation in words: time account, moved costs, bounds, what is untested.
//!
//! `analysis::explain` decides which claims are allowed; this module only words them.
//!
//! To add a sentence, add it to `sentence`.

mod account;
mod chosen;
mod render;
mod sentence;

pub(crate) use chosen::chosen;
pub(crate) use render::Block;
pub use render::Explained;
