//! fjall's failures, by what the caller may do about them.

use engine::EngineError;

/// Returns `error` as the engine's, in fjall's own words.
#[cold]
pub(crate) fn failed(error: fjall::Error) -> EngineError {
    EngineError::Fatal(format!("fjall: {error}"))
}
