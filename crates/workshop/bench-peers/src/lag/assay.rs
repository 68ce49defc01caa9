//! Runs the `assay` program at a rate and reads its record.

use std::fs;
use std::path::Path;

use load::{Clock, SteadyClock};
use model::{IntervalRecord, Nanos, RunRecord, StepRecord};

use crate::ours::{KEY_BYTES, ROWS, VALUE_BYTES};
use crate::process::{self, Result};

/// The step that is run at a rate.
const STEP: &str = "readrandom";
/// Longest wait for the first measured seconds of a run.
const TIMEOUT: Nanos = Nanos::from_secs(60);
/// Poll interval of that wait.
const POLL_INTERVAL: Nanos = Nanos::from_millis(20);

/// Reads at a rate for some seconds below `dir` and returns the record of the step.
///
/// `pause` stops the worker for that long, after two measured seconds.
pub(super) fn read(
    dir: &Path,
    (rate, seconds): (u32, u32),
    engine: &[&str],
    pause: Option<Nanos>,
) -> Result<StepRecord> {
    let program = std::env::current_exe()?.with_file_name("assay");
    if !program.exists() {
        return Err("assay is not built (cargo build --release --package assay)".into());
    }
    let dir = tempfile::tempdir_in(dir)?;
    let dir = dir.path();
    let mut args = vec![program.display().to_string(), "run".to_owned(), STEP.to_owned()];
    args.extend(engine.iter().map(|arg| (*arg).to_owned()));
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
    let child = process::start(&args, dir)?;
    let paused =
        pause.map_or(Ok(()), |span| process::pause(wait_for_worker(dir, child.id())?, span));
    // The result is in the record, whatever the exit code.
    let printed = process::finish(child);
    paused?;
    let text = run_file(dir, "record.json");
    let record = text.and_then(|text| serde_json::from_str::<RunRecord>(&text).ok());
    let steps = record.map(|record| record.steps).unwrap_or_default();
    let step = steps.into_iter().rfind(|step| step.step.name == STEP);
    step.ok_or_else(|| format!("assay recorded no {STEP}: {printed:?}").into())
}

/// Waits until two seconds are measured, and returns the worker's process.
fn wait_for_worker(dir: &Path, parent: u32) -> Result<u32> {
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(TIMEOUT);
    while measured_seconds(dir) < 2 {
        if clock.now() > deadline {
            return Err(format!("assay measured nothing within {TIMEOUT}").into());
        }
        process::rest(POLL_INTERVAL);
    }
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))?;
    Ok(children.split_whitespace().next().ok_or("assay has no worker")?.parse()?)
}

fn measured_seconds(dir: &Path) -> usize {
    let text = run_file(dir, "intervals.jsonl").unwrap_or_default();
    let intervals =
        text.lines().filter_map(|line| serde_json::from_str::<IntervalRecord>(line).ok());
    intervals.filter(|interval| interval.step == STEP && !interval.is_warmup).count()
}

/// Reads a file of the only run below `dir`: `results/EXPERIMENT/ID/runs/RUN/NAME`.
fn run_file(dir: &Path, name: &str) -> Option<String> {
    let only = |dir: &Path| {
        let mut paths = fs::read_dir(dir).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        paths.find(|path| path.is_dir())
    };
    let experiment = only(&only(&dir.join("results"))?)?;
    fs::read_to_string(only(&experiment.join("runs"))?.join(name)).ok()
}
