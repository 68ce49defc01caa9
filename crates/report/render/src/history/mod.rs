//! Histories: changes of metrics over many experiments.
//!
//! To add a format, add its case to [`render_history`].

mod csv;
mod json;
mod render;
mod sentence;

pub use render::{HistoryInput, plot_history, render_history};
pub(crate) use sentence::arrow;
