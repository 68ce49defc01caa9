//! Parsing of rates: text grammar and rate files.

mod file;
mod grammar;

pub(crate) use file::parse as parse_file;
pub(crate) use grammar::{WrittenRate, parse};
