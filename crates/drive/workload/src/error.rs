//! Errors of a request for operations.

/// A step that cannot be executed; each text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The registry has no such step.
    #[error("unknown step `{name}`; steps: {known}")]
    UnknownStep {
        /// The requested name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// The key distribution is unknown or its parameter is out of range.
    #[error("step `{step}`: {reason}")]
    Distribution {
        /// The step's name.
        step: String,
        /// What is wrong and what may be written instead.
        reason: String,
    },
    /// A step of an application cannot be executed as it is described.
    #[error("step `{step}`: {reason}")]
    Application {
        /// The step's name.
        step: String,
        /// Which procedure, what is wrong with it, and what may be written instead.
        reason: String,
    },
    /// A size or a count is out of range.
    #[error("step `{step}`: {what} must be {range}")]
    OutOfRange {
        /// The step's name.
        step: String,
        /// The setting's name.
        what: &'static str,
        /// The values it may take, and why.
        range: &'static str,
    },
}
