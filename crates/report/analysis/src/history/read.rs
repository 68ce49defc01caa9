//! Histories from files.

use super::problem::HistoryError;
use super::series::History;
use super::table::Table;
use super::text::decode;
use super::{csv_rows, json_rows};

/// Most values of a file: twenty metrics of every day of fourteen years.
///
/// Our choice: changes in so many take a few seconds to find.
const VALUES_MAX: usize = 100_000;

/// Reads histories from a file: CSV, or JSON, which begins with a bracket or a brace.
///
/// # Errors
/// When the file is neither or has too many values, a value is no number, or the rows are not
/// oldest first.
pub fn read_file(bytes: &[u8]) -> Result<Vec<History>, HistoryError> {
    let text = decode(bytes)?;
    let is_separator = |byte: &&u8| matches!(byte, b',' | b';' | b'\t' | b'\n');
    if text.as_bytes().iter().filter(is_separator).count() > VALUES_MAX {
        let reason =
            format!("the file has more than {VALUES_MAX} values: choose fewer points or columns");
        return Err(HistoryError::Format(reason));
    }
    let is_json = text.trim_start().starts_with(['[', '{']);
    let table = if is_json { json_rows::rows(&text) } else { csv_rows::rows(&text) };
    table.and_then(Table::histories)
}
