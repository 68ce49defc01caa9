//! Errors of the results archive.

use std::io;
use std::path::{Path, PathBuf, absolute};

/// An archive error: cause, place and remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The results directory or a file in it cannot be written.
    #[error(
        "cannot write {}: {_1}; {}", absolute(_0).as_ref().unwrap_or(_0).display(),
        remedy(_1, "choose another place with --results")
    )]
    Write(PathBuf, #[source] io::Error),
    /// A file outside of the archive cannot be written.
    #[error("cannot write {}: {_1}; {}", _0.display(), remedy(_1, "name another place for the file"))]
    Output(PathBuf, #[source] io::Error),
    /// A file that lasts as long as the process cannot be written.
    #[error("cannot write {}: {_1}; name another directory in TMPDIR", _0.display())]
    Scratch(PathBuf, #[source] io::Error),
    /// A file or directory cannot be read.
    #[error("cannot read {}: {_1}", _0.display())]
    Read(PathBuf, #[source] io::Error),
    /// A file cannot be parsed, for that reason.
    #[error("{} is damaged: {_1}", _0.display())]
    Damaged(PathBuf, String),
    /// A manifest would not be read again, for that reason; it is not written.
    #[error("{} is not written, because Assay could not read it again: {_1}; change the \
             experiment", _0.display())]
    Unreadable(PathBuf, String),
    /// A file was written by a newer Assay: its schema, and the newest that this one reads.
    #[error("{} has schema {_1}; this Assay reads up to {_2}: use a newer Assay", _0.display())]
    Schema(PathBuf, u32, u32),
    /// No experiment or run of that name in that directory.
    #[error("there are no results named `{_0}` in {}; `assay list` shows the results \
             there", _1.display())]
    Unknown(String, PathBuf),
    /// Two experiments have that name or identifier: their directories in the archive.
    #[error("`{_0}` names more than one experiment: write {} or {}", _1[0].display(), _1[1].display())]
    Ambiguous(String, [PathBuf; 2]),
    /// The experiment is in the archive already, with other files, in that directory.
    #[error("{} is there already, with other files: remove it, or import into another archive with --results", _0.display())]
    Exists(PathBuf),
    /// Two experiments have the same name and identifier, and other files.
    #[error("{} and {} have the same name and identifier, but other files, so nothing is \
             copied: remove one of them, or merge into another archive with --results",
             _0.display(), _1.display())]
    Differs(PathBuf, PathBuf),
    /// A file that Assay did not write is in the place of a cache that is replaced as a whole.
    #[error("{} is not a file of the Parquet set that Assay writes there, and would be removed: \
             move it elsewhere, then run the command again", _0.display())]
    Foreign(PathBuf),
    /// Another process is running this experiment.
    #[error("{} is being written by another assay run; wait for it or stop it", _0.display())]
    Busy(PathBuf),
}

/// Returns the remedy for a file that cannot be written; `elsewhere` names another place.
fn remedy(error: &io::Error, elsewhere: &'static str) -> &'static str {
    if error.kind() == io::ErrorKind::FileTooLarge {
        "raise the limit on file sizes (`ulimit -f unlimited`)"
    } else {
        elsewhere
    }
}

impl ArchiveError {
    /// Returns whether the file is not there at all.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Read(_, error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Returns a closure that turns an IO error into [`ArchiveError::Write`] for `path`.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Write(path, source)
    }

    /// Returns a closure that turns an IO error into [`ArchiveError::Output`] for `path`.
    pub(crate) fn output(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Output(path, source)
    }

    /// Returns a closure that turns an IO error into [`ArchiveError::Read`] for `path`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Read(path, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_has_a_whole_path_and_the_remedy_of_its_error() {
        let text = |code| {
            let error = io::Error::from_raw_os_error(code);
            ArchiveError::write(Path::new("results"))(error).to_string()
        };
        let place = absolute("results").unwrap();
        assert!(text(13).starts_with(&format!("cannot write {}: ", place.display())));
        assert!(text(13).ends_with("choose another place with --results"));
        assert!(text(27).ends_with("limit on file sizes (`ulimit -f unlimited`)"));
    }
}
