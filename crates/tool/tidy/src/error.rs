//! What can keep tidy from looking at the repository at all.

use std::path::PathBuf;

/// Why the repository could not be read or a stage could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TidyError {
    /// `cargo metadata` failed.
    #[error("cargo cannot describe the workspace: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    /// `git ls-files` could not be run, or the directory is no checkout.
    #[error("git cannot list the files of {root}: {reason}; run tidy in a git checkout")]
    Git {
        /// The workspace's root.
        root: PathBuf,
        /// What git or the operating system said.
        reason: String,
    },
    /// A listed file could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A stage's program could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The result could not be printed.
    #[error("cannot print: {0}")]
    Print(#[from] std::io::Error),
}
