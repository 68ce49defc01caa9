//! How asking for an allocator fails.

use std::path::PathBuf;

use model::Allocator;

/// Why a run cannot have the allocator it asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MallocError {
    /// No library of it lies where the loader looks.
    #[error("{allocator} is not installed: no {file} in {searched}")]
    NotInstalled {
        /// The allocator.
        allocator: Allocator,
        /// Name of the file looked for.
        file: &'static str,
        /// Debian's package of it.
        package: &'static str,
        /// The directories, in words.
        searched: String,
    },
    /// Another library serves `malloc`.
    #[error("{asked} was asked for, but `malloc` is served by {found}")]
    Other {
        /// What was asked for: an allocator, or its library.
        asked: String,
        /// The library that serves it.
        found: PathBuf,
    },
    /// The library that serves `malloc` cannot be found out.
    #[error("cannot find out who serves `malloc`: {0}")]
    Hidden(String),
}

impl MallocError {
    /// Returns what to do about it.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NotInstalled { package, .. } => format!(
                "install it (Debian: apt install {package}), or name the directory of its library \
                 in LD_LIBRARY_PATH"
            ),
            Self::Other { .. } | Self::Hidden(_) => {
                "take allocators out of LD_PRELOAD and /etc/ld.so.preload: `allocator` names the one \
                 that is wanted"
                    .to_owned()
            }
        }
    }
}
