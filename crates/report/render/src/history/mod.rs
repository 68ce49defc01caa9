//! Histories: changes of metrics over many experiments.
//!
//! To add a form, add a file with a function of [`HistoryInput`] and its line in
//! [`render_history`].

mod csv;
mod input;
mod json;
mod markdown;
mod render;
mod sentence;
mod sparkline;
mod text;

pub use input::HistoryInput;
pub use render::{plot_history, render_history};
