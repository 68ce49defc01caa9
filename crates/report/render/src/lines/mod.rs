//! One line per variant for each step, with the columns of a public report.
//!
//! Relative tables come first: each value divided by the base's. To add a report, add its columns
//! in a file here and its name to [`Lines`].
//!
//! Source: [Callaghan 2022-11-29], tables relative to the base case; a value is coloured where it
//! is below 0.95 or above 1.05.

mod choice;
mod data;
mod ibench;
mod iostat;
mod means;
mod render;
mod report;
mod rocksdb;
mod tables;

pub use choice::Lines;
pub use render::LinesOf;
pub(crate) use render::folded_lines;
