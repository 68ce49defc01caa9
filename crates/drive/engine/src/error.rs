//! How an engine fails, by what the caller may do about it.

/// An engine's refusal or failure; texts are the engine's own words where it has any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A conflict with another client: retry is legal.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The engine gave up waiting.
    #[error("timed out: {0}")]
    Timeout(String),
    /// The engine or this build cannot do it.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// An option the engine refuses, in its own words.
    #[error("option `{option}` refused: {reason}")]
    Option {
        /// The option's name, as the user wrote it.
        option: String,
        /// What the engine says of it.
        reason: String,
    },
    /// The engine cannot go on.
    #[error("{0}")]
    Fatal(String),
}
