//! redb's failures, by what the caller may do about them.

use engine::EngineError;

/// Returns `error` as the engine's, in redb's own words.
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
