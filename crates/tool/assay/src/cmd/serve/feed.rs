//! The events of an experiment in progress, from the files that its runs append to.

use std::collections::BTreeMap;

use analysis::interval_operations;
use archive::{ArchiveError, ExperimentDir, HeldLocks, IntervalTail, Results};
use model::record::RunEnd;
use model::{IntervalRecord, Label, Manifest, RunRecord, float};
use render::{headline, step_sentences};
use serde::Serialize;
use serve::{Event, Feed};

use super::json::json;
use super::shelf::Selected;
use crate::cmd::analyzed::Study;
use crate::cmd::selected::JoinedResults;
use crate::cmd::steady::Window;

/// Follows an experiment's runs.
pub(super) struct RunFeed {
    selected: Selected,
    results: Results,
    pub(super) manifest: Manifest,
    /// How finished runs ended, by cell.
    ended: BTreeMap<String, RunState>,
    current: Option<Current>,
    verdict: Option<VerdictState>,
    progress: ProgressState,
    /// Whether a process held the lock of the experiment at the last poll.
    had_lock: bool,
    is_over: bool,
}

/// The run in hand.
struct Current {
    cell: String,
    tail: IntervalTail,
    /// The seconds of its step in hand.
    seconds: Vec<Second>,
}

/// A second of a step.
#[derive(Debug, Clone, Serialize)]
struct Second {
    run: String,
    step: String,
    step_index: u32,
    at_s: f64,
    per_s: f64,
    p50_ns: u64,
    p99_ns: u64,
    lag_ns: Option<u64>,
    invalid: Option<String>,
    is_warmup: bool,
}

/// A run that ended.
#[derive(Debug, Clone, Serialize)]
struct RunState {
    id: String,
    end: String,
    is_complete: bool,
}

/// The verdict so far.
#[derive(Debug, Clone, Serialize)]
struct VerdictState {
    label: Label,
    headline: String,
    sentences: Vec<String>,
    is_preliminary: bool,
}

/// How far the experiment is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct ProgressState {
    done: usize,
    planned: usize,
    left_s: f64,
    run: Option<String>,
    step: Option<String>,
}

/// Everything that a browser that comes has missed.
#[derive(Serialize)]
struct Snapshot<'a> {
    experiment: &'a str,
    id: &'a str,
    #[serde(flatten)]
    progress: &'a ProgressState,
    seconds: &'a [Second],
    runs: Vec<&'a RunState>,
    verdict: &'a Option<VerdictState>,
}

impl RunFeed {
    /// Returns the feed of an experiment; `None` when its manifest cannot be read.
    pub(super) fn of(selected: Selected, results: &Results) -> Option<Self> {
        let mut feed = Self::before_runs(selected, results).ok()?;
        feed.poll();
        Some(feed)
    }

