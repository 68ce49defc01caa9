//! Errors of reading and studying histories.

use model::shell_word;

/// Error of a history.
///
/// Places are lines or rows, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The file has no header or no metric.
    #[error(
        "the file has no {0}: the first line names the columns, separated by commas, semicolons or \
         tabs; the first column is a time, a commit or an index, every further column one metric"
    )]
    Empty(&'static str),
    /// The file is of another kind, or malformed: what it is, where, and what to do.
    #[error("{0}")]
    Format(String),
    /// Two columns of one name.
    #[error("two columns are named `{0}`: give each metric a different name")]
    Twice(String),
    /// A row has more or fewer fields than the header: its line, its fields, those of the header.
    #[error(
        "line {0} has {1} fields and the header has {2}: quote fields that contain a separator"
    )]
    Fields(u64, usize, usize),
    /// A field holds no value that can be used.
    #[error("{place}: `{text}` in column `{column}` {why}")]
    Value {
        /// Its line or row.
        place: String,
        /// Its text.
        text: String,
        /// Its column.
        column: String,
        /// What is wrong, and what to do.
        why: &'static str,
    },
    /// A label is missing at this place.
    #[error("{0} has no label: give a time, a commit, a version or an index")]
    NoLabel(String),
    /// The rows are not in the order of their labels: the place, its label and the one before it.
    #[error("{0}: {1} follows {2}: sort the rows by their labels, oldest first")]
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
    #[error("`{0}` has both directions: name it in one option only")]
    BothWays(String),
    /// Regressions of a metric without a direction.
    #[error(
        "`{0}` has no better direction, so it has no regressions: add --higher-is-better {word} or \
         --lower-is-better {word}, or choose metrics with --metric",
        word = shell_word(_0)
    )]
    NoDirection(String),
    /// No run in the archive matches the query.
    #[error("no run in the archive that is complete and valid has {what}")]
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
