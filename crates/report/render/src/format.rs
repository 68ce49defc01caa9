//! Output formats.
//!
//! To add one: its file below `document/` with a function `write`, its `mod` line there, and its
//! line in the table below.

use std::str::FromStr;

use crate::document::{Content, csv, json, markdown, text};
pub use crate::style::Style;

/// Declares the formats, one line each: meaning, variant, name as typed, and writer.
macro_rules! formats {
    ($($meaning:literal $variant:ident $name:literal $write:path;)*) => {
        /// An output format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Format {
            $(#[doc = $meaning] $variant,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the format's name as typed.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns content in this format.
            pub(crate) fn write(self, content: &Content<'_>) -> String {
                match self {
                    $(Self::$variant => $write(content),)*
                }
            }
        }
    };
}

formats! {
    "Aligned text for a terminal." Text "text" text::write;
    "Markdown tables." Markdown "markdown" markdown::write;
    "One line per metric, for spreadsheets and scripts." Csv "csv" csv::commas;
    "The same, separated by tabs." Tsv "tsv" csv::tabs;
    "Everything, for programs." Json "json" json::write;
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| format!("`{text}` is not a format: write one of {names}"))
    }
}