    /// Returns the feed before the first run.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub(super) fn before_runs(selected: Selected, results: &Results) -> Result<Self, ArchiveError> {
        let manifest = selected.dir.manifest()?;
        Ok(Self {
            selected,
            results: results.clone(),
            manifest,
            ended: BTreeMap::new(),
            current: None,
            verdict: None,
            progress: ProgressState::default(),
            had_lock: false,
            is_over: false,
        })
    }

    pub(super) fn dir(&self) -> &ExperimentDir {
        &self.selected.dir
    }

    /// Returns the events of runs that have ended since; finds the run in hand.
    fn follow_runs(&mut self, is_written: bool) -> Vec<Event> {
        let (mut events, mut current) = (Vec::new(), None);
        let cells = self.manifest.plan.cells.iter().map(|cell| cell.id.clone());
        for cell in cells.collect::<Vec<_>>() {
            let known = self.ended.get(&cell);
            if known.is_some_and(|known| known.is_complete) {
                continue;
            }
            match self.dir().run(&cell) {
                Ok(Some(run)) if !(is_written && run.end == RunEnd::Running) => {
                    if known.is_none_or(|known| known.end != run.end.phrase()) {
                        events.push(self.end_run(&run));
                    }
                }
                Ok(None) if !self.dir().run_dir(&cell).exists() => {}
                // A record that is damaged belongs to a run that has ended; others go on.
                Ok(_) => current = Some(cell),
                Err(_) => {}
            }
        }
        match current {
            Some(cell) if self.current.as_ref().is_some_and(|it| it.cell == cell) => {}
            Some(cell) => {
                // It may be the repetition of a run that was stopped.
                self.ended.remove(&cell);
                self.begin_run(&cell);
            }
            None => self.current = None,
        }
        events
    }

    fn complete_runs(&self) -> usize {
        self.ended.values().filter(|run| run.is_complete).count()
    }

    /// Makes a run the one in hand.
    pub(super) fn begin_run(&mut self, cell: &str) {
        let tail = self.dir().tail(cell);
        self.current = Some(Current { tail, cell: cell.to_owned(), seconds: Vec::new() });
    }

    /// Adds a run to those that have ended; returns its event.
    pub(super) fn end_run(&mut self, run: &RunRecord) -> Event {
        let id = run.cell.id.clone();
        self.current.take_if(|current| current.cell == id);
        let (end, is_complete) = (run.end.phrase(), run.end.is_complete());
        let state = RunState { id: id.clone(), end, is_complete };
        let event = event("run", &state);
        self.ended.insert(id, state);
        event
    }

    /// Returns the events of the seconds since.
    fn follow_seconds(&mut self) -> Vec<Event> {
        if self.current.is_some() {
            self.dir().mark_watched();
        }
        let Some(current) = &mut self.current else { return Vec::new() };
        let intervals = current.tail.read().unwrap_or_default();
        intervals.iter().filter_map(|interval| self.follow_second(interval)).collect()
    }

    /// Returns the event of a second of the run in hand, if the plan has its step.
    pub(super) fn follow_second(&mut self, interval: &IntervalRecord) -> Option<Event> {
        let Current { cell, seconds, .. } = self.current.as_mut()?;
        let step = self.manifest.plan.experiment.steps.get(interval.step_index as usize)?;
        let second = second(cell, interval, interval_operations(step, interval));
        if seconds.last().is_some_and(|last| last.step_index != second.step_index) {
            seconds.clear();
        }
        let event = event("second", &second);
        seconds.push(second);
        Some(event)
    }

    pub(super) fn follow_progress(&mut self) -> Option<Event> {
        let (done, planned) = (self.complete_runs(), self.manifest.plan.cells.len());
        let share = float(planned - done) / float(planned.max(1));
        let progress = ProgressState {
            done,
            planned,
            left_s: self.manifest.plan.estimated_ns.as_secs_f64() * share,
            run: self.current.as_ref().map(|it| it.cell.clone()),
            step: self.current.as_ref().and_then(|it| Some(it.seconds.last()?.step.clone())),
        };
        if progress == self.progress {
            return None;
        }
        self.progress = progress;
        Some(event("progress", &self.progress))
    }

    /// Compares the runs so far; none before two variants have one.
    pub(super) fn follow_verdict(&mut self) -> Option<Event> {
        let name = self.dir().path().display().to_string();
        let mut joined = JoinedResults::of(&self.results, &[name], Window::default()).ok()?;
        joined.runs.retain(|run| self.ended.contains_key(&run.cell.id));
        let mut study = Study::of(joined, None, &self.results).ok()?;
        study.meta.selection = vec![self.selected.name()];
        let compared = study.compared();
        self.verdict = Some(VerdictState {
            label: compared.label(),
            headline: headline(&compared),
            sentences: step_sentences(&compared),
            is_preliminary: self.complete_runs() < self.manifest.plan.cells.len(),
        });
        Some(event("verdict", &self.verdict))
    }
}

impl Feed for RunFeed {
    fn snapshot(&mut self) -> Event {
        let experiment = &self.manifest.plan.experiment;
        let seconds = self.current.as_ref().map_or(&[][..], |it| &it.seconds);
        event(
            "snapshot",
            &Snapshot {
                experiment: &experiment.name,
                id: &self.manifest.id,
                progress: &self.progress,
                seconds,
                runs: self.ended.values().collect(),
                verdict: &self.verdict,
            },
        )
    }

    fn poll(&mut self) -> Vec<Event> {
        // Read before the files: what a writer that has ended left is found now.
        let has_lock = HeldLocks::read().writer(self.dir()).is_some();
        // One missed lock is not the end of a run.
        let is_written = has_lock || self.had_lock;
        self.had_lock = has_lock;
        let mut events = self.follow_runs(is_written);
        let has_ended_runs = !events.is_empty();
        events.extend(self.follow_seconds());
        events.extend(self.follow_progress());
        if has_ended_runs {
            events.extend(self.follow_verdict());
        }
        self.is_over = !is_written;
        events
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn event(kind: &'static str, data: &impl Serialize) -> Event {
    Event { kind, data: json(data) }
}

fn second(run: &str, interval: &IntervalRecord, operations: u64) -> Second {
    let slowest = interval.clients.values().max_by_key(|summary| summary.response.p99_ns);
    Second {
        run: run.to_owned(),
        step: interval.step.clone(),
        step_index: interval.step_index,
        at_s: interval.start_ns.after(interval.length_ns).as_secs_f64(),
        per_s: float(operations) / interval.length_ns.as_secs_f64().max(1e-9),
        p50_ns: slowest.map_or(0, |summary| summary.response.p50_ns),
        p99_ns: slowest.map_or(0, |summary| summary.response.p99_ns),
        lag_ns: interval.start_lag.as_ref().map(|lag| lag.p99_ns),
        invalid: interval.invalid.as_ref().map(|why| why.cause.phrase().to_owned()),
        is_warmup: interval.is_warmup,
    }
}
