//! The comparison in every format.
//!
//! Closed loops, open loops, searches, sweeps, then costs; the HTML page has its own folder. Nothing
//! is computed here: every number comes from the `Comparison`.
//!
//! To add a format, add a file here, a variant to [`crate::Format`] and its case in
//! [`render_comparison`].

mod answer;
mod buckets;
mod cpu;
mod csv;
mod insert;
mod json;
mod markdown;
mod metric;
mod open;
mod part;
mod render;
mod search;
mod sweep;
mod tables;
mod text;

pub use answer::render_answer;
pub(crate) use buckets::part as bucket_tables;
pub use csv::CSV_COLUMNS;
pub(crate) use csv::{field, snake};
pub(crate) use insert::{BRACKETS, MISSED, has_brackets, is_missed};
pub use metric::render_metric;
pub(crate) use part::{Part, parts};
pub use render::render_comparison;
pub(crate) use tables::{OF_RUNS, absolute, relative};
pub(crate) use text::fill;
