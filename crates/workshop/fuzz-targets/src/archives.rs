//! Targets of the archive: manifest, record, intervals, histogram logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use archive::{HistogramLog, Log, read_record};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Nanos;
use tempfile::TempDir;

use crate::report::report;

/// The cells of [`Files::default`]: the second gets the bytes of a target.
const CELLS: [&str; 2] = ["one.c2.r1", "two.c2.r1"];

/// An experiment of two runs, as the program wrote it.
struct Files<'a> {
    manifest: &'a [u8],
    record: &'a [u8],
    intervals: &'a [u8],
    log: &'a [u8],
}

/// Includes a committed seed.
macro_rules! seed {
    ($path:literal) => {
        include_bytes!(concat!("../../../../fuzz/seeds/", $path))
    };
}
pub(crate) use seed;

impl Default for Files<'_> {
    fn default() -> Self {
        Self {
            manifest: seed!("manifest/pair"),
            record: seed!("record/two"),
            intervals: seed!("intervals/two"),
            log: seed!("hlog/two"),
        }
    }
}

impl Files<'_> {
    /// Writes the archive of both runs.
    fn write(&self) -> TempDir {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let whole = Self::default();
        write(&dir.path().join("manifest.json"), self.manifest);
        for (cell, files) in CELLS.into_iter().zip([&whole, self]) {
            let run = dir.path().join("runs").join(cell);
            fs::create_dir_all(&run).expect("the scratch directory is writable");
            let record = if cell == CELLS[0] { seed!("record/one") } else { files.record };
            write(&run.join("record.json"), record);
            write(&run.join("intervals.jsonl"), files.intervals);
            for log in ["response.hlog", "service.hlog", "start_lag.hlog", "censored.hlog"] {
                write(&run.join(log), files.log);
            }
        }
        dir
    }
}

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("the scratch directory is writable");
}

/// A manifest, through every report.
pub(crate) fn manifest(data: &[u8]) {
    report(Files { manifest: data, ..Files::default() }.write().path());
}

/// A record next to that of another variant, through every report.
pub(crate) fn record(data: &[u8]) {
    report(Files { record: data, ..Files::default() }.write().path());
}

/// The intervals of a run, through every report and the trim of its warm-up.
pub(crate) fn intervals(data: &[u8]) {
    let dir = Files { intervals: data, ..Files::default() }.write();
    trim(dir.path());
    report(dir.path());
}

/// The histogram logs of a run, through the trim of its warm-up.
pub(crate) fn hlog(data: &[u8]) {
    trim(Files { log: data, ..Files::default() }.write().path());
}

/// A decoded histogram, in every line of the logs of a run.
///
/// The logs have it compressed and in base64, which mutated bytes never pass.
pub(crate) fn histogram(data: &[u8]) {
    let encoded = STANDARD.encode(data);
    let text = str::from_utf8(seed!("hlog/two")).expect("a log is text");
    let mut log = String::new();
    for line in text.lines() {
        match line.rsplit_once(',') {
            Some((before, _)) if !line.starts_with('#') => {
                log += &format!("{before},{encoded}\n");
            }
            _ => log += &format!("{line}\n"),
        }
    }
    trim(Files { log: log.as_bytes(), ..Files::default() }.write().path());
}

/// Decodes every log of the second run, and trims a second of its steps.
fn trim(dir: &Path) {
    let run = dir.join("runs").join(CELLS[1]);
    for log in [Log::Response, Log::Service, Log::StartLag, Log::Censored] {
        let log = HistogramLog::read(&run, log).expect("the log was just written");
        for line in log.lines() {
            match line.and_then(|line| line.histogram()) {
                Ok(histogram) => drop(histogram.value_at_quantile(0.99)),
                Err(error) => drop(error.to_string()),
            }
        }
    }
    let record = read_record(&run).expect("the record is the program's own");
    let trims: BTreeMap<u32, Nanos> =
        record.steps.iter().map(|step| (step.index, Nanos::SECOND)).collect();
    if let Err(error) = archive::trim_warmup(&run, record, &trims) {
        drop(error.to_string());
    }
}
