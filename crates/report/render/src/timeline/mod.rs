//! A step of a run second by second, as text and for programs.

mod data;
mod rows;
mod run;
mod sentence;
mod show;

pub(crate) use rows::full_label;
pub use run::RunTimeline;
pub(crate) use sentence::{associations, stall_phrase};
