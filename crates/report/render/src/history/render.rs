//! Histories in a requested format.

use super::input::HistoryInput;
use super::{csv, json, markdown, text};
use crate::format::{Format, Style};
use crate::plot;

/// Returns the changes in `format`; `style` matters to text.
#[must_use]
pub fn render_history(input: &HistoryInput<'_>, format: Format, style: Style) -> String {
    match format {
        Format::Text => text::render(input, style),
        Format::Markdown => markdown::render(input),
        Format::Csv => csv::render(input),
        Format::Json => json::render(input),
    }
}

/// Returns the picture of the histories, as an SVG file.
#[must_use]
pub fn plot_history(input: &HistoryInput<'_>) -> String {
    plot::histories(input.study).file()
}
