//! A document: headings, sentences, tables and pictures, in no format yet.
//!
//! Subjects build [`Document`]s; each format has one file here and writes every [`Part`] once. It
//! escapes there what its reader would obey: no subject does.
//!
//! To add a part, add it to [`Part`] and to each format; a format, add a file.

mod csv;
mod fill;
mod html;
mod json;
mod markdown;
mod part;
mod table;
mod text;

pub use csv::Rows;
pub(crate) use csv::{number, snake};
pub(crate) use fill::fill;
pub(crate) use html::html;
pub(crate) use json::json;
pub use part::Document;
pub(crate) use part::Part;
pub(crate) use table::{Cell, Table, Tone, known};
pub use text::labelled;
