//! Storage measurements: rates and response times of a device.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::names::names;
use crate::units::Bytes;

/// Schema of [`DeviceRecord`].
pub const DEVICE_SCHEMA: u32 = 1;

/// How the storage is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// The block device itself, with `O_DIRECT`.
    Raw,
    /// A file opened with `O_DIRECT`.
    Direct,
    /// A file read and written through the page cache.
    Buffered,
}

names!(Access, "an access": Raw "raw", Direct "direct", Buffered "buffered");

/// The kind of requests of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IoPattern {
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential writes, a region per job.
    Write,
    /// Random reads (70 %) and writes.
    RandRw,
    /// Sequential writes, each followed by `fdatasync`.
    Fdatasync,
}

names!(IoPattern, "a kind of requests":
    RandRead "randread", RandWrite "randwrite", Write "write", RandRw "randrw",
    Fdatasync "fdatasync");

/// A test of storage: requests of one kind and size, written `randread-4k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IoTest {
    /// The kind of requests.
    pub pattern: IoPattern,
    /// Size of a request in bytes: a power of two, 512 to 1 MiB.
    pub block_bytes: u32,
}

impl IoTest {
    /// Random reads of 4 KiB.
    pub const RANDREAD_4K: Self = Self::of(IoPattern::RandRead, 4 << 10);
    /// Random reads of 16 KiB.
    pub const RANDREAD_16K: Self = Self::of(IoPattern::RandRead, 16 << 10);
    /// Sequential writes of 4 KiB, each followed by `fdatasync`.
    pub const FDATASYNC_4K: Self = Self::of(IoPattern::Fdatasync, 4 << 10);

    /// The tests of a whole profile.
    pub const PROFILE: [Self; 6] = [
        Self::RANDREAD_4K,
        Self::RANDREAD_16K,
        Self::of(IoPattern::RandWrite, 4 << 10),
        Self::of(IoPattern::Write, 128 << 10),
        Self::of(IoPattern::RandRw, 4 << 10),
        Self::FDATASYNC_4K,
    ];

    const fn of(pattern: IoPattern, block_bytes: u32) -> Self {
        Self { pattern, block_bytes }
    }

    /// Returns whether nothing is written.
    pub const fn is_read_only(self) -> bool {
        matches!(self.pattern, IoPattern::RandRead)
    }
}

impl DeviceSpec {
    /// Returns the size of the file.
    pub fn file_bytes(&self) -> Bytes {
        self.size_bytes.unwrap_or(Bytes(4 << 30))
    }
}

impl fmt::Display for IoTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = match self.block_bytes {
            bytes if bytes >= 1 << 20 => format!("{}m", bytes >> 20),
            bytes if bytes >= 1 << 10 => format!("{}k", bytes >> 10),
            bytes => bytes.to_string(),
        };
        f.pad(&format!("{}-{size}", self.pattern))
    }
}

impl FromStr for IoTest {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let test = || {
            let (pattern, size) = text.rsplit_once('-')?;
            let digits = size.trim_end_matches(['k', 'm']);
            let shift = match &size[digits.len()..] {
                "" => 0,
                "k" => 10,
                "m" => 20,
                _ => return None,
            };
            let block_bytes = digits.parse::<u32>().ok()?.checked_mul(1 << shift)?;
            let is_size = block_bytes.is_power_of_two() && (512..=1 << 20).contains(&block_bytes);
            Some(Self { pattern: pattern.parse().ok().filter(|_| is_size)?, block_bytes })
        };
        test().ok_or_else(|| {
            let patterns = IoPattern::ALL.map(IoPattern::name).join(", ");
            format!(
                "`{text}` is not a test: write one of {patterns} with a size from 512 to 1m, a \
                 power of two, such as randread-4k"
            )
        })
    }
}

impl TryFrom<String> for IoTest {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<IoTest> for String {
    fn from(test: IoTest) -> Self {
        test.to_string()
    }
}

/// What an experiment on storage measures, beyond its variants, steps and clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// Block device that the raw variant reads; `None` leaves that variant out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Size of the file, and of the range of the device; `None` for 4 GiB and the whole device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
    /// Whether the file is filled before anything is read from it.
    pub is_filled: bool,
}

/// Name of the program that makes the requests, as the engine of variants.
pub const FIO: &str = "fio";

/// Completed requests of one direction, with their response times as fio reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct IoTotals {
    /// Requests completed, >= 1.
    pub requests: u64,
    /// Bytes of these requests; 0 for syncs.
    pub bytes: u64,
    /// Requests per second.
    pub per_s: f64,
    /// Mean response time.
    pub mean_ns: f64,
    /// Median response time.
    pub p50_ns: u64,
    /// 99th percentile of the response time.
    pub p99_ns: u64,
    /// The other percentiles; `None` in older profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherPercentiles>,
}

/// Percentiles of response times beyond median and 99th, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherPercentiles {
    /// 90 %.
    pub p90_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// 99.99 %.
    pub p9999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// CPU of one run of fio, all jobs together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IoCpu {
    /// User CPU, in microseconds.
    pub user_us: f64,
    /// Kernel CPU, in microseconds.
    pub kernel_us: f64,
}

