//! SQLite's failures, by what the caller may do about them.

use engine::EngineError;
use rusqlite::ErrorCode;

/// Returns `error` as the engine's, in SQLite's own words.
#[cold]
pub(crate) fn failed(error: rusqlite::Error) -> EngineError {
    let text = format!("sqlite: {error}");
    match error.sqlite_error_code() {
        // The busy handler has waited for as long as the pragma `busy_timeout` allows.
        Some(ErrorCode::DatabaseBusy) => EngineError::Timeout(text),
        Some(ErrorCode::DatabaseLocked) => EngineError::Conflict(text),
        Some(ErrorCode::TooBig) => EngineError::Unsupported(text),
        _ => EngineError::Fatal(text),
    }
}

/// Returns the refusal of an option.
pub(crate) fn refused(option: &str, reason: impl Into<String>) -> EngineError {
    EngineError::Option { option: option.to_owned(), reason: reason.into() }
}
