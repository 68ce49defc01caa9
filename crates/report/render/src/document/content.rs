//! What a report has for the formats, made when a format takes it.

use super::part::Document;
use super::rows::Rows;
use crate::style::Style;

/// The content of one report.
pub(crate) struct Content<'a> {
    /// What people read.
    pub(crate) document: &'a dyn Fn() -> Document,
    /// A header and rows for spreadsheets; `None` where text takes their place.
    pub(crate) rows: &'a dyn Fn() -> Option<Rows>,
    /// Everything for programs, as JSON.
    pub(crate) data: &'a dyn Fn() -> String,
    /// Matters to text.
    pub(crate) style: Style,
}
