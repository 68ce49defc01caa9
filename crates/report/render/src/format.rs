//! Output formats and text style.

use std::str::FromStr;

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

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Text, Self::Markdown, Self::Csv, Self::Tsv, Self::Json];

    /// Returns the format's name as typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
        }
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| format!("`{text}` is not a format: write one of {names}"))
    }
}

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
