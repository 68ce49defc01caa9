//! Errors of the engine.

use std::io;

/// Longest key or value, in bytes: lengths are stored in 32 bits, and one bit is a flag.
pub const LENGTH_MAX: usize = (1 << 30) - 1;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused a call on a file.
    #[error("{file}: {error}")]
    Io {
        /// Name of the file in the data directory.
        file: String,
        /// The cause.
        error: io::Error,
    },
    /// A file holds something else than what was written.
    #[error("{file} is damaged: {what}")]
    Damaged {
        /// Name of the file in the data directory.
        file: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An earlier write or a background thread failed; reads still work, and a new open may.
    #[error("no write is possible since one failed: {0}")]
    Failed(String),
    /// A key or value is longer than [`LENGTH_MAX`].
    #[error("{0} bytes are more than a key or a value may have ({LENGTH_MAX})")]
    TooLong(usize),
}

impl Error {
    /// Returns a conversion of errors that concern `file`.
    pub(crate) fn io(file: &str) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { file: file.to_owned(), error }
    }

    /// Returns the error of a file whose content is wrong.
    #[cold]
    pub(crate) fn damaged(file: &str, what: &'static str) -> Self {
        Self::Damaged { file: file.to_owned(), what }
    }
}

/// Result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;
