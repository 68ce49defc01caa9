//! The comparisons that were shown last, so that the next page need not compare again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use analysis::profile::StepProfile;
use archive::{ExperimentDir, Results};
use miette::Result;
use model::{IntervalRecord, Manifest, Plan};
use render::ReportInput;
use render::site::{Chart, View};

use super::json::json;
use crate::cmd::analyzed::Study;
use crate::cmd::profiles::page_profiles;
use crate::cmd::selected::JoinedResults;
use crate::cmd::steady::Window;
use crate::diagnostic::IntoReport as _;

/// Most comparisons in memory: a view that changes base or margin is one of its own.
const STORED_MAX: usize = 8;
/// Most charts of a comparison in memory, some 100 kB each.
const CHARTS_MAX: usize = 100;

/// What a comparison is of.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    names: Vec<String>,
    /// The content of each experiment when it was read.
    contents: Vec<Option<String>>,
    base: Option<String>,
    margin: Option<f64>,
}

/// An experiment of the archive, or one run of it.
pub(super) struct Selected {
    pub(super) dir: ExperimentDir,
    run: Option<String>,
}

impl Selected {
    /// Returns a whole experiment.
    pub(super) const fn of(dir: ExperimentDir) -> Self {
        Self { dir, run: None }
    }

    /// Finds the experiment of an address, and no run or other experiment of that name.
    pub(super) fn whole(results: &Results, name: &str, id: &str) -> Result<Self> {
        results.find_within(&format!("{name}/{id}")).map(Self::of).into_report()
    }

    /// Finds `NAME`, `IDENTIFIER` or `NAME/IDENTIFIER` in the archive, each with or without `/RUN`.
    pub(super) fn find(results: &Results, name: &str) -> Result<Self> {
        let whole = results.find_within(name);
        let of_run = || name.rsplit_once('/').map(|(of, run)| (results.find_within(of), run));
        match (whole, of_run) {
            (Ok(dir), _) => Ok(Self::of(dir)),
            (Err(error), of_run) => match of_run() {
                Some((Ok(dir), run)) => Ok(Self { dir, run: Some(run.to_owned()) }),
                _ => Err(error).into_report(),
            },
        }
    }

    /// Returns its name and identifier, with the run.
    pub(super) fn name(&self) -> String {
        let place: Vec<_> = self.dir.path().iter().rev().take(2).collect();
        let place = place.into_iter().rev().map(|part| part.to_string_lossy().into_owned());
        let parts: Vec<String> = place.chain(self.run.clone()).collect();
        parts.join("/")
    }

    /// Returns what selects it on the command line, from anywhere.
    fn path(&self) -> String {
        let path = self.dir.path();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let run = self.run.iter().map(|run| format!("/{run}"));
        run.fold(path.display().to_string(), |path, run| path + &run)
    }
}

/// The profiles of a page, and what is damaged, with the reasons.
struct PageProfiles {
    stored: Vec<StepProfile>,
    damage: Vec<String>,
}

/// A comparison with the records behind it.
pub(super) struct StoredComparison {
    pub(super) study: Study,
    /// The experiment, or the first one with what all have in common.
    pub(super) manifest: Manifest,
    intervals: OnceLock<Vec<Vec<IntervalRecord>>>,
    profiles: OnceLock<PageProfiles>,
    /// Data of charts by name and selection: percentiles are read from the log of every run.
    charts: Mutex<BTreeMap<String, String>>,
}

/// The comparisons, the one used last in front.
#[derive(Default)]
pub(super) struct Shelf {
    stored: Mutex<VecDeque<(Key, Arc<StoredComparison>)>>,
}

