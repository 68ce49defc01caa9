//! Errors of obtaining a build, by what the caller can do.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// A result whose error is that of supplying a build.
pub type Result<T, E = SupplyError> = std::result::Result<T, E>;

/// Why a requested build cannot be supplied; each text names the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The build does not exist here, is damaged or does not work, or its name is invalid.
    #[error("{0}")]
    Unavailable(String),
    /// The source has other versions only.
    #[error("{0}")]
    Unpublished(String),
    /// A program that obtains or compiles builds is not installed.
    #[error("{0}")]
    NoProgram(String),
    /// A program that obtains builds failed, or did not reach its repository.
    #[error("{0}")]
    ClientFailed(String),
    /// No thread that compiles can be made.
    #[error("no thread to compile with: {0}; raise the limit on threads (ulimit -u, pids.max)")]
    NoThread(#[source] io::Error),
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed action, a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl SupplyError {
    /// Returns the error for a name under which another build is cached.
    pub(crate) fn exists(build: &impl Display, origin: &str) -> Self {
        Self::Unavailable(format!(
            "{build} is cached already, from elsewhere ({origin}): choose another name, or run \
             `assay engine remove {build}` first"
        ))
    }

    /// Returns a function that turns an error of the cache's directory into a reason and remedy.
    pub(crate) fn cache(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| {
            Self::Unavailable(format!(
                "cannot use {} for builds: {error}; name another directory with --cache-dir",
                path.display()
            ))
        }
    }

    /// Returns a function that turns a system error into "cannot `action` `path`".
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Returns how users add a build of their own.
pub(crate) fn add_own(engine: &str) -> String {
    format!("add your own with `assay engine add {engine} PATH`")
}
