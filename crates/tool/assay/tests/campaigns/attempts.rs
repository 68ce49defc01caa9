//! Stored attempts of an experiment, which no fault may lose or change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use archive::{read_intervals, read_record};
use model::{RunEnd, RunRecord};

use crate::sandbox::{NAME, Sandbox, output_text};

/// Stored attempts, by cell and start.
#[derive(Default)]
pub(crate) struct AttemptHistory {
    attempts: BTreeMap<(String, String), Attempt>,
}

/// One attempt at a cell.
struct Attempt {
    record: RunRecord,
    /// Every file, of a complete attempt.
    files: Option<BTreeMap<PathBuf, Vec<u8>>>,
}

impl AttemptHistory {
    /// Reads every attempt, through the program too, and compares with the last time.
    pub(crate) fn check(&mut self, sandbox: &Sandbox) {
        sandbox.result_of(&["list"]);
        self.read(sandbox);
        if sandbox.experiment().is_some() {
            check_readers(sandbox);
        }
    }

    /// Reads every attempt and compares with the last time.
    ///
    /// What was complete has the same bytes; what was not has the same steps, or more.
    pub(crate) fn read(&mut self, sandbox: &Sandbox) {
        let Some(dir) = sandbox.experiment() else {
            assert!(self.attempts.is_empty(), "the experiment is lost");
            return;
        };
        dir.manifest().expect("the manifest is readable");
        let mut now = BTreeMap::new();
        for place in ["runs", "attempts"] {
            for entry in fs::read_dir(dir.path().join(place)).into_iter().flatten() {
                let path = entry.expect("the directory is readable").path();
                if path.join("intervals.jsonl").exists() {
                    read_intervals(&path).expect("intervals are readable");
                }
                if path.join("record.json").exists() {
                    let record = read_record(&path).expect("a record is readable");
                    let files = record.end.is_complete().then(|| files(&path, &path));
                    let attempt = (record.cell.id.clone(), record.started_at.clone());
                    now.insert(attempt, Attempt { record, files });
                }
            }
        }
        for (name, Attempt { record: before, files }) in &self.attempts {
            let attempt = now.get(name).unwrap_or_else(|| panic!("{name:?} is lost"));
            let record = &attempt.record;
            assert!(record.steps.starts_with(&before.steps), "{name:?} lost a step");
            assert!(before.end == RunEnd::Running || record == before, "{name:?} was changed");
            if files.is_some() && attempt.files != *files {
                panic!("{name:?} has other files, or other bytes in them");
            }
        }
        self.attempts = now;
    }

    /// Checks that the experiment is complete, each cell by exactly one complete attempt with
    /// checksums, and that nothing half-written is left.
    pub(crate) fn check_complete(&mut self, sandbox: &Sandbox, cells: usize) {
        self.check(sandbox);
        let dir = sandbox.experiment().expect("it was run");
        let records = sandbox.records();
        assert_eq!(records.len(), cells);
        for cell in records.keys() {
            let attempts = self.attempts.iter().filter(|((of, _), _)| of == cell);
            let complete = attempts.filter(|(_, attempt)| attempt.record.end.is_complete()).count();
            assert_eq!(complete, 1, "{cell}");
        }
        let unchecked = dir.verify().expect("the files are readable").unchecked;
        let is_run = |path: &&PathBuf| !path.starts_with(dir.path().join("attempts"));
        assert_eq!(unchecked.iter().filter(is_run).count(), 0, "no checksums: {unchecked:?}");
        for place in [sandbox.path(""), sandbox.path("results"), dir.path().to_owned()] {
            let entries = fs::read_dir(&place).expect("it is readable").flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let is_left = |name: &String| name.starts_with(".assay-") || name.ends_with(".new");
            assert_eq!(names.filter(is_left).collect::<Vec<_>>(), Vec::<String>::new());
        }
    }

    /// Returns the number of attempts that are not complete.
    pub(crate) fn incomplete(&self) -> usize {
        let records = self.attempts.values().map(|attempt| &attempt.record);
        records.filter(|record| !record.end.is_complete()).count()
    }
}

/// Reads the experiment through the program: nothing ends in a panic, and checksums hold.
fn check_readers(sandbox: &Sandbox) {
    sandbox.result_of(&["list", NAME]);
    sandbox.result_of(&["show", NAME]);
    if sandbox.records().values().any(|record| !record.steps.is_empty()) {
        // 3: nothing that the experiment is about was measured yet.
        sandbox.result_of(&["compare", NAME]);
    }
    let output = sandbox.assay(&["verify", NAME]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "verify: {}", output_text(&output));
}

/// Returns the files below a directory of `root` with their bytes, by their names relative to it.
fn files(root: &Path, dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("it is readable") {
        let path = entry.expect("it is readable").path();
        // A replacement that a kill left unfinished is no part of the run.
        let is_replacement = path.extension().is_some_and(|extension| extension == "new");
        if path.is_dir() {
            found.extend(files(root, &path));
        } else if !is_replacement {
            let name = path.strip_prefix(root).expect("it is below").to_owned();
            found.insert(name, fs::read(&path).expect("it is readable"));
        }
    }
    found
}
