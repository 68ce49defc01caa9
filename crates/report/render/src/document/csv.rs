//! Rows of content, separated by commas or tabs.

use super::part::Content;
use super::text;

/// Returns the rows of content, separated by commas.
pub(crate) fn commas(content: &Content<'_>) -> String {
    separated(content, b',')
}

/// Returns the rows of content, separated by tabs.
pub(crate) fn tabs(content: &Content<'_>) -> String {
    separated(content, b'\t')
}

fn separated(content: &Content<'_>, delimiter: u8) -> String {
    (content.rows)().map_or_else(|| text::write(content), |rows| rows.text(delimiter))
}
