//! One run's directory: `record.json`, `intervals.jsonl`, the histogram logs, the engine's files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use model::record::{RunEnd, SCHEMA};
use model::secret::masked;
use model::validity::SearchRecord;
use model::{IntervalRecord, Nanos, RunRecord};
use serde::de::DeserializeOwned;

use crate::checksum::{check_read, replace_sealed, sums_on_disk};
use crate::ended;
use crate::error::ArchiveError;
use crate::layout::{ENGINE, INTERVALS, RECORD, SEARCH, is_engine_file};
use crate::limits::JSON_BYTES_MAX;
use crate::log::{Log, WARMUP, whole_lines};
use crate::numbers::check_numbers;
use crate::regular::{self, Names, check_run_dir};
use crate::replace::{json, replace};

/// Header of a histogram log.
const LOG_HEAD: &[u8] = b"#[Histogram log format version 1.3]\n#[Values in nanoseconds]\n";

/// Writes one run as it happens.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    intervals: File,
    /// By [`Log`]; the last two are made when a step has an open loop.
    logs: [Option<File>; 4],
    /// Number of files below `engine/`, and their bytes.
    engine_files: usize,
    engine_bytes: u64,
}

/// The interval that a line of a histogram log covers.
#[derive(Debug, Clone, Copy)]
pub struct HistogramPlace<'a> {
    /// Tag of the line, without comma or space.
    ///
    /// `STEP-INDEX.STEP.[probeN.][writer.]KIND`; start lag and ages have no KIND.
    pub tag: &'a str,
    /// Whether the interval belongs to the warm-up: the tag in the file then begins with `warmup.`.
    pub is_warmup: bool,
    /// Start of the interval, relative to its step or probe.
    pub start: Nanos,
    /// Length of the interval.
    pub length: Nanos,
}

/// Returns the tag of a step, or of a probe of its search, in the histogram logs.
pub fn step_tag(index: u32, step: &str, probe: Option<u32>) -> String {
    let probe = probe.map_or(String::new(), |number| format!(".probe{number}"));
    format!("{index}.{step}{probe}")
}

impl RunWriter {
    /// Creates the run's directory and its empty files.
    ///
    /// # Errors
    /// When something cannot be created.
    pub fn create(dir: PathBuf) -> Result<Self, ArchiveError> {
        fs::create_dir_all(dir.join(ENGINE)).map_err(ArchiveError::write(&dir))?;
        let log = |log: Log| open(&dir.join(log.file()), LOG_HEAD).map(Some);
        Ok(Self {
            intervals: open(&dir.join(INTERVALS), b"")?,
            logs: [log(Log::Response)?, log(Log::Service)?, None, None],
            engine_files: 0,
            engine_bytes: 0,
            dir,
        })
    }

    /// Returns the run's directory.
    pub(crate) fn dir(&self) -> &Path {
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

    /// Appends one line of nanoseconds to a log in one write.
    ///
    /// Source: Tene, HdrHistogram, histogram log format 1.3 (V2 compressed payload, base64).
    ///
    /// # Errors
    /// When the file cannot be made or written.
    pub fn append(
        &mut self,
        log: Log,
        place: &HistogramPlace<'_>,
        histogram: &Histogram<u64>,
    ) -> Result<(), ArchiveError> {
        let path = self.dir.join(log.file());
        let file = match &mut self.logs[log as usize] {
            Some(file) => file,
            none => none.insert(open(&path, LOG_HEAD)?),
        };
        file.write_all(&encode(place, histogram)).map_err(ArchiveError::write(&path))
    }

    /// Stores a step's search so far, as `STEP-INDEX.STEP.search.json`.
    ///
    /// A finished step has it in its record too; of a step that was stopped or killed, this holds
    /// the results of its probes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_search(&self, step: &str, search: &SearchRecord) -> Result<(), ArchiveError> {
        replace(&self.dir.join(format!("{step}{SEARCH}")), &json(search))
    }

