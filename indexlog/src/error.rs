//! Errors of the engine.

use std::io;
use std::path::PathBuf;

/// Most bytes of a batch, 8 more for each write: lengths are stored in 32 bits, one a flag.
pub const LENGTH_MAX: usize = (1 << 29) - 1;

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
    /// A batch has more bytes than [`LENGTH_MAX`].
    #[error("{0} bytes are more than a batch may have ({LENGTH_MAX}): write less at a time")]
    TooLong(usize),
    /// An option has a value with which the engine cannot work.
    #[error("option {name}: {remedy}")]
    Option {
        /// Its name.
        name: &'static str,
        /// What to write instead.
        remedy: &'static str,
    },
    /// The directory belongs to an open database, of this process or another.
    #[error("{0} is open elsewhere: close it there, or name another directory")]
    InUse(PathBuf),
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
