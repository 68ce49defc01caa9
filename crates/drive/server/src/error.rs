//! Errors of server set-up, start and stop.

use std::io;
use std::path::{Path, PathBuf};

use engine::EngineError;

/// Failure to set up, start or stop a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The server rejected its options, with its own message.
    #[error(transparent)]
    Refused(#[from] EngineError),
    /// A file or directory cannot be made, read or removed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A helper program that starts servers is missing.
    #[error("cannot start {}: {source}; it is part of {package}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The operating system's reason.
        source: io::Error,
        /// The package that has it.
        package: &'static str,
    },
    /// There is no such user.
    #[error(
        "there is no user `{0}` for servers to run as: name another in ASSAY_SERVER_USER, or make \
         it with useradd"
    )]
    NoUser(String),
    /// The user is root, which servers refuse to run as.
    #[error("servers do not run as root: name an unprivileged user in ASSAY_SERVER_USER")]
    Root,
    /// The server's user cannot reach a directory.
    #[error(
        "user `{user}`, which runs the server, cannot enter {0}: allow it with `chmod o+x {0}`, \
         or move {what}", dir.display()
    )]
    Unreachable {
        /// The user.
        user: String,
        /// The directory.
        dir: PathBuf,
        /// What lies below it, where to, and the option that moves it.
        what: &'static str,
    },
    /// The server did not answer in time.
    #[error("the server did not answer within {seconds} s; last log line: {last_log_lines}")]
    NotReady {
        /// How long was waited.
        seconds: u64,
        /// Last line of its log, and the last probe's error.
        last_log_lines: String,
    },
    /// The server did not end within the stop timeout.
    #[error("the server did not stop within {seconds} s and was killed")]
    NotStopped {
        /// How long was waited.
        seconds: u64,
    },
    /// The server ended before it was stopped.
    #[error("the server died: {0}")]
    Died(String),
    /// The user interrupted the start.
    #[error("interrupted")]
    Interrupted,
}

impl ServerError {
    /// Returns the conversion of an I/O error on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl From<ServerError> for EngineError {
    fn from(error: ServerError) -> Self {
        if let ServerError::Refused(error) = error { error } else { Self::Fatal(error.to_string()) }
    }
}
