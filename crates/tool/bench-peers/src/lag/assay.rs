//! Runs the `assay` program at a rate and reads its record.

use std::fs;
use std::path::{Path, PathBuf};

use load::{Clock, SteadyClock};
use model::{IntervalRecord, Nanos, RunRecord, StepRecord};

use super::process;
use crate::task::{KEY_BYTES, ROWS, VALUE_BYTES};

/// The step that is run at a rate.
const STEP: &str = "readrandom";
/// Longest wait for the first measured seconds of a run.
const TIMEOUT: Nanos = Nanos::from_secs(60);
/// Poll interval of that wait.
const POLL_INTERVAL: Nanos = Nanos::from_millis(20);

/// The program and its working directory.
pub(super) struct Assay {
    program: PathBuf,
    dir: PathBuf,
}

impl Assay {
    /// Returns the `assay` next to this program, or how to build it.
    pub(super) fn find(dir: &Path) -> Result<Self, String> {
        let myself = std::env::current_exe().map_err(|error| error.to_string())?;
        let program = myself.with_file_name("assay");
        if !program.exists() {
            let remedy = "build it (cargo build --release --package assay)";
            return Err(format!("{} is not there: {remedy}", program.display()));
        }
        Ok(Self { program, dir: dir.to_owned() })
    }

    /// Reads at a rate for some seconds and returns the record of the step.
    ///
    /// `pause` stops the worker for that long, after two measured seconds.
    pub(super) fn read(
        &self,
        name: &str,
        (rate, seconds): (u32, u32),
        engine: &[&str],
        pause: Option<Nanos>,
    ) -> Result<StepRecord, String> {
        let dir = self.dir.join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(|error| error.to_string())?;
        }
        fs::create_dir(&dir).map_err(|error| error.to_string())?;
        let mut args = vec![self.program.display().to_string(), "run".to_owned(), STEP.to_owned()];
        args.extend(engine.iter().map(|flag| (*flag).to_owned()));
        for (flag, value) in [
            ("--rate", format!("{rate}/s")),
            ("--duration", format!("{seconds}s")),
            ("--clients", "1".to_owned()),
            ("--rows", ROWS.to_string()),
            ("--key-bytes", KEY_BYTES.to_string()),
            ("--value-bytes", VALUE_BYTES.to_string()),
        ] {
            args.extend([flag.to_owned(), value]);
        }
        let child = process::start(&args, &dir)?;
        if let Some(span) = pause {
            let worker = wait_for_worker(&dir, child.id())?;
            process::pause(worker, span)?;
        }
        // The result is in the record, whatever the exit code.
        let printed = process::finish(child);
        let record = record(&dir).ok_or_else(|| format!("assay left no record: {printed:?}"))?;
        let step = record.steps.into_iter().rfind(|step| step.step.name == STEP);
        step.ok_or_else(|| format!("assay left no {STEP}: {printed:?}"))
    }
}

/// Waits until two seconds are measured, and returns the worker's process.
fn wait_for_worker(dir: &Path, parent: u32) -> Result<u32, String> {
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(TIMEOUT);
    while measured_seconds(dir) < 2 {
        if clock.now() > deadline {
            return Err(format!("assay measured nothing within {TIMEOUT}"));
        }
        process::rest(POLL_INTERVAL);
    }
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let children = children.map_err(|error| error.to_string())?;
    let worker = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    worker.ok_or_else(|| "assay has no worker".to_owned())
}

fn measured_seconds(dir: &Path) -> usize {
    let Some(text) = run_file(dir, "intervals.jsonl") else { return 0 };
    let intervals = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    intervals
        .filter(|interval: &IntervalRecord| interval.step == STEP && !interval.is_warmup)
        .count()
}

fn record(dir: &Path) -> Option<RunRecord> {
    serde_json::from_str(&run_file(dir, "record.json")?).ok()
}

/// Reads a file of the only run below `dir`.
fn run_file(dir: &Path, name: &str) -> Option<String> {
    let only = |dir: &Path| {
        fs::read_dir(dir).ok()?.find_map(|entry| {
            let path = entry.ok()?.path();
            path.is_dir().then_some(path)
        })
    };
    let experiment = only(&only(&dir.join("results"))?)?;
    fs::read_to_string(only(&experiment.join("runs"))?.join(name)).ok()
}
