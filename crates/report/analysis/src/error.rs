//! Errors of comparing runs.

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
        /// The requested name.
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
    /// Experiments with different data, steps or variants.
    #[error(
        "{first} and {second} cannot be compared: {difference}; \
         run their variants in one experiment, or one of the two again as the other was"
    )]
    NotComparable {
        /// Label of the first experiment.
        first: String,
        /// Label of the one that differs.
        second: String,
        /// What differs, with both values.
        difference: String,
    },
}
