//! Chooses the format.

use analysis::Comparison;

use super::{csv, json, markdown, text};
use crate::format::{Format, Style};
use crate::meta::Meta;

/// Returns the comparison in `format`.
///
/// `style` matters to text; its `has_costs` to Markdown too. CSV and JSON hold every metric.
#[must_use]
pub fn render_comparison(
    comparison: &Comparison,
    meta: &Meta,
    format: Format,
    style: Style,
) -> String {
    match format {
        Format::Text => text::render(comparison, meta, style),
        Format::Markdown => markdown::render(comparison, meta, style.has_costs),
        Format::Csv => csv::render(comparison),
        Format::Json => json::render(comparison, meta),
    }
}
