//! A document: headings, sentences, tables and pictures, in no format yet.
//!
//! Subjects build [`Document`]s; each format has one file here and writes every [`Part`] once. It
//! escapes there what its reader would obey: no subject does.
//!
//! To add a part, add it to [`Part`] and to each format; a format, add a file and its line in
//! `format.rs`.

pub(crate) mod csv;
mod fill;
mod html;
pub(crate) mod json;
pub(crate) mod markdown;
mod part;
mod rows;
mod table;
pub(crate) mod text;

pub(crate) use fill::fill;
pub(crate) use html::html;
pub(crate) use json::{json, merged};
pub use part::Document;
pub(crate) use part::{Content, Part};
pub use rows::Rows;
pub(crate) use rows::{ratio_fields, snake};
pub(crate) use table::{Cell, Table, Tone, known, shortened};
pub use text::labelled;
