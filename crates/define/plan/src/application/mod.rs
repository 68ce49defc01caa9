//! Reads application files: tables, procedures and steps of SQL workloads.
//!
//! It parses SQL only for its placeholders: values to draw, and names.
//!
//! Invariants: every field of a file is used or rejected; in the result all names are resolved and
//! all expressions evaluated.
//!
//! To add a kind of value: its fields in `value::KINDS`, and its case in `Names::draw` or
//! `Names::derived`.

mod check;
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
#[cfg(test)]
mod tests;
mod text;
mod token;
mod value;

pub(crate) use expression::Setup;
pub(crate) use place::StatementPlaces;
pub use read::{Described, describe};
pub(crate) use read::{ROWS_DESCRIBED, find, read, step_infos};
