//! Reads a run's histogram logs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, LogEntry,
};
use model::histogram::{DIGITS, LONGEST_NS};

use crate::checksum::check_read;
use crate::error::ArchiveError;
use crate::layout::LOGS;
use crate::limits::FILE_BYTES_MAX;
use crate::regular::{self, check_run_dir};

/// Prefix of the tag of a line of the warm-up; older logs do not have it.
pub(crate) const WARMUP: &str = "warmup.";

/// The histogram logs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Response times, a line for each interval and kind of operation.
    Response,
    /// Service times, in the line order of the response times.
    Service,
    /// Start lag, a line for each interval of an open loop.
    StartLag,
    /// Ages of the arrivals that an open loop had not served at its end, a line for each step.
    Censored,
}

impl Log {
    /// Returns the file's name.
    pub(crate) const fn file(self) -> &'static str {
        LOGS[self as usize]
    }
}

/// One log of a run.
#[derive(Debug)]
pub struct HistogramLog {
    path: PathBuf,
    text: Vec<u8>,
}

impl HistogramLog {
    /// Reads a log of the run in `dir`; empty when absent.
    ///
    /// A last line torn by a kill is left out.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(dir: &Path, log: Log) -> Result<Self, ArchiveError> {
        let path = dir.join(log.file());
        let text = match whole_lines(&path) {
            Err(error) if error.is_absence() => Vec::new(),
            other => other?,
        };
        Ok(Self { path, text })
    }

    /// Returns its lines in order, an error for each invalid one.
    pub fn lines(&self) -> impl Iterator<Item = Result<LogLine<'_>, ArchiveError>> {
        IntervalLogIterator::new(&self.text).filter_map(|entry| match entry {
            Ok(LogEntry::Interval(line)) => Some(Ok(LogLine { log: self, line })),
            Ok(LogEntry::StartTime(_) | LogEntry::BaseTime(_)) => None,
            Err(error) => Some(Err(self.damaged(&format!("{error:?}")))),
        })
    }

    /// Returns the error for a damaged log.
    pub fn damaged(&self, reason: &str) -> ArchiveError {
        ArchiveError::Damaged(self.path.clone(), reason.to_owned())
    }
}

/// One line of a log.
#[derive(Debug)]
pub struct LogLine<'a> {
    log: &'a HistogramLog,
    line: IntervalLogHistogram<'a>,
}

impl LogLine<'_> {
    /// Returns its tag; see [`HistogramPlace`](crate::HistogramPlace).
    pub fn tag(&self) -> &str {
        self.line.tag().map_or("", |tag| tag.as_str())
    }

    /// Returns whether it is tagged as a line of the warm-up; older logs have no such tag.
    pub fn is_warmup(&self) -> bool {
        self.tag().starts_with(WARMUP)
    }

    /// Decodes its histogram, nanoseconds.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn histogram(&self) -> Result<Histogram<u64>, ArchiveError> {
        let damaged = |reason: String| self.log.damaged(&format!("{}: {reason}", self.tag()));
        decode_histogram(self.line.encoded_histogram()).map_err(damaged)
    }
}

/// Decodes a histogram of the common layout in base64, as logs and workers have it.
///
/// # Errors
/// A text when it is damaged, of another layout, or larger than any that was recorded.
pub fn decode_histogram(text: &str) -> Result<Histogram<u64>, String> {
    decode(&STANDARD.decode(text).map_err(|error| error.to_string())?)
}

/// First bytes of a compressed histogram. Source: [Tene 2012], `V2CompressedEncodingCookieBase`.
const COMPRESSED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
/// First bytes of a histogram. Source: [Tene 2012], `V2EncodingCookieBase`.
const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();
/// Bytes before the counts. Source: [Tene 2012], `V2maxWordSizeInBytes` and its header.
const HEAD_BYTES: usize = 40;
/// Most bytes of a histogram: each of the layout's 33,792 counts takes at most nine.
const HISTOGRAM_BYTES_MAX: u64 = 1 << 20;

/// Most bytes of a histogram for each compressed byte, beyond the first.
///
/// Runs of zeros are one count already: what is left compresses to a half, or to a tenth where the
/// counts are alike.
const PLAIN_PER_BYTE: u64 = 64;
/// Bytes that any histogram may have.
const PLAIN_BYTES_LEAST: u64 = 4096;

/// Most values of a histogram: 550 billion, far more than an interval has.
///
/// Sums of counts are not checked in the `hdrhistogram` crate: those of all lines of a log of 1 GiB
/// stay below 2^63.
const VALUES_MAX: u64 = 1 << 39;

/// Decodes a histogram of the common layout.
///
/// The `hdrhistogram` crate trusts the sizes in the header: a few bytes made it take 4 GiB.
fn decode(encoded: &[u8]) -> Result<Histogram<u64>, String> {
    let mut plain = Vec::new();
    match encoded.strip_prefix(&COMPRESSED).and_then(|rest| rest.get(4..)) {
        Some(body) => {
            let most = PLAIN_BYTES_LEAST + body.len() as u64 * PLAIN_PER_BYTE;
            let read =
                ZlibDecoder::new(body).take(most.min(HISTOGRAM_BYTES_MAX)).read_to_end(&mut plain);
            read.map_err(|error| error.to_string())?;
        }
        None => plain.extend_from_slice(encoded),
    }
    let counts_bytes = u32::try_from(plain.len().saturating_sub(HEAD_BYTES)).unwrap_or(u32::MAX);
    if !plain.starts_with(&head(counts_bytes)) {
        return Err("it is not a histogram of up to 1 h with 3 significant digits".to_owned());
    }
    let read = Deserializer::new().deserialize::<u64, _>(&mut plain.as_slice());
    let histogram = read.map_err(|error| error.to_string())?;
    // Their number is saturated where it overflows.
    match histogram.len() <= VALUES_MAX {
        true => Ok(histogram),
        false => Err("the histogram has more values than a run can count".to_owned()),
    }
}

