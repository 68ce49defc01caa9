//! Errors of storage measurements.

use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;

/// Failure to prepare or to measure storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The program fio is missing or does not run.
    #[error("fio cannot be run: {0}; install it with `scripts/setup.sh device`")]
    Missing(#[source] io::Error),
    /// The program fio reported an error, in its words.
    #[error("fio: {0}")]
    Fio(String),
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The output of fio cannot be read.
    #[error(
        "the output of fio cannot be read: {0}; install another fio with `scripts/setup.sh device`"
    )]
    Output(#[from] serde_json::Error),
    /// A file or directory cannot be read or written.
    #[error("{}: {_1}", _0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file would leave less than the floor free.
    #[error(
        "a file of {_1} in {} would leave less than {_3} of the {_2} that are free: make room, or \
         give a smaller --size or --disk-floor",
        _0.display()
    )]
    NoRoom(PathBuf, Bytes, Bytes, Bytes),
    /// The device cannot be used, and why.
    #[error("Assay does not use {}: {_1}", _0.display())]
    Refused(PathBuf, String),
}

impl DeviceError {
    /// Returns the conversion of an I/O error on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::File(path, error)
    }
}
