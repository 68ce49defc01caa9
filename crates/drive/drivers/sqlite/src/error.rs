//! SQLite's failures, by what the caller may do about them.

use std::ffi::c_int;

use engine::EngineError;
use libsqlite3_sys::{SQLITE_BUSY, SQLITE_LOCKED, SQLITE_TOOBIG};

/// What an extended result code keeps of the primary one.
const PRIMARY: c_int = 0xff;

/// Returns the failure with that result code as the engine's, in SQLite's own words.
#[cold]
pub(crate) fn failed(code: c_int, words: &str) -> EngineError {
    let text = format!("sqlite: {words}");
    match code & PRIMARY {
        // The busy handler has waited for as long as the pragma `busy_timeout` allows.
        SQLITE_BUSY => EngineError::Timeout(text),
        SQLITE_LOCKED => EngineError::Conflict(text),
        SQLITE_TOOBIG => EngineError::Unsupported(text),
        _ => EngineError::Fatal(text),
    }
}
