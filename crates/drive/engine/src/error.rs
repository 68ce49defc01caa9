//! Engine errors, classified by what the caller may do.

/// A refusal or failure of an engine.
///
/// Texts are the engine's own messages where it has any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A conflict with another client: retry is legal.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The engine's own timeout expired.
    #[error("timed out: {0}")]
    Timeout(String),
    /// Not supported by the engine or this build.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// An option the engine refuses.
    #[error("option `{option}` refused: {reason}")]
    Option {
        /// The option's name, as the user wrote it.
        option: String,
        /// The engine's reason.
        reason: String,
    },
    /// The engine cannot continue.
    #[error("{0}")]
    Fatal(String),
}
