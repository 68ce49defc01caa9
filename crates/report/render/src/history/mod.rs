//! Histories: changes of metrics over many experiments.

mod data;
mod render;
mod sentence;

pub use render::{HistoryInput, plot_history};
pub(crate) use sentence::arrow;
