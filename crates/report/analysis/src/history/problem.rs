//! Errors of reading and studying histories.

/// Error of a history.
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
    /// Malformed text.
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
    /// A metric with both directions.
    #[error("`{name}` is given both directions: name it once")]
    BothWays {
        /// The name.
        name: String,
    },
    /// Regressions of a metric without a direction.
    #[error(
        "`{name}` has no better direction, so it has no regressions: add \
         --higher-is-better {name} or --lower-is-better {name}, or choose metrics with --metric"
    )]
    NoDirection {
        /// The metric.
        name: String,
    },
    /// Too few values for a change.
    #[error(
        "{name} has {found}: a change needs at least 4 values, two before it and two after; with \
         25 or more, autocorrelated noise is recognised"
    )]
    TooFew {
        /// The series.
        name: String,
        /// The number of values, in words.
        found: String,
    },
    /// No run in the archive matches the query.
    #[error("no complete run in the archive has {what}")]
    Nothing {
        /// The query.
        what: String,
        /// Available engines and steps.
        known: Vec<String>,
    },
    /// `--since` names no point of this history.
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
