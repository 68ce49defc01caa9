//! Reads application files: tables, procedures and steps of SQL workloads.
//!
//! It parses SQL only for its placeholders: values to draw, and names.
//!
//! Invariants: every field of a file is used or rejected; in the result all names are resolved and
//! all expressions evaluated.
//!
//! To add a kind of value: its fields in `value::KINDS`, and its case in `Names::draw` or
//! `Names::derived`.

mod conditions;
mod expression;
mod flow;
mod layout;
mod names;
mod place;
mod policy;
mod procedure;
mod reach;
mod read;
mod session;
mod statement;
mod step;
mod table;
pub mod testing;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod value;

pub use expression::Setup;
pub use names::ApplicationFiles;
pub use place::StatementPlaces;
pub use read::{Described, ROWS_DESCRIBED, describe, find, read, step_infos};