    /// Replaces the run's record, once the intervals and histograms of its steps are on the disk.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), ArchiveError> {
        let mut appended = [&self.intervals].into_iter().chain(self.logs.iter().flatten());
        appended.try_for_each(File::sync_data).map_err(ArchiveError::write(&self.dir))?;
        replace(&self.dir.join(RECORD), &json(record))?;
        // A figure that no reader accepts ends the experiment now, and not after the last run.
        read_record(&self.dir).map(drop)
    }

    /// Replaces the record of a run that has ended, together with the checksums of all its files.
    ///
    /// They are on the disk before, so a complete record has all that it is about. Nothing of the
    /// run may be written afterwards.
    ///
    /// # Errors
    /// When a file cannot be read or written: the run has not ended then.
    pub fn finish(&self, record: &RunRecord) -> Result<(), ArchiveError> {
        replace_sealed(&self.dir, RECORD, &json(record), sums_on_disk(&self.dir)?)?;
        ended::add(&self.dir)
    }

    /// Stores a text of the engine under `engine/`.
    ///
    /// # Errors
    /// When the file cannot be written, has no name of those in an experiment, or is one too many.
    pub fn keep_engine_text(&mut self, name: &str, text: &str) -> Result<(), ArchiveError> {
        let text = masked(text);
        let path = self.engine_file(name, text.len() as u64)?;
        let written = create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(ArchiveError::write(&path))
    }

    /// Copies an engine file (log, option file) to `engine/`, with `prefix` before its name.
    ///
    /// No link below `data`, the directory of the run's data, is followed. Of a file over 8 MiB,
    /// the middle is left out. A copy that fails is removed.
    ///
    /// # Errors
    /// When the file is not below `data`, cannot be read, is no regular file or has a second name,
    /// when its copy cannot be written, or is one too many.
    pub fn keep_engine_file(
        &mut self,
        data: &Path,
        from: &Path,
        prefix: &str,
    ) -> Result<(), ArchiveError> {
        let Some(name) = from.file_name() else { return Ok(()) };
        let opened = regular::open_below(data, from, Names::One);
        let opened = opened.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (bytes, source) = opened.map_err(ArchiveError::read(from))?;
        let name = format!("{prefix}{}", name.to_string_lossy());
        let path = self.engine_file(&name, bytes.min(ENGINE_FILE_BYTES_MAX))?;
        copy_ends(source, &path).map_err(|error| {
            // A full disk needs the room for the record.
            drop(fs::remove_file(&path));
            ArchiveError::write(&path)(error)
        })
    }

    /// Returns the place of an engine's file, whose name must be one that an import takes.
    fn engine_file(&mut self, name: &str, bytes: u64) -> Result<PathBuf, ArchiveError> {
        let path = self.dir.join(ENGINE).join(name);
        let refused = |reason: &str| Err(ArchiveError::write(&path)(io::Error::other(reason)));
        if !is_engine_file(name) {
            return refused("an engine file must not have this name");
        }
        let total_bytes = self.engine_bytes.saturating_add(bytes);
        if self.engine_files == ENGINE_FILES_MAX || total_bytes > ENGINE_BYTES_MAX {
            return refused("Assay stores at most 1,000 engine files with 64 MiB per run");
        }
        self.engine_files += 1;
        self.engine_bytes = total_bytes;
        Ok(path)
    }
}

/// Most files of an engine in one run: a hostile engine could report them for ever.
///
/// Our choice: each of the 100 steps of an experiment has up to three texts, loading included.
const ENGINE_FILES_MAX: usize = 1_000;
/// Most bytes of an engine's files in one run: half of what an import of a small file takes.
const ENGINE_BYTES_MAX: u64 = 64 << 20;
/// Largest engine file stored whole, in bytes.
///
/// Our choice: RocksDB's LOG of an hour has a few MiB, and its begin and end explain most.
const ENGINE_FILE_BYTES_MAX: u64 = 8 << 20;

/// Copies a file, or its begin and its end with a line between them.
fn copy_ends(mut source: File, to: &Path) -> io::Result<()> {
    let bytes = source.metadata()?.len();
    let mut copy = create(to)?;
    // It may grow meanwhile.
    io::copy(&mut (&source).take(ENGINE_FILE_BYTES_MAX.min(bytes) / 2), &mut copy)?;
    let left_out = bytes.saturating_sub(ENGINE_FILE_BYTES_MAX);
    if left_out > 0 {
        writeln!(copy, "\n[{left_out} bytes are left out here by assay]")?;
        source.seek_relative(i64::try_from(left_out).map_err(io::Error::other)?)?;
    }
    io::copy(&mut source.take(ENGINE_FILE_BYTES_MAX), &mut copy).map(drop)
}

