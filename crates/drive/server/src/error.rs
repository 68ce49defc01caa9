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
    /// The helper program that starts servers is missing.
    #[error("cannot start setpriv: {0}; it is part of util-linux")]
    Spawn(io::Error),
    /// There is no such user.
    #[error(
        "there is no user `{0}` for servers to run as: name another in ASSAY_SERVER_USER, or make \
         it with useradd"
    )]
    NoUser(String),
    /// The user is root, which servers refuse to run as.
    #[error("servers do not run as root: name an unprivileged user in ASSAY_SERVER_USER")]
    Root,
    /// The server's user cannot enter a directory.
    #[error("{0}")]
    Unreachable(String),
    /// The server did not answer within so many seconds; its last log line and the last probe.
    #[error("the server did not answer within {0} s; last log line: {1}")]
    NotReady(u64, String),
    /// The server did not end within so many seconds.
    #[error("the server did not stop within {0} s and was killed")]
    NotStopped(u64),
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
