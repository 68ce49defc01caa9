//! Experiments in files, for tests that read results and need no run of their own.
//!
//! Each was run on a quiet host and exported. `assay rerun FILE` repeats one, and
//! `assay export NAME -o FILE` replaces the file.

use std::fs;

use archive::Results;

use crate::workspace::Workspace;

/// Two variants of SQLite with equal settings, each run twice: the experiment of `pair.toml`.
pub(crate) const PAIR: &[u8] = include_bytes!("../data/pair.assay");

/// The experiment with published findings.
pub(crate) const HELD: &[u8] = include_bytes!("../data/held.assay");
/// Rows of two sizes in two engines.
pub(crate) const SIZES: [&[u8]; 2] =
    [include_bytes!("../data/small.assay"), include_bytes!("../data/large.assay")];
/// One variant of SQLite, run once, and experiments that differ from it in what they are named
/// after.
pub(crate) const ALONE: &[u8] = include_bytes!("../data/alone.assay");
pub(crate) const UNLIKE: [&[u8]; 7] = [
    include_bytes!("../data/other.assay"),
    include_bytes!("../data/big.assay"),
    include_bytes!("../data/long.assay"),
    include_bytes!("../data/steps.assay"),
    include_bytes!("../data/meaning.assay"),
    include_bytes!("../data/careless.assay"),
    include_bytes!("../data/twice.assay"),
];

impl Workspace {
    /// Creates a directory with `pair.toml` and its stored experiment in the archive.
    pub(crate) fn with_pair() -> Self {
        let workspace = Self::with_pair_file();
        workspace.import(PAIR);
        workspace
    }

    /// Brings a stored experiment into the archive.
    pub(crate) fn import(&self, stored: &[u8]) {
        let file = self.path("stored.assay");
        fs::write(&file, stored).expect("a file in the workspace");
        Results::at(&self.path("results")).import(&file).expect("it is sound");
        fs::remove_file(file).expect("a file in the workspace");
    }
}
