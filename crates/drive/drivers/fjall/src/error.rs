//! Converts fjall errors to engine errors.

use engine::EngineError;

/// Converts an error, with fjall's own message.
#[cold]
pub(crate) fn failed(error: fjall::Error) -> EngineError {
    EngineError::Fatal(format!("fjall: {error}"))
}
