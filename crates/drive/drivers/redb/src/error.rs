//! Converts redb errors to engine errors.

use engine::EngineError;

/// Converts an error, with redb's own message.
#[cold]
pub(crate) fn failed(error: impl Into<redb::Error>) -> EngineError {
    let error = error.into();
    let text = format!("redb: {error}");
    if matches!(error, redb::Error::ValueTooLarge(_)) {
        EngineError::Unsupported(text)
    } else {
        EngineError::Fatal(text)
    }
}