/// Growth of a block device's counters during one run of fio.
///
/// They count requests of all programs. Source: Linux, Documentation/block/stat.rst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IssuedRequests {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Reads merged into another before they were issued.
    pub read_merges: u64,
    /// Time of all reads from the block layer's queue to completion, in milliseconds.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Writes merged into another before they were issued.
    pub write_merges: u64,
    /// Time of all writes from the block layer's queue to completion, in milliseconds.
    pub write_ms: u64,
    /// Flushes completed; `None` before Linux 5.5.
    pub flushes: Option<u64>,
    /// Time of all flushes, in milliseconds.
    pub flush_ms: Option<u64>,
}

/// One run of fio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct IoSample {
    /// Reads, if any completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<IoTotals>,
    /// Writes, if any completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<IoTotals>,
    /// Syncs, if any completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<IoTotals>,
    /// What the block layer counted; `None` where the file system has no device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<IssuedRequests>,
    /// The CPU that it took; `None` in older profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<IoCpu>,
}

/// Mean times of the requests of one run, from the block layer's tracepoints.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TracedTimes {
    /// Requests traced, neither merged nor split, >= 1.
    pub requests: u64,
    /// From entering the block layer until it is given to the device.
    pub queue_ns: f64,
    /// From there to its completion.
    pub device_ns: f64,
}

/// A run of fio with the tracer on; it is not one of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TracedRun {
    /// Mean response time that fio measured.
    pub mean_ns: f64,
    /// Where it went.
    pub times: TracedTimes,
}

/// One test at one access and number of jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceCell {
    /// How the storage was accessed.
    pub access: Access,
    /// The requests.
    pub test: IoTest,
    /// Jobs at once, each with one request outstanding, >= 1.
    pub jobs: u32,
    /// The job file of the first repetition.
    pub job_file: String,
    /// One per repetition.
    pub samples: Vec<IoSample>,
    /// The run with the tracer on, where it was possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<TracedRun>,
    /// Why it could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// What was read and written: a file or a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceTarget {
    /// Directory of the file, or the device: `/data`, `/dev/sdb`.
    pub path: String,
    /// Whether it is a block device and not a file.
    pub is_raw: bool,
    /// Name of the block device, if there is one: `vda`.
    pub device: Option<String>,
    /// Kind of the file system: `ext4`.
    pub filesystem: Option<String>,
    /// The range tested.
    pub size_bytes: Bytes,
    /// Share of the range that was never written, 0 to 1; `None` when unknown.
    pub never_written: Option<f64>,
    /// How that share was found, or why it is unknown.
    pub never_written_by: String,
    /// Settings of the device's queue by name, as the kernel writes them.
    pub queue: Vec<(String, String)>,
}

/// Rounds of random writes at one level of fullness.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyLevel {
    /// How full the device or file system was, as a share.
    pub full: f64,
    /// The range written.
    pub size_bytes: Bytes,
    /// Writes per second of each round.
    pub writes_per_s: Vec<f64>,
    /// Length of a round, in seconds.
    pub round_s: u64,
    /// Bytes written at this level, with the fill.
    pub written_bytes: Bytes,
    /// Whether the last rounds were steady.
    pub is_steady: bool,
    /// Why it ended.
    pub ended: String,
}

/// A measured profile of storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceRecord {
    /// [`DEVICE_SCHEMA`].
    pub schema: u32,
    /// Identifier: UTC stamp and four digits.
    pub id: String,
    /// When it was begun, UTC, RFC 3339.
    pub created_at: String,
    /// Version of Assay.
    pub assay_version: String,
    /// Version of fio.
    pub fio_version: String,
    /// The machine.
    pub host: Host,
    /// What was read and written.
    pub targets: Vec<DeviceTarget>,
    /// Length of one run of fio, in seconds.
    pub run_s: u64,
    /// Planned repetitions.
    pub repetitions: u32,
    /// The cells, by access, test and number of jobs.
    pub cells: Vec<DeviceCell>,
    /// Why no run was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untraced: Option<String>,
    /// Levels of the mode that writes until the rate is steady.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<SteadyLevel>,
    /// Whether all planned runs were made.
    pub is_complete: bool,
}

impl DeviceRecord {
    /// Returns the target of an access.
    pub fn target(&self, access: Access) -> Option<&DeviceTarget> {
        self.targets.iter().find(|target| target.is_raw == (access == Access::Raw))
    }

    /// Returns whether both are profiles of the same storage on the same class of host.
    ///
    /// Response times depend on the range: one of another size is another profile.
    pub fn is_same_storage(&self, other: &Self) -> bool {
        let key = |target: &DeviceTarget| {
            (target.is_raw, target.device.clone(), target.filesystem.clone(), target.size_bytes)
        };
        let keys = |record: &Self| record.targets.iter().map(key).collect::<Vec<_>>();
        self.host.is_same_machine(&other.host) && keys(self) == keys(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_by_its_requests_and_their_size() {
        for name in ["randread-512", "randread-4k", "write-128k", "randread-1m"] {
            assert_eq!(name.parse::<IoTest>().map(|test| test.to_string()), Ok(name.to_owned()));
        }
        for wrong in ["randread", "randread-3k", "randread-256", "randread-2m", "read-4k", "-", ""]
        {
            assert!(
                wrong.parse::<IoTest>().unwrap_err().contains("such as randread-4k"),
                "{wrong}"
            );
        }
    }
}
