//! Why a snapshot is not saved or not used.

use std::io;
use std::path::{Path, PathBuf};

use model::{Bytes, shell_word};

/// Why a snapshot is not saved or not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A file or directory cannot be used.
    #[error("{}: {_1}", _0.display())]
    File(PathBuf, #[source] io::Error),
    /// A file cannot be part of a snapshot.
    #[error("{} is not saved: it is {_1}", _0.display())]
    NotSaved(PathBuf, &'static str),
    /// The files of a snapshot are not those that were saved.
    #[error("snapshot {0} is damaged: {1}; `assay snapshot remove {word}` removes it", word = shell_word(_0))]
    Damaged(String, String),
    /// The engine left no files.
    #[error("the engine leaves no files to save")]
    Nothing,
    /// There is no room: what is needed, and what may be used.
    #[error("there is no room for the snapshot: its files need {0}, and only {1} may be used")]
    NoRoom(Bytes, Bytes),
    /// No snapshot has that identifier.
    #[error("there is no snapshot `{0}`: `assay snapshot list` shows all snapshots")]
    Unknown(String),
    /// The user stopped the run.
    #[error("stopped by the user")]
    Stopped,
    /// A process is saving, restoring or removing it.
    #[error("snapshot {0} is in use by a running process")]
    InUse(String),
    /// A killed process was saving or removing it.
    #[error("snapshot {0} is unfinished: a killed process left it, and the next run removes it")]
    Unfinished(String),
}

impl SnapshotError {
    /// Returns what is stored with a damaged snapshot: its list adds the identifier and the remedy.
    pub(crate) fn reason(&self) -> String {
        if let Self::Damaged(_, reason) = self { reason.clone() } else { self.to_string() }
    }

    /// Returns the error of a snapshot whose file differs.
    pub(crate) fn changed(id: &str, file: &Path) -> Self {
        Self::Damaged(id.to_owned(), format!("{} is not what was saved", file.display()))
    }

    /// Returns a conversion of the error of a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::File(path.to_owned(), error)
    }
}
