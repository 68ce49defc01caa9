//! A step of a run second by second, as text and for programs.

mod data;
mod rows;
mod sentence;
mod show;

pub use data::RunTimeline;
pub(crate) use rows::full_label;
pub(crate) use sentence::{associations, stall_phrase};
