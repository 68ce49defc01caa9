//! Errors of a request for operations.

/// A step that cannot be executed; each text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// There is no step of that name; with the known ones.
    #[error("unknown step `{0}`; steps: {1}")]
    UnknownStep(String, String),
    /// A setting of a step cannot be executed; with what may be written instead.
    #[error("step `{0}`: {1}")]
    Step(String, String),
}
