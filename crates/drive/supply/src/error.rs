//! Errors of obtaining a build, by what the caller can do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a requested build cannot be supplied; each text names the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The name of a build or of a compiler, or a flag, is invalid.
    #[error("{0}")]
    Invalid(String),
    /// No source has the build for this machine.
    #[error("{0}")]
    NotOffered(String),
    /// The source has other versions only.
    #[error("{0}")]
    Unpublished(String),
    /// A program that obtains or compiles builds is not installed.
    #[error("{0}")]
    NoProgram(String),
    /// A repository was not reached.
    #[error("{0}")]
    Unreachable(String),
    /// A program that obtains builds failed.
    #[error("{0}")]
    ClientFailed(String),
    /// A library or a shim does not compile.
    #[error("{0}")]
    NotCompiled(String),
    /// The library or server does not run here, or is of another engine or build.
    #[error("{0}")]
    NotWorking(String),
    /// The cached build changed since it was stored.
    #[error("{0}")]
    Damaged(String),
    /// Another library is already cached under this name.
    #[error(
        "{build} is cached already, from elsewhere ({origin}): choose another name, or run \
         `assay engine remove {build}` first"
    )]
    Exists {
        /// The build's name.
        build: String,
        /// Where the cached one came from.
        origin: String,
    },
    /// The build is not in the cache.
    #[error("{0} is not cached: `assay engine list` shows the cached builds")]
    NotCached(String),
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
    /// Returns a function that turns a system error into "cannot `action` `path`".
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
