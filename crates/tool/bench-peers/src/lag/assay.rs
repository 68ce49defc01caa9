//! Our program, as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};

use load::{Clock, SteadyClock};
use model::{IntervalRecord, Nanos, RunRecord, StepRecord};

use super::process;
use crate::task::{KEY_BYTES, ROWS, VALUE_BYTES};

/// The step that is offered a rate.
const STEP: &str = "readrandom";
/// Longest wait for the first measured seconds of a run.
const PATIENCE: Nanos = Nanos::from_secs(60);
/// How often it is looked whether they are there.
const LOOK: Nanos = Nanos::from_millis(20);

/// The program, and an experiment's own place.
pub(super) struct Assay {
    program: PathBuf,
    place: PathBuf,
}

impl Assay {
    /// Returns the program beside this one, or how it is made.
    pub(super) fn find(place: &Path) -> Result<Self, String> {
        let myself = std::env::current_exe().map_err(|error| error.to_string())?;
        let program = myself.with_file_name("assay");
        if !program.exists() {
            let remedy = "build it (cargo build --release --package assay)";
            return Err(format!("{} is not there: {remedy}", program.display()));
        }
        Ok(Self { program, place: place.to_owned() })
    }

    /// Reads at a rate for some seconds and returns what was measured.
    ///
    /// `pause` says for how long the worker is stopped, after two measured seconds.
    pub(super) fn read(
        &self,
        name: &str,
        (rate, seconds): (u32, u32),
        engine: &[&str],
        pause: Option<Nanos>,
    ) -> Result<StepRecord, String> {
        let place = self.place.join(name);
        if place.exists() {
            fs::remove_dir_all(&place).map_err(|error| error.to_string())?;
        }
        fs::create_dir(&place).map_err(|error| error.to_string())?;
        let mut words = vec![self.program.display().to_string(), "run".to_owned(), STEP.to_owned()];
        words.extend(engine.iter().map(|word| (*word).to_owned()));
        for (word, value) in [
            ("--rate", format!("{rate}/s")),
            ("--duration", format!("{seconds}s")),
            ("--clients", "1".to_owned()),
            ("--rows", ROWS.to_string()),
            ("--key-bytes", KEY_BYTES.to_string()),
            ("--value-bytes", VALUE_BYTES.to_string()),
        ] {
            words.extend([word.to_owned(), value]);
        }
        let child = process::start(&words, &place)?;
        if let Some(span) = pause {
            let worker = wait_for_worker(&place, child.id())?;
            process::pause(worker, span)?;
        }
        // Its answer is in the record, whether it calls the run complete or not.
        let printed = process::finish(child);
        let record = record(&place).ok_or_else(|| format!("assay left no record: {printed:?}"))?;
        let step = record.steps.into_iter().rfind(|step| step.step.name == STEP);
        step.ok_or_else(|| format!("assay left no {STEP}: {printed:?}"))
    }
}

/// Waits until two seconds are measured, and returns the worker's process.
fn wait_for_worker(place: &Path, parent: u32) -> Result<u32, String> {
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(PATIENCE);
    while measured_seconds(place) < 2 {
        if clock.now() > deadline {
            return Err(format!("assay measured nothing within {PATIENCE}"));
        }
        process::rest(LOOK);
    }
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let children = children.map_err(|error| error.to_string())?;
    let worker = children.split_whitespace().next().and_then(|word| word.parse().ok());
    worker.ok_or_else(|| "assay has no worker".to_owned())
}

fn measured_seconds(place: &Path) -> usize {
    let Some(text) = run_file(place, "intervals.jsonl") else { return 0 };
    let intervals = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    intervals
        .filter(|interval: &IntervalRecord| interval.step == STEP && !interval.is_warmup)
        .count()
}

fn record(place: &Path) -> Option<RunRecord> {
    serde_json::from_str(&run_file(place, "record.json")?).ok()
}

/// Returns a file of the only run of the only experiment below `place`.
fn run_file(place: &Path, name: &str) -> Option<String> {
    let only = |dir: &Path| {
        fs::read_dir(dir).ok()?.find_map(|entry| {
            let path = entry.ok()?.path();
            path.is_dir().then_some(path)
        })
    };
    let experiment = only(&only(&place.join("results"))?)?;
    fs::read_to_string(only(&experiment.join("runs"))?.join(name)).ok()
}
