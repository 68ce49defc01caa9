//! What can be wrong with a history.

/// Why a history cannot be read or judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The file has no header or no rows.
    #[error(
        "the file has no {what}: the first line names the columns, the first column is a time, a \
         commit or an index, every further column one metric"
    )]
    Empty {
        /// What is missing.
        what: &'static str,
    },
    /// The text is not what its format says.
    #[error("{0}")]
    Format(String),
    /// Two columns of one name.
    #[error("two columns are named `{name}`: each metric has a name of its own")]
    Twice {
        /// The name.
        name: String,
    },
    /// A row has more or fewer fields than the header.
    #[error("line {line} has {found} fields, and the header {expected}")]
    Fields {
        /// Line, from 1.
        line: u64,
        /// Its fields.
        found: usize,
        /// Those of the header.
        expected: usize,
    },
    /// A value is no number.
    #[error(
        "{place}: `{text}` in column `{column}` is no finite number: leave the field empty where \
         nothing was measured"
    )]
    NoNumber {
        /// Line or row.
        place: String,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A label is missing.
    #[error("{place} has no label in its first column: give a time, a commit or an index")]
    NoLabel {
        /// Line or row.
        place: String,
    },
    /// The rows are not in the order of their stamps.
    #[error(
        "{place}: {later} stands after {earlier}: sort the rows by their first column, oldest first"
    )]
    Unsorted {
        /// Line or row.
        place: String,
        /// The stamp there.
        later: String,
        /// The stamp before it.
        earlier: String,
    },
    /// No such metric or column.
    #[error("no metric is named `{name}`")]
    UnknownMetric {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Said to be better both ways.
    #[error("`{name}` is said to be better both ways: name it once")]
    BothWays {
        /// The name.
        name: String,
    },
    /// A regression is asked for, and nobody knows which way is worse.
    #[error(
        "which way is `{name}` better? a regression cannot be told without: add \
         --higher-is-better {name} or --lower-is-better {name}, or choose metrics with --metric"
    )]
    NoDirection {
        /// The metric.
        name: String,
    },
    /// Too few values to tell a change.
    #[error(
        "{name} has {found}: a change needs at least 4 values, two before it and two after; 25 \
         and more tell changes from the noise that runs share"
    )]
    TooFew {
        /// The series.
        name: String,
        /// What it has, in words.
        found: String,
    },
    /// Nothing in the archive is of this engine, variant, step or metric.
    #[error("no complete run in the archive has {what}")]
    Nothing {
        /// What was asked for.
        what: String,
        /// What there is instead.
        known: Vec<String>,
    },
    /// The point from which on regressions count is none of the history.
    #[error("no point is labelled `{label}`: labels run from {first} to {last}")]
    UnknownLabel {
        /// The label.
        label: String,
        /// The first one.
        first: String,
        /// The last one.
        last: String,
    },
}
