//! Histories: one metric over many experiments, and its changes.
//!
//! A history comes from the archive ([`gather`]) or from elsewhere ([`read_csv`], [`read_json`]);
//! [`study`] finds the changes in each, classifies them, and groups simultaneous ones. Statistics
//! alone decide whether there is a change; a margin decides whether it matters.

mod direction;
mod gather;
mod problem;
mod read;
mod series;
mod study;

pub use direction::Directions;
pub use gather::{Gathered, HistoryQuery, HostChange, Past, gather};
pub use problem::HistoryError;
pub use read::{read_csv, read_json};
pub use series::{History, Trend};
pub use study::{ClassifiedChange, Event, Studied, Study, StudyOptions, study};
