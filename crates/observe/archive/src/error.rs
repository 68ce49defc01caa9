//! Errors of the results archive.

use std::io;
use std::path::{Path, PathBuf};

/// An archive error: cause, place and remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The results directory or a file in it cannot be written.
    #[error("cannot write {}: {source}; choose another place with --results", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file cannot be parsed.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file was written by a newer Assay.
    #[error("{} has schema {found}; this Assay reads up to {known}: use a newer one", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The file's schema.
        found: u64,
        /// The newest schema this program reads.
        known: u32,
    },
    /// No such experiment or run.
    #[error("no results named `{name}` in {}; `assay list` shows what is there", root.display())]
    Unknown {
        /// The requested name.
        name: String,
        /// The directory searched.
        root: PathBuf,
    },
    /// Another process is running this experiment.
    #[error("{} is being written by another assay run; wait for it or stop it", path.display())]
    Busy {
        /// The experiment's directory.
        path: PathBuf,
    },
}

impl ArchiveError {
    /// Returns whether the file is not there at all.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns a closure that turns an IO error into [`ArchiveError::Write`] for `path`.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }

    /// Returns a closure that turns an IO error into [`ArchiveError::Read`] for `path`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Read { path, source }
    }
}
