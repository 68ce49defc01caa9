//! Errors of reading the repository and starting stages.

use std::path::PathBuf;

/// An error of reading the repository or starting a stage.
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
        /// The message of git or of the operating system.
        reason: String,
    },
    /// A listed file could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A stage's program could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The result could not be printed.
    #[error("cannot print: {0}")]
    Print(#[from] std::io::Error),
}
