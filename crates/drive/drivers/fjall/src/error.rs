//! fjall's failures, by what the caller may do about them.

use engine::EngineError;

/// Returns `error` as the engine's, in fjall's own words.
#[cold]
pub(crate) fn failed(error: fjall::Error) -> EngineError {
    EngineError::Fatal(format!("fjall: {error}"))
}

/// Returns the refusal of an option.
pub(crate) fn refused(option: &str, reason: impl Into<String>) -> EngineError {
    EngineError::Option { option: option.to_owned(), reason: reason.into() }
}
