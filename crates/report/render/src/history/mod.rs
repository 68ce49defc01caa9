//! Histories: changes of metrics over many experiments.

mod data;
mod render;
mod sentence;

pub use render::{HistoryInput, plot_history};
pub(crate) use render::{end, host_change};
pub(crate) use sentence::{answer, arrow, change, drift, percent, remarks};
