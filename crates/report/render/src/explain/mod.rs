//! An explanation in words: where the time is, what moved, what bounds, and what was not tested.
//!
//! Not a judge: what may be said is decided by `analysis::explain`; this module says it, and says
//! no more.
//!
//! To add a format, add it to `render`; a sentence, to `sentence`.

mod account;
mod chosen;
mod render;
mod sentence;
mod test_it;
mod words;

pub(crate) use chosen::{Chosen, chosen};
pub(crate) use render::Block;
pub use render::render_explanations;