impl Shelf {
    /// Returns the comparison of these results, compared again only when a file changed.
    pub(super) fn of(
        &self,
        results: &Results,
        selected: &[Selected],
        view: &View,
    ) -> Result<Arc<StoredComparison>> {
        let names: Vec<String> = selected.iter().map(Selected::path).collect();
        let key = Key {
            contents: selected.iter().map(|one| one.dir.key()).collect(),
            names: names.clone(),
            base: view.base.clone(),
            margin: view.margin,
        };
        let found = self.found(&key);
        if let Some(stored) = found {
            return Ok(stored);
        }
        let mut joined = JoinedResults::of(results, &names, Window::default())?;
        if let Some(margin) = view.margin {
            joined.experiment.margin = margin;
        }
        let manifest = common(&joined);
        let mut study = Study::of(joined, view.base.as_deref(), results)?;
        // Commands name what the archive has, wherever it lies.
        study.meta.selection = selected.iter().map(Selected::name).collect();
        let (intervals, profiles) = (OnceLock::new(), OnceLock::new());
        let charts = Mutex::default();
        let stored = StoredComparison { study, manifest, intervals, profiles, charts };
        let stored = Arc::new(stored);
        let mut all = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_front((key, Arc::clone(&stored)));
        all.truncate(STORED_MAX);
        Ok(stored)
    }

    fn found(&self, key: &Key) -> Option<Arc<StoredComparison>> {
        let mut all = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == key)?;
        let entry = all.remove(at)?;
        let stored = Arc::clone(&entry.1);
        all.push_front(entry);
        Some(stored)
    }
}

/// Returns the manifest of what is compared: its plan has the cells of all.
fn common(joined: &JoinedResults) -> Manifest {
    let first = &joined.manifests[0];
    let cells = joined.manifests.iter().flat_map(|one| one.plan.cells.iter().cloned());
    let plan = Plan {
        experiment: joined.experiment.clone(),
        cells: cells.collect(),
        ..first.plan.clone()
    };
    Manifest { plan, ..first.clone() }
}

impl StoredComparison {
    /// Returns the input of pages without what is read second by second.
    pub(super) fn input(&self) -> ReportInput<'_> {
        ReportInput {
            manifest: &self.manifest,
            runs: &self.study.joined.runs,
            intervals: &[],
            comparison: &self.study.analyzed.comparison,
            findings: &self.study.analyzed.findings,
            storage: &self.study.analyzed.storage,
            profiles: &[],
            damaged_profiles: &[],
        }
    }

    /// Returns the input with the intervals of every run, which are read once.
    pub(super) fn input_with_intervals(&self) -> Result<ReportInput<'_>> {
        if self.intervals.get().is_none() {
            let runs = self.study.joined.runs.iter();
            let read = runs.map(|run| {
                self.dir(&run.id).map_or(Ok(Vec::new()), |dir| dir.intervals(&run.cell.id))
            });
            let read = read.collect::<Result<Vec<_>, _>>().into_report()?;
            // Another request may have read them meanwhile.
            let _known = self.intervals.set(read);
        }
        let intervals = self.intervals.get().map_or(&[][..], Vec::as_slice);
        Ok(ReportInput { intervals, ..self.input() })
    }

    /// Returns the input with the profiles of the page, which are read once.
    pub(super) fn input_with_profiles(&self) -> Result<ReportInput<'_>> {
        if self.profiles.get().is_none() {
            let (runs, base) = (&self.study.joined.runs, &self.study.analyzed.comparison.base);
            let read = page_profiles(runs, base, |run| self.dir(&run.id));
            let read = PageProfiles { damage: read.damage(), stored: read.profiles };
            // Another request may have read them meanwhile.
            let _known = self.profiles.set(read);
        }
        let input = self.input();
        let Some(PageProfiles { stored, damage }) = self.profiles.get() else { return Ok(input) };
        Ok(ReportInput { profiles: stored, damaged_profiles: damage, ..input })
    }

    /// Returns the data of a chart, made once.
    pub(super) fn chart(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Option<Chart>>,
    ) -> Result<Option<String>> {
        let charts = || self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = charts().get(name) {
            return Ok(Some(text.clone()));
        }
        let Some(chart) = make()? else { return Ok(None) };
        let text = json(&chart);
        let mut charts = charts();
        if charts.len() >= CHARTS_MAX {
            charts.clear();
        }
        charts.insert(name.to_owned(), text.clone());
        Ok(Some(text))
    }

    /// Returns the experiment of a run.
    pub(super) fn dir(&self, run: &str) -> Option<&ExperimentDir> {
        let (experiment, _) = run.rsplit_once('/')?;
        let joined = &self.study.joined;
        let at = joined.manifests.iter().position(|manifest| manifest.id == experiment)?;
        joined.dirs.get(at)
    }
}
