//! Output formats and text style.

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Aligned text for a terminal.
    #[default]
    Text,
    /// Markdown tables.
    Markdown,
    /// One line per metric, for spreadsheets and scripts.
    Csv,
    /// The same, separated by tabs.
    Tsv,
    /// Everything, for programs.
    Json,
}

model::names!(Format, "a format":
    Text "text", Markdown "markdown", Csv "csv", Tsv "tsv", Json "json");

/// Width, colour and extent of text output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colour codes are written.
    pub has_colour: bool,
    /// Whether the cost tables follow the throughput tables.
    pub has_costs: bool,
}

impl Default for Style {
    /// Returns the style of a file or pipe: 120 columns, no colour.
    fn default() -> Self {
        Self { width: 120, has_colour: false, has_costs: false }
    }
}
