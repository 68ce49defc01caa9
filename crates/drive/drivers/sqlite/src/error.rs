//! Converts SQLite result codes to engine errors.

use std::ffi::c_int;

use engine::EngineError;
use libsqlite3_sys::{SQLITE_BUSY, SQLITE_LOCKED, SQLITE_TOOBIG};

/// Mask of the primary code in an extended result code.
const PRIMARY: c_int = 0xff;

/// Converts a result code, with SQLite's own message.
#[cold]
pub(crate) fn failed(code: c_int, message: &str) -> EngineError {
    let text = format!("sqlite: {message}");
    match code & PRIMARY {
        // The busy handler has waited for the pragma `busy_timeout`.
        SQLITE_BUSY => EngineError::Timeout(text),
        SQLITE_LOCKED => EngineError::Conflict(text),
        SQLITE_TOOBIG => EngineError::Unsupported(text),
        _ => EngineError::Fatal(text),
    }
}
