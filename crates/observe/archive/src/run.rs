//! One run's directory: `record.json`, `intervals.jsonl`, the histogram logs, the engine's files.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use model::record::{RunEnd, SCHEMA};
use model::validity::SearchRecord;
use model::{IntervalRecord, Manifest, Nanos, RunRecord};
use serde::de::DeserializeOwned;

use crate::error::ArchiveError;
use crate::log::Log;

/// File of the run's record.
pub(crate) const RECORD: &str = "record.json";
/// File of the intervals, one line each.
const INTERVALS: &str = "intervals.jsonl";

/// Header of a histogram log.
const LOG_HEAD: &[u8] = b"#[Histogram log format version 1.3]\n#[Values in nanoseconds]\n";

/// Writes one run as it happens.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    intervals: File,
    response: File,
    service: File,
    /// Present when a step had an open loop, as the next.
    start_lag: Option<File>,
    censored: Option<File>,
}

/// The interval that a line of a histogram log covers.
#[derive(Debug, Clone, Copy)]
pub struct HistogramPlace<'a> {
    /// Tag of the line, without comma or space.
    ///
    /// `STEP-INDEX.STEP.[probeN.][writer.]KIND`; start lag and ages have no KIND.
    pub tag: &'a str,
    /// Start of the interval, relative to its step or probe.
    pub start: Nanos,
    /// Length of the interval.
    pub length: Nanos,
}

/// One interval's times of one kind of operation, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Times<'a> {
    /// Response times.
    pub response: &'a Histogram<u64>,
    /// Service times.
    pub service: &'a Histogram<u64>,
}

impl RunWriter {
    /// Creates the run's directory and its empty files.
    ///
    /// # Errors
    /// When something cannot be created.
    pub fn create(dir: PathBuf) -> Result<Self, ArchiveError> {
        fs::create_dir_all(dir.join("engine")).map_err(ArchiveError::write(&dir))?;
        Ok(Self {
            intervals: open(&dir.join(INTERVALS), b"")?,
            response: open(&dir.join(Log::Response.file()), LOG_HEAD)?,
            service: open(&dir.join(Log::Service.file()), LOG_HEAD)?,
            start_lag: None,
            censored: None,
            dir,
        })
    }

    /// Returns the run's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Appends one interval in one write.
    ///
    /// # Errors
    /// When the file cannot be written.
    ///
    /// # Panics
    /// Never: an interval is always valid JSON.
    pub fn append_interval(&mut self, interval: &IntervalRecord) -> Result<(), ArchiveError> {
        let mut line = serde_json::to_vec(interval).expect("a record is always valid JSON");
        line.push(b'\n');
        self.intervals.write_all(&line).map_err(ArchiveError::write(&self.dir.join(INTERVALS)))
    }

    /// Appends one interval's times to both logs, each in one write.
    ///
    /// Source: Tene, HdrHistogram, histogram log format 1.3 (V2 compressed payload, base64).
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn append_times(
        &mut self,
        place: &HistogramPlace<'_>,
        times: &Times<'_>,
    ) -> Result<(), ArchiveError> {
        for (histogram, log) in
            [(times.response, &mut self.response), (times.service, &mut self.service)]
        {
            log.write_all(&encode(place, histogram)).map_err(ArchiveError::write(&self.dir))?;
        }
        Ok(())
    }

    /// Appends one interval's start lag, ns, to its log in one write.
    ///
    /// # Errors
    /// When the file cannot be made or written.
    pub fn append_start_lag(
        &mut self,
        place: &HistogramPlace<'_>,
        start_lag: &Histogram<u64>,
    ) -> Result<(), ArchiveError> {
        let path = self.dir.join(Log::StartLag.file());
        append(&mut self.start_lag, &path, &encode(place, start_lag))
    }

    /// Appends the ages, ns, of arrivals still waiting at the step's end.
    ///
    /// # Errors
    /// When the file cannot be made or written.
    pub fn append_censored(
        &mut self,
        place: &HistogramPlace<'_>,
        ages: &Histogram<u64>,
    ) -> Result<(), ArchiveError> {
        let path = self.dir.join(Log::Censored.file());
        append(&mut self.censored, &path, &encode(place, ages))
    }

    /// Stores a step's search so far, as `STEP-INDEX.STEP.search.json`.
    ///
    /// A finished step has it in its record too; of a step that was stopped or killed, this holds
    /// the results of its probes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_search(&self, step: &str, search: &SearchRecord) -> Result<(), ArchiveError> {
        replace_json(&self.dir.join(format!("{step}.search.json")), search)
    }

    /// Replaces the run's record.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), ArchiveError> {
        replace_json(&self.dir.join(RECORD), record)
    }

    /// Stores a text of the engine under `engine/`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_engine_text(&self, name: &str, text: &str) -> Result<(), ArchiveError> {
        let path = self.dir.join("engine").join(name);
        fs::write(&path, text).map_err(ArchiveError::write(&path))
    }

    /// Copies an engine file (log, option file) to `engine/`.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn keep_engine_file(&self, from: &Path) -> Result<(), ArchiveError> {
        let Some(name) = from.file_name() else { return Ok(()) };
        let path = self.dir.join("engine").join(name);
        fs::copy(from, &path).map(drop).map_err(ArchiveError::write(&path))
    }
}

