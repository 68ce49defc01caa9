//! What can be wrong with a question put to this crate.

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// There is nothing to compare.
    #[error("there are no runs to compare: run the experiment first, or name other runs")]
    NoRuns,
    /// The base case is not among the variants.
    #[error("no variant is named `{base}`; the variants are {}", .known.join(", "))]
    UnknownBase {
        /// The name asked for.
        base: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A run's variant is not in the experiment.
    #[error(
        "run {run} is of variant `{variant}`, which the experiment does not have; \
         compare it with its own experiment"
    )]
    UnknownVariant {
        /// The run.
        run: String,
        /// Its variant.
        variant: String,
    },
    /// Records of different schema versions.
    #[error(
        "run {run} has schema {found} and the others {expected}; \
         load all of them through the archive, which migrates old records"
    )]
    Schema {
        /// The run that differs.
        run: String,
        /// Its schema.
        found: u32,
        /// The schema of the first run.
        expected: u32,
    },
    /// Experiments that do not ask the same thing of their variants.
    #[error(
        "{first} and {second} cannot be compared: {what}; \
         run their variants in one experiment, or one of the two again as the other was"
    )]
    NotComparable {
        /// What the first experiment is called.
        first: String,
        /// What the one that differs is called.
        second: String,
        /// What differs, with both values.
        what: String,
    },
}
