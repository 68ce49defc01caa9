//! Histories: one metric over many experiments, and what changed in it.
//!
//! A history comes from the archive ([`gather`]) or from elsewhere ([`read_csv`], [`read_json`]);
//! [`study`] finds what changed in each, which of it matters, and what changed together. That a
//! change is there is decided by statistics alone; whether it matters, by a margin.

mod direction;
mod gather;
mod problem;
mod read;
mod series;
mod stamp;
mod study;

pub use direction::Directions;
pub use gather::{Gathered, HistoryQuery, Past, gather};
pub use problem::HistoryError;
pub use read::{read_csv, read_json};
pub use series::{History, Trend};
pub use study::{ClassifiedChange, Event, Studied, Study, StudyOptions, study};
