//! A report: one subject in every format.
//!
//! To give a subject every format, implement [`Report`]; no other place matches over formats.

use serde::Serialize;

use crate::document::{Content, Document, Rows, json};
use crate::format::{Format, Style};

/// A subject that people read, and programs.
pub trait Report {
    /// Returns what people read, in Markdown or in text of this style.
    fn document(&self, format: Format, style: Style) -> Document;

    /// Returns a header and rows for spreadsheets; `None` where a verb offers neither CSV nor TSV.
    fn rows(&self) -> Option<Rows> {
        None
    }

    /// Returns everything for programs: its numbers are those of the document.
    fn data(&self) -> impl Serialize;

    /// Returns the report in `format`; `style` matters to text. Without rows, text takes the place
    /// of CSV and TSV.
    fn render(&self, format: Format, style: Style) -> String {
        format.write(&Content {
            document: &|| self.document(format, style),
            rows: &|| self.rows(),
            data: &|| json::json(&self.data()),
            style,
        })
    }
}
