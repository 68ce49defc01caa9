//! One step of one run, second by second: series, activities, stalls.
//!
//! A stall is shown with what ran at that moment, and how many of all seconds had that too: an
//! association, never a cause.
//!
//! To add a series, add its line to `series.rs`; an activity, to `ran.rs`.

mod activity;
mod build;
mod line;
mod ran;
mod second;
mod series;
mod stall;

pub use activity::Activity;
pub use build::timeline;
pub use line::Timeline;
pub use second::{MeasuredStep, counted_seconds};
pub use series::TimeSeries;
pub use stall::TimelineStall;

#[cfg(test)]
mod tests;
