//! The option `--format`, with the formats of a verb.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use render::Format;

/// Every format.
pub(crate) const ALL: &[Format] = &Format::ALL;
/// Formats of reports without rows for spreadsheets.
pub(crate) const DOCUMENT: &[Format] = &[Format::Text, Format::Markdown, Format::Json];

/// Returns a parser of these formats; help, errors and the completions of shells name them.
pub(crate) fn formats(known: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let names = known.iter().map(|format| format.name());
    PossibleValuesParser::new(names).map(|name| name.parse().expect("it is one of them"))
}

/// The option of verbs that print lines, or data.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct TextOrJson {
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    #[arg(value_parser = formats(&[Format::Text, Format::Json]))]
    pub(crate) format: Format,
}
