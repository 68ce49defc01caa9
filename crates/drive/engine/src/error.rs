//! Engine errors, classified by what the caller may do.

use crate::refusal::Refusal;

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
    /// An operation that the engine does not support.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The engine refuses to open.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The engine cannot continue.
    #[error("{0}")]
    Fatal(String),
}
