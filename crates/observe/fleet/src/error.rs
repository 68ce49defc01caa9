//! Errors of experiments on other machines.

use std::io;
use std::path::{Path, PathBuf};

use archive::ArchiveError;

/// An error of an experiment on other machines.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A file of a block cannot be read or written.
    #[error("cannot use {}: {_1}; each machine needs to read and write this directory", _0.display())]
    File(PathBuf, #[source] io::Error),
    /// A file of a block cannot be parsed.
    #[error("{} is damaged: {_1}; name the machines with --on to write it again", _0.display())]
    Damaged(PathBuf, serde_json::Error),
    /// Another machine took the block over.
    #[error("block {block} was given to another machine: the runs of this machine count no more")]
    Superseded {
        /// The block, from 1.
        block: u32,
    },
    /// A program is missing.
    #[error("{0} is not installed here: it is a part of {1}")]
    Missing(&'static str, &'static str),
    /// A program failed, with its message.
    #[error("{program} failed: {message}; run it by hand to see whether it works on this host")]
    Program {
        /// The program.
        program: String,
        /// The last line of its standard error.
        message: String,
    },
    /// No machine is of a class.
    #[error("no machine of Slurm has the feature `{feature}`; their features: {known}")]
    NoFeature {
        /// The feature.
        feature: String,
        /// The features of all machines; Slurm writes none as `(null)`.
        known: String,
    },
    /// A stream from another machine is not as expected.
    #[error("the stream from {machine} is not as expected: {reason}")]
    Stream {
        /// The machine.
        machine: String,
        /// Why.
        reason: String,
    },
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl FleetError {
    /// Returns a closure that turns an IO error of a file into an error.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::File(path, source)
    }
}