/// Returns the bytes before the counts of a histogram of the common layout.
fn head(counts_bytes: u32) -> Vec<u8> {
    const NO_OFFSET: u32 = 0;
    const LOWEST: u64 = 1;
    const RATIO: f64 = 1.0;
    [
        &PLAIN[..],
        &counts_bytes.to_be_bytes(),
        &NO_OFFSET.to_be_bytes(),
        &u32::from(DIGITS).to_be_bytes(),
        &LOWEST.to_be_bytes(),
        &LONGEST_NS.to_be_bytes(),
        &RATIO.to_be_bytes(),
    ]
    .concat()
}

/// Reads a text of a run without its last lines, if those were torn by a kill or a power cut.
pub(crate) fn whole_lines(path: &Path) -> Result<Vec<u8>, ArchiveError> {
    let run = path.parent().unwrap_or(path);
    let read = check_run_dir(run).and_then(|()| regular::read(path, FILE_BYTES_MAX));
    let mut text = read.map_err(ArchiveError::read(path))?;
    check_read(path, &text);
    // A power cut leaves zeros in place of pages that were not on the disk.
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(end);
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    text.truncate(whole);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hdrhistogram::serialization::{Serializer as _, V2Serializer};
    use model::Nanos;

    use super::*;
    use crate::run::{HistogramPlace, RunWriter};

    fn times(ns: u64) -> Histogram<u64> {
        let mut times = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("bounds");
        times.record_n(ns, 7).expect("it is within the bounds");
        times
    }

    #[test]
    fn written_lines_are_read_and_a_torn_line_is_skipped() {
        let root = tempfile::tempdir().expect("a scratch directory");
        let mut writer = RunWriter::create(root.path().join("run")).expect("it is writable");
        for second in 0..3 {
            let place = HistogramPlace {
                tag: "1.readrandom.get",
                is_warmup: second == 0,
                start: Nanos::from_secs(second),
                length: Nanos::SECOND,
            };
            let response = times(1_000 + second);
            writer.append(Log::Response, &place, &response).expect("it is writable");
            writer.append(Log::Service, &place, &times(500)).expect("it is writable");
            writer.append(Log::Censored, &place, &response).expect("it is writable");
        }
        let run = root.path().join("run");
        let read = |log: Log| HistogramLog::read(&run, log).expect("it is readable");
        let response = read(Log::Response);
        let lines: Vec<_> = response.lines().map(|line| line.expect("whole")).collect();
        assert_eq!((lines.len(), lines[2].tag()), (3, "1.readrandom.get"));
        assert_eq!(lines[0].tag(), "warmup.1.readrandom.get");
        let is_warmup: Vec<_> = lines.iter().map(LogLine::is_warmup).collect();
        assert_eq!(is_warmup, [true, false, false]);
        assert_eq!(lines[2].histogram().expect("whole"), times(1_002));
        assert_eq!(read(Log::Censored).lines().count(), 3);
        assert_eq!(read(Log::StartLag).lines().count(), 0, "no open loop, no log");

        let path = run.join(Log::Service.file());
        let text = fs::read(&path).expect("it is readable");
        fs::write(&path, &text[..text.len() - 9]).expect("it is writable");
        assert_eq!(read(Log::Service).lines().count(), 2);
        let broken = String::from_utf8(text).expect("text").replace("HISTFAAAA", "HISTFXXXX");
        fs::write(&path, broken).expect("it is writable");
        let log = read(Log::Service);
        let error = log.lines().next().expect("a line").expect("a line").histogram().unwrap_err();
        assert!(
            error.to_string().contains("service.hlog is damaged: warmup.1.readrandom.get"),
            "{error}"
        );
    }

    /// Goal: a log cannot make its reader take memory, nor a histogram of another layout.
    #[test]
    fn a_histogram_of_another_layout_is_rejected() {
        let whole = [head(1), vec![2]].concat();
        assert_eq!(decode(&whole).expect("one count").len(), 1);
        let other = Histogram::<u64>::new_with_bounds(1, 2 * LONGEST_NS, DIGITS).expect("bounds");
        let mut of_other = Vec::new();
        V2Serializer::new().serialize(&other, &mut of_other).expect("memory takes it");
        for damaged in [head(u32::MAX), of_other, Vec::new(), COMPRESSED.to_vec()] {
            let reason = decode(&damaged).unwrap_err();
            assert_eq!(reason, "it is not a histogram of up to 1 h with 3 significant digits");
        }
    }

    /// Goal: counts whose sum overflows are damage, not a panic of who adds them.
    #[test]
    fn a_histogram_of_more_values_than_can_be_is_rejected() {
        let encoded = |counts: [u64; 2]| {
            let mut histogram =
                Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("bounds of the layout");
            for (value, count) in [5, 9].into_iter().zip(counts) {
                histogram.record_n(value, count).expect("within the bounds");
            }
            let mut bytes = Vec::new();
            V2Serializer::new().serialize(&histogram, &mut bytes).expect("memory takes it");
            bytes
        };
        assert_eq!(decode(&encoded([VALUES_MAX - 1, 1])).expect("it fits").len(), VALUES_MAX);
        let largest = i64::MAX.cast_unsigned();
        for counts in [[VALUES_MAX, 1], [largest; 2]] {
            let reason = decode(&encoded(counts)).unwrap_err();
            assert_eq!(reason, "the histogram has more values than a run can count");
        }
    }
}
