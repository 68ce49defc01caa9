//! What listings and histories read from the Parquet files next to the experiments.
//!
//! Only experiments that did not change since are read from there; the others are read from their
//! plain files, and so is everything where a file of the set is damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::PathBuf;

use analysis::history::{HistoryQuery, Past};
use archive::{ExperimentDir, Part, PartSet, Results, Summaries, parallel_map};
use columns::{ColumnsError, StoredTable, Table};
use miette::Result;
use model::Manifest;
use serde::de::DeserializeOwned;

use crate::diagnostic::IntoReport as _;
use crate::ui::Ui;

/// Paths of the experiments that did not change, by their directories below the archive.
type Fresh = BTreeMap<String, PathBuf>;

/// The set of an archive, as far as it is fresh.
pub(crate) struct FreshSet<'a> {
    results: &'a Results,
    dirs: &'a [ExperimentDir],
    set: PartSet,
    fresh: Fresh,
    ui: &'a Ui,
}

impl<'a> FreshSet<'a> {
    /// Returns the set for these experiments of the archive.
    pub(crate) fn of(results: &'a Results, dirs: &'a [ExperimentDir], ui: &'a Ui) -> Self {
        let set = results.part_set();
        if let Some(error) = &set.unreadable {
            warn(ui, error);
        }
        Self { fresh: set.fresh(dirs), results, dirs, set, ui }
    }

    /// Returns the summaries in the set.
    pub(crate) fn summaries(&self) -> Summaries {
        self.parsed("summary")
    }

    /// Returns the experiments in the set, and the means of these metrics in those that match.
    pub(crate) fn past(&self, query: &HistoryQuery, metrics: &[&str]) -> BTreeMap<PathBuf, Past> {
        let manifests: BTreeMap<PathBuf, Manifest> = self.parsed("manifest");
        let wanted = manifests.iter().filter(|(_, manifest)| query.has(manifest));
        let wanted: BTreeSet<_> = wanted.map(|(path, _)| path.clone()).collect();
        let is_wanted = |path: &PathBuf| wanted.contains(path);
        let mut means = self.read(Table::Runs, is_wanted, |table| table.means(metrics));
        let past = |(path, manifest): (PathBuf, Manifest)| {
            // Of a damaged table, the plain files are read.
            let means = match wanted.contains(&path) {
                true => means.remove(&path)?,
                false => Vec::new(),
            };
            Some((path, Past { manifest, means }))
        };
        manifests.into_iter().filter_map(past).collect()
    }

    /// Returns the metrics of which a counted run of a fresh experiment has a value.
    pub(crate) fn metrics(&self) -> BTreeSet<&'static str> {
        let read = |table: &StoredTable, fresh: &Fresh| {
            table.metrics(|directory| fresh.contains_key(directory))
        };
        self.parts(Table::Runs, |_| true, read).into_iter().flatten().collect()
    }

    /// Returns a column of JSON texts of the experiments.
    fn parsed<T: DeserializeOwned + Send>(&self, column: &str) -> BTreeMap<PathBuf, T> {
        let texts = self.read(Table::Experiments, |_| true, |table| table.texts(column));
        let parse =
            |(path, text): (PathBuf, String)| Some((path, serde_json::from_str(&text).ok()?));
        parallel_map(texts, parse).into_iter().flatten().collect()
    }

    /// Reads something of each fresh experiment.
    fn read<T: Send>(
        &self,
        table: Table,
        is_wanted: impl Fn(&PathBuf) -> bool + Sync,
        read: impl Fn(&StoredTable) -> Result<BTreeMap<String, T>, ColumnsError> + Sync,
    ) -> BTreeMap<PathBuf, T> {
        let read = |table: &StoredTable, fresh: &Fresh| {
            let mut all = read(table)?;
            all.retain(|directory, _| fresh.contains_key(directory));
            Ok(all)
        };
        let all = self.parts(table, is_wanted, read).into_iter().flatten();
        all.filter_map(|(key, one)| Some((self.fresh.get(&key)?.clone(), one))).collect()
    }

    /// Reads a table of each part with a fresh experiment that is wanted, several at a time.
    fn parts<T: Send>(
        &self,
        table: Table,
        is_wanted: impl Fn(&PathBuf) -> bool + Sync,
        read: impl Fn(&StoredTable, &Fresh) -> Result<T, ColumnsError> + Sync,
    ) -> Vec<T> {
        let read_set = |set: &PartSet, fresh: &Fresh| {
            let has_wanted = |part: &&Part| {
                let paths = part.experiments.iter().map(|one| fresh.get(&one.directory));
                paths.flatten().any(&is_wanted)
            };
            let read_one = |part: &Part| {
                let file = set.open(part, table.name()).into_report()?;
                StoredTable::open(table, file).and_then(|table| read(&table, fresh)).into_report()
            };
            let parts: Vec<_> = set.parts.iter().filter(has_wanted).collect();
            parallel_map(parts, read_one)
        };
        let mut all = read_set(&self.set, &self.fresh);
        if all.iter().any(Result::is_err) {
            // Another process may have replaced the set meanwhile.
            let now = self.results.part_set();
            if now.parts != self.set.parts {
                all = read_set(&now, &now.fresh(self.dirs));
            }
        }
        let warned = |one: Result<T>| one.map_err(|error| warn(self.ui, &error)).ok();
        all.into_iter().filter_map(warned).collect()
    }
}

/// Reports that a file of the set is not used, and the remedy.
fn warn(ui: &Ui, error: &impl Display) {
    ui.status(format_args!(
        "warning: {error}; the plain files are read instead: write the Parquet files again with \
         `assay archive parquet`"
    ));
}