/// Creates or empties a file; follows no link.
fn create(path: &Path) -> io::Result<File> {
    regular::open_as(path, OpenOptions::new().write(true).create(true).truncate(true))
}

/// Opens a file for appending, with these first bytes; follows no link.
fn open(path: &Path, head: &[u8]) -> Result<File, ArchiveError> {
    let opened = regular::open_as(path, OpenOptions::new().create(true).append(true));
    let mut file = opened.map_err(ArchiveError::write(path))?;
    file.write_all(head).map_err(ArchiveError::write(path))?;
    Ok(file)
}

/// Encodes one line of a histogram log.
fn encode(place: &HistogramPlace<'_>, histogram: &Histogram<u64>) -> Vec<u8> {
    let tag = format!("{}{}", if place.is_warmup { WARMUP } else { "" }, place.tag);
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    IntervalLogWriterBuilder::new()
        .begin_log_with(&mut text, &mut serializer)
        .and_then(|mut log| {
            let span = |nanos: Nanos| Duration::from_nanos(nanos.0);
            let (start, length) = (span(place.start), span(place.length));
            log.write_histogram(histogram, start, length, Tag::new(&tag))
                .map_err(|error| std::io::Error::other(format!("{error:?}")))
        })
        .expect("writing to memory does not fail");
    text
}

/// Reads a run's record from its directory; readings that count too little are left out.
///
/// # Errors
/// When the record is absent, damaged or newer than this program.
pub fn read_record(dir: &Path) -> Result<RunRecord, ArchiveError> {
    check_run_dir(dir).map_err(ArchiveError::read(dir))?;
    let path = dir.join(RECORD);
    let mut record = read_json(&path, |record: &RunRecord| record.schema)?;
    record.check().map_err(|reason| ArchiveError::Damaged(path, reason))?;
    record.remove_uncounted();
    Ok(record)
}

/// Reads a run's intervals; skips a torn last line.
///
/// # Errors
/// When the file cannot be read, or a whole line is not an interval.
pub fn read_intervals(dir: &Path) -> Result<Vec<IntervalRecord>, ArchiveError> {
    let path = dir.join(INTERVALS);
    let text = whole_lines(&path)?;
    let lines = (1..).zip(text.split_inclusive(|byte| *byte == b'\n'));
    let interval = |(number, line): (usize, &[u8])| {
        parse_interval(line).map_err(|reason| {
            ArchiveError::Damaged(path.clone(), format!("line {number}: {reason}"))
        })
    };
    lines.map(interval).collect()
}

/// Parses a line of the intervals.
pub(crate) fn parse_interval(line: &[u8]) -> Result<IntervalRecord, String> {
    let text = str::from_utf8(line).map_err(|error| error.to_string())?;
    check_numbers(text)?;
    let interval: IntervalRecord = serde_json::from_str(text).map_err(|error| error.to_string())?;
    interval.check()?;
    Ok(interval)
}

/// Reads how a run ended from its directory.
pub(crate) fn read_end(dir: &Path) -> Result<RunEnd, ArchiveError> {
    #[derive(serde::Deserialize)]
    struct RecordEnd {
        schema: u32,
        end: RunEnd,
    }
    check_run_dir(dir).map_err(ArchiveError::read(dir))?;
    let record = read_json(&dir.join(RECORD), |record: &RecordEnd| record.schema);
    record.map(|record| record.end)
}

/// Reads a JSON file whose `schema` this program knows.
pub(crate) fn read_json<T: DeserializeOwned>(
    path: &Path,
    schema_of: impl Fn(&T) -> u32,
) -> Result<T, ArchiveError> {
    let text = regular::read(path, JSON_BYTES_MAX).map_err(ArchiveError::read(path))?;
    check_read(path, &text);
    parse_json(path, &text, schema_of)
}

