//! Errors of reading and studying histories.

/// Error of a history.
///
/// Places are lines or rows, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The file has no header or no rows.
    #[error(
        "the file has no {0}: the first line names the columns, the first column is a time, a \
         commit or an index, every further column one metric"
    )]
    Empty(&'static str),
    /// Malformed text.
    #[error("{0}")]
    Format(String),
    /// Two columns of one name.
    #[error("two columns are named `{0}`: each metric has a name of its own")]
    Twice(String),
    /// A row has more or fewer fields than the header: its line, its fields, those of the header.
    #[error("line {0} has {1} fields, and the header {2}")]
    Fields(u64, usize, usize),
    /// A value is no number: its place, its text and its column.
    #[error(
        "{0}: `{1}` in column `{2}` is no finite number: leave the field empty where nothing was \
         measured"
    )]
    NoNumber(String, String, String),
    /// A label is missing at this place.
    #[error("{0} has no label in its first column: give a time, a commit or an index")]
    NoLabel(String),
    /// The rows are not in the order of their stamps: the place, its stamp and the one before it.
    #[error("{0}: {1} stands after {2}: sort the rows by their first column, oldest first")]
    Unsorted(String, String, String),
    /// No such metric or column.
    #[error("no metric is named `{name}`")]
    UnknownMetric {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A metric with both directions.
    #[error("`{0}` is given both directions: name it once")]
    BothWays(String),
    /// Regressions of a metric without a direction.
    #[error(
        "`{0}` has no better direction, so it has no regressions: add --higher-is-better {0} or \
         --lower-is-better {0}, or choose metrics with --metric"
    )]
    NoDirection(String),
    /// Too few values for a change: the series, and their number in words.
    #[error(
        "{0} has {1}: a change needs at least 4 values, two before it and two after; with 25 or \
         more, autocorrelated noise is recognised"
    )]
    TooFew(String, String),
    /// No run in the archive matches the query.
    #[error("no complete run in the archive has {what}")]
    Nothing {
        /// The query.
        what: String,
        /// Available engines and steps.
        known: Vec<String>,
    },
    /// `--since` names no point of this history, whose first and last labels follow.
    #[error("no point is labelled `{0}`: labels run from {1} to {2}")]
    UnknownLabel(String, String, String),
}
