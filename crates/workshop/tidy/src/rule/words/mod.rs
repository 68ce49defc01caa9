//! Names and prose use the words of the field.
//!
//! The words and their exceptions are in `words.toml`.

mod check;
mod list;
mod scan;

pub(crate) use check::check;
