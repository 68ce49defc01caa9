//! The comparison in a requested format.

use super::{csv, json, markdown, text};
use crate::format::{Format, Style};
use crate::input::Compared;

/// Returns the comparison in `format`.
///
/// `style` matters to text; its `has_costs` to Markdown too. CSV and JSON hold every metric.
#[must_use]
pub fn render_comparison(compared: &Compared<'_>, format: Format, style: Style) -> String {
    match format {
        Format::Text => text::render(compared, style),
        Format::Markdown => markdown::render(compared, style.has_costs),
        Format::Csv => csv::render(compared),
        Format::Json => json::render(compared),
    }
}
