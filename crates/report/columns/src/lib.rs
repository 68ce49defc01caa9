//! Columns of the archive: records as rows of Parquet tables.
//!
//! A part of the set has one file for each [`Table`]: experiments, steps of runs, and intervals.
//! Records become rows here, and rows become bytes. The crate opens no file: the command line reads
//! the records from the archive, and gives open files of the set next to them.
//!
//! Invariants: an absent value is null, never 0; equal records give equal bytes; a table that
//! another version wrote is an error. To add a column: its line in `fields`.

mod cells;
mod column;
mod error;
mod fields;
mod read;
mod rows;
mod schema;
mod write;

pub use column::{Column, ColumnKind};
pub use error::ColumnsError;
pub use fields::ExperimentFacts;
pub use read::StoredTable;
pub use rows::RunRows;
pub use schema::Table;
pub use write::PartWriter;
