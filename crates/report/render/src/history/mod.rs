//! Histories: changes of metrics over many experiments.
//!
//! To add a format, add its case to [`render_history`].

mod csv;
mod input;
mod json;
mod render;
mod sentence;
mod sparkline;

pub use input::HistoryInput;
pub use render::{plot_history, render_history};
