//! Histories: changes of metrics over many experiments.
//!

mod csv;
mod json;
mod render;
mod sentence;

pub use render::{HistoryInput, plot_history};
pub(crate) use sentence::arrow;