/// Appends to a log that is created on first use.
fn append(log: &mut Option<File>, path: &Path, line: &[u8]) -> Result<(), ArchiveError> {
    let file = match log {
        Some(file) => file,
        none => none.insert(open(path, LOG_HEAD)?),
    };
    file.write_all(line).map_err(ArchiveError::write(path))
}

/// Opens a file for appending, with these first bytes.
fn open(path: &Path, head: &[u8]) -> Result<File, ArchiveError> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(ArchiveError::write(path))?;
    file.write_all(head).map_err(ArchiveError::write(path))?;
    Ok(file)
}

/// Encodes one line of a histogram log.
fn encode(place: &HistogramPlace<'_>, histogram: &Histogram<u64>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    IntervalLogWriterBuilder::new()
        .begin_log_with(&mut text, &mut serializer)
        .and_then(|mut log| {
            let (start, length) = (span(place.start), span(place.length));
            log.write_histogram(histogram, start, length, Tag::new(place.tag))
                .map_err(|error| std::io::Error::other(format!("{error:?}")))
        })
        .expect("writing to memory does not fail");
    text
}

const fn span(nanos: Nanos) -> Duration {
    Duration::from_nanos(nanos.0)
}

/// Reads a run's record from its directory.
///
/// # Errors
/// When the record is absent, damaged or newer than this program.
pub fn read_record(dir: &Path) -> Result<RunRecord, ArchiveError> {
    read_json(&dir.join(RECORD))
}

/// Reads a run's intervals; skips a torn last line.
///
/// # Errors
/// When the file cannot be read, or a whole line is not an interval.
pub fn read_intervals(dir: &Path) -> Result<Vec<IntervalRecord>, ArchiveError> {
    let path = dir.join(INTERVALS);
    let mut reader = BufReader::new(File::open(&path).map_err(ArchiveError::read(&path))?);
    let mut intervals = Vec::new();
    let mut line = String::new();
    loop {
        line.clear();
        let bytes = reader.read_line(&mut line).map_err(ArchiveError::read(&path))?;
        if bytes == 0 || !line.ends_with('\n') {
            return Ok(intervals);
        }
        let interval = serde_json::from_str(&line).map_err(|error| ArchiveError::Damaged {
            path: path.clone(),
            reason: format!("line {}: {error}", intervals.len() + 1),
        })?;
        intervals.push(interval);
    }
}

/// Writes a temporary JSON file, syncs it and renames it over the old one.
pub(crate) fn replace_json<T: serde::Serialize>(
    path: &Path,
    value: &T,
) -> Result<(), ArchiveError> {
    let fresh = path.with_extension("json.new");
    let text = serde_json::to_vec_pretty(value).expect("a record is always valid JSON");
    let write = || {
        let mut file = File::create(&fresh)?;
        file.write_all(&text)?;
        file.sync_data()?;
        fs::rename(&fresh, path)
    };
    write().map_err(ArchiveError::write(path))
}

/// A JSON file of the archive with a schema number.
pub(crate) trait Versioned: DeserializeOwned {
    /// Returns the schema it was written with.
    fn schema(&self) -> u32;
}

impl Versioned for RunRecord {
    fn schema(&self) -> u32 {
        self.schema
    }
}

impl Versioned for Manifest {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// The fields of a record that a listing needs.
#[derive(serde::Deserialize)]
pub(crate) struct RecordEnd {
    schema: u32,
    pub(crate) end: RunEnd,
}

impl Versioned for RecordEnd {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// The field common to all JSON files of the archive.
#[derive(serde::Deserialize)]
struct Shape {
    schema: u32,
}

/// Reads how a run ended from its directory.
pub(crate) fn read_end(dir: &Path) -> Result<RunEnd, ArchiveError> {
    read_json::<RecordEnd>(&dir.join(RECORD)).map(|record| record.end)
}

/// Reads a JSON file whose `schema` this program knows.
pub(crate) fn read_json<T: Versioned>(path: &Path) -> Result<T, ArchiveError> {
    let text = fs::read(path).map_err(ArchiveError::read(path))?;
    let read: Result<T, _> = serde_json::from_slice(&text);
    // A newer file may not be readable at all; its schema number is the reason.
    let schema = match &read {
        Ok(value) => value.schema(),
        Err(_) => serde_json::from_slice::<Shape>(&text).map_or(SCHEMA, |shape| shape.schema),
    };
    if schema > SCHEMA {
        let found = u64::from(schema);
        return Err(ArchiveError::Schema { path: path.into(), found, known: SCHEMA });
    }
    read.map_err(|error| ArchiveError::Damaged { path: path.into(), reason: error.to_string() })
}
