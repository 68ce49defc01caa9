//! Errors of finding and checking an allocator.

use std::path::PathBuf;

use model::Allocator;

/// Why the requested allocator does not serve the process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MallocError {
    /// No library of it lies in the loader's search path: its file, Debian's package of it, and the
    /// directories searched.
    #[error("{0} is not installed: no {1} in {3}")]
    NotInstalled(Allocator, &'static str, &'static str, String),
    /// Another library serves `malloc`.
    #[error("{requested} was requested, but `malloc` is served by {found}")]
    Other {
        /// The requested allocator, or its library.
        requested: String,
        /// The library that serves it.
        found: PathBuf,
    },
    /// The library that serves `malloc` cannot be determined.
    #[error("cannot determine which library serves `malloc`: {0}")]
    Hidden(String),
}

impl MallocError {
    /// Returns the remedy.
    pub fn remedy(&self) -> String {
        match self {
            Self::NotInstalled(_, _, package, _) => format!(
                "install the allocator (Debian: apt install {package}), or name the directory of \
                 its library in LD_LIBRARY_PATH"
            ),
            Self::Other { .. } | Self::Hidden(_) => "remove allocators from LD_PRELOAD and \
                                                     /etc/ld.so.preload: the setting `allocator` \
                                                     selects the allocator of a run"
                .to_owned(),
        }
    }
}
