//! Histories: one metric over many experiments, and its changes.
//!
//! A history comes from the archive ([`gather`]) or from elsewhere ([`read_file`]);
//! [`study`] finds the changes in each, classifies them, and groups simultaneous ones. Statistics
//! alone decide whether there is a change; a margin decides whether it matters.

mod csv_rows;
mod direction;
mod gather;
mod json_rows;
mod means;
mod order;
mod problem;
mod rank;
mod read;
mod series;
mod setup;
mod study;
mod table;
mod text;
mod time;

pub use direction::Directions;
pub use gather::{Gathered, HistoryQuery, HostChange, Past, gather};
pub use means::{StepMeans, StepValues, means_of, step_means, step_values};
pub use problem::HistoryError;
pub use read::read_file;
pub use series::{History, Origin, Trend};
pub use study::{ClassifiedChange, Event, MIN_VALUES, Studied, Study, StudyOptions, study};
