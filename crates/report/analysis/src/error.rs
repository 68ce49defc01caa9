//! Errors of comparing runs.

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// There is nothing to compare.
    #[error("there are no runs to compare: run the experiment first, or name other runs")]
    NoRuns,
    /// The base case is not among the variants, which follow.
    #[error("no variant is named `{}`; the variants are {}", .0, .1.join(", "))]
    UnknownBase(String, Vec<String>),
    /// A run's variant is not in the experiment.
    #[error(
        "run {0} is of variant `{1}`, which the experiment does not have: \
         compare the run within its own experiment"
    )]
    UnknownVariant(String, String),
    /// Records of different schema versions: a run, its version and that of the first run.
    #[error(
        "run {0} has schema {1} and the other runs have schema {2}: load all runs through the \
         archive, which migrates old records"
    )]
    Schema(String, u32, u32),
    /// Experiments with different data, steps or variants: the labels of two, and what differs.
    #[error(
        "{0} and {1} cannot be compared: {2}; run their variants in one experiment, or repeat one \
         experiment with the settings of the other experiment"
    )]
    NotComparable(String, String, String),
}