/// Parses the text of a JSON file whose `schema` this program knows.
pub(crate) fn parse_json<T: DeserializeOwned>(
    path: &Path,
    text: &[u8],
    schema_of: impl Fn(&T) -> u32,
) -> Result<T, ArchiveError> {
    #[derive(serde::Deserialize)]
    struct Shape {
        schema: u32,
    }
    let damaged = |reason: String| ArchiveError::Damaged(path.into(), reason);
    // Checked once, and not for every string.
    let text = str::from_utf8(text).map_err(|error| damaged(error.to_string()))?;
    // Before memory is taken for what it holds.
    let read: Result<T, String> = check_numbers(text)
        .and_then(|()| serde_json::from_str(text).map_err(|error| error.to_string()));
    // A newer file may not be readable at all; its schema number is the reason.
    let schema = match &read {
        Ok(value) => schema_of(value),
        Err(_) => serde_json::from_str::<Shape>(text).map_or(SCHEMA, |shape| shape.schema),
    };
    if schema > SCHEMA {
        return Err(ArchiveError::Schema(path.into(), schema, SCHEMA));
    }
    read.map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_an_engine_is_stored_among_those_of_its_run() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(dir.path().join("a.c1.r1")).unwrap();
        for name in ["../x", "../../x", "/tmp/x", "a/b", ".."] {
            let error = writer.keep_engine_text(name, "text").unwrap_err().to_string();
            assert!(error.contains("must not have this name"), "{name}: {error}");
        }
        writer.keep_engine_text("0.fillseq.txt", "text").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// Goal: a long log keeps its begin and end, a pipe or a link is refused and blocks nothing.
    #[test]
    fn an_engine_s_file_is_stored_within_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(dir.path().join("run")).unwrap();
        let (log, stored) = (dir.path().join("LOG"), dir.path().join("run/engine/LOG"));
        fs::write(&log, "a few lines\n").unwrap();
        writer.keep_engine_file(dir.path(), &log, "").unwrap();
        assert_eq!(fs::read_to_string(&stored).unwrap(), "a few lines\n");

        let half = "x".repeat(6 << 20);
        fs::write(&log, format!("begin{half}{half}end")).unwrap();
        writer.keep_engine_file(dir.path(), &log, "").unwrap();
        let text = fs::read_to_string(&stored).unwrap();
        assert!(text.starts_with("beginx") && text.ends_with("xend"));
        let left_out = (12 << 20) + 8 - ENGINE_FILE_BYTES_MAX;
        let line = format!("\n[{left_out} bytes are left out here by assay]\n");
        assert_eq!(text.len() as u64, ENGINE_FILE_BYTES_MAX + line.len() as u64);
        assert!(text.contains(&line));

        let (pipe, link) = (dir.path().join("pipe"), dir.path().join("link"));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        std::os::unix::fs::symlink(&log, &link).unwrap();
        for other in [&pipe, &link, &dir.path().join("run")] {
            let error = writer.keep_engine_file(dir.path(), other, "").unwrap_err();
            assert!(matches!(error, ArchiveError::Read(..)), "{error}");
        }
    }

    /// Goal: an engine that reports files for ever fills no disk.
    #[test]
    fn the_engine_s_files_of_a_run_are_limited() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(dir.path().join("run")).unwrap();
        let large = "x".repeat(usize::try_from(ENGINE_BYTES_MAX).unwrap() / 2);
        for name in ["a.txt", "b.txt"] {
            writer.keep_engine_text(name, &large).unwrap();
        }
        let error = writer.keep_engine_text("c.txt", "x").unwrap_err().to_string();
        assert!(error.contains("c.txt") && error.contains("at most 1,000"), "{error}");
        fs::write(dir.path().join("LOG"), "x").unwrap();
        writer.keep_engine_file(dir.path(), &dir.path().join("LOG"), "").unwrap_err();

        let mut writer = RunWriter::create(dir.path().join("other")).unwrap();
        for _ in 0..ENGINE_FILES_MAX {
            writer.keep_engine_text("a.txt", "").unwrap();
        }
        writer.keep_engine_text("a.txt", "").unwrap_err();
    }
}
