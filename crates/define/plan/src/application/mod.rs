//! Applications: what SQL servers are asked, from a file to checked tables, procedures and steps.
//!
//! It knows SQL only as far as its gaps: which words are values to draw, and which are names.
//!
//! Invariants: everything that a file says is used or refused; what is read has no name left to
//! look up and no sum left to do.
//!
//! To add a kind of value: its words in `file::ValueTable`, and its case in `value::draw`.

mod amount;
mod file;
mod gap;
mod info;
mod layout;
mod names;
mod procedure;
mod read;
mod statement;
mod step;
mod table;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use info::step_infos;
pub(crate) use read::{Loaded, read};
