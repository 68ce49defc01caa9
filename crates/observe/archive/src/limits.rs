//! Sizes that no file of an archive exceeds.
//!
//! They are checked before memory and time are spent: an archive may come from a stranger. Each is
//! far above what a run writes, and `export` refuses what `import` would. The numbers of variants,
//! steps and runs are limited in `model::limits`.

/// Largest manifest, record, profile or search, in bytes.
///
/// A hundred steps of a server take 5 MiB, the plan of 10,000 runs 3 MiB.
pub(crate) const JSON_BYTES_MAX: u64 = 8 << 20;
/// Most values (numbers, texts, lists) of such a file.
///
/// Records have 25 bytes for each; one in memory takes up to a hundred.
pub(crate) const VALUES_MAX: u64 = 500_000;
/// Values that a map counts for beyond its own: in memory the smallest takes some 370 bytes.
pub(crate) const MAP_VALUES: u64 = 2;
/// Largest list of checksums, in bytes: 200 for each run and earlier attempt.
pub(crate) const CHECKSUMS_BYTES_MAX: u64 = 4 << 20;
/// Largest other file that is read whole.
///
/// The intervals of a day take some 90 MiB; a sparse file that a stranger sent may claim more than
/// this machine's memory.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// Largest compressed profile of a step, in bytes: 70,000 samples take 16 kB.
pub(crate) const PROFILE_BYTES_MAX: u64 = 4 << 20;
/// Largest profile of a step as text, in bytes.
pub(crate) const PROFILE_TEXT_BYTES_MAX: u64 = 32 << 20;

/// Largest index of an experiment in one file, in bytes: 200 for each file.
pub(crate) const INDEX_BYTES_MAX: u64 = 16 << 20;
/// Most files of an experiment in one file: five of each of the most runs of a plan.
pub(crate) const FILES_MAX: usize = 50_000;
/// Most directories of runs and earlier attempts in it.
pub(crate) const RUNS_MAX: usize = 2 * model::limits::CELLS_MAX;

/// Size of a file up to which its content has the sizes below; beyond, more is allowed.
const SMALL_BYTES: u64 = 10 << 20;
/// Growth of its content with each further byte: our experiments compress to a fifth.
const CONTENT_PER_BYTE: u64 = 8;

/// The most that an experiment in one file may unpack to, by the size of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentLimits {
    /// Bytes of all files.
    pub(crate) bytes: u64,
    /// Bytes of manifest, records and intervals, which readers hold in memory.
    pub(crate) parsed_bytes: u64,
    /// Values in them.
    pub(crate) values: u64,
    /// Bytes of the histogram logs, which compress by a quarter, but for empty ones.
    pub(crate) log_bytes: u64,
    /// Lines of the histogram logs: each takes a reader some 50 us.
    pub(crate) log_lines: u64,
}

impl ContentLimits {
    /// Returns the limits for a file of that size.
    pub(crate) fn of(file_bytes: u64) -> Self {
        let more = file_bytes.saturating_sub(SMALL_BYTES);
        let grown = |least: u64, per_byte: u64| least.saturating_add(more.saturating_mul(per_byte));
        Self {
            bytes: grown(128 << 20, CONTENT_PER_BYTE),
            parsed_bytes: grown(32 << 20, CONTENT_PER_BYTE),
            values: grown(1_600_000, CONTENT_PER_BYTE / 4),
            log_bytes: grown(16 << 20, 2),
            log_lines: grown(80_000, 1),
        }
    }
}
