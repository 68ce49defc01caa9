//! Errors of server set-up, start and stop.

use std::io;
use std::path::Path;

use engine::EngineError;

/// Failure to set up, start or stop a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The server rejected its options, with its own message, or cannot be started here.
    #[error(transparent)]
    Refused(#[from] EngineError),
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
    /// Returns the error for a server that cannot be started here.
    pub(crate) fn fatal(reason: String) -> Self {
        Self::Refused(EngineError::Fatal(reason))
    }

    /// Returns the conversion of an I/O error on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::fatal(format!("{}: {error}", path.display()))
    }

    /// Converts an error of the helper program that starts servers.
    pub(crate) fn spawn(error: io::Error) -> Self {
        let text = error.to_string();
        // Busybox's has no option that ends a server with Assay.
        let which = match text.to_lowercase().contains("option") {
            true => "this setpriv lacks --pdeathsig, as the setpriv of busybox does",
            false => "Assay starts servers with setpriv",
        };
        let text = text.lines().next().unwrap_or_default();
        Self::fatal(format!(
            "cannot start setpriv ({text}): {which}; install util-linux (Alpine: `apk add setpriv \
             util-linux-misc`)"
        ))
    }
}

impl From<ServerError> for EngineError {
    fn from(error: ServerError) -> Self {
        if let ServerError::Refused(error) = error { error } else { Self::Fatal(error.to_string()) }
    }
}
