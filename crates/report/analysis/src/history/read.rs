//! Histories from files.

use super::problem::HistoryError;
use super::series::History;
use super::table::Table;
use super::text::decode;
use super::{csv_rows, json_rows};

/// Reads histories from a file: CSV, or JSON, which begins with a bracket or a brace.
///
/// # Errors
/// When the file is neither, a value is no number, or the rows are not oldest first.
pub fn read_file(bytes: &[u8]) -> Result<Vec<History>, HistoryError> {
    let text = decode(bytes)?;
    let is_json = text.trim_start().starts_with(['[', '{']);
    let table = if is_json { json_rows::rows(&text) } else { csv_rows::rows(&text) };
    table.and_then(Table::histories)
}
