//! Style of text output.

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
