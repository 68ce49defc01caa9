//! Rates as written: the grammar of a text, and the lines of a rate file.

mod file;
mod grammar;

pub(crate) use file::parse as parse_file;
pub(crate) use grammar::{WrittenRate, parse};
