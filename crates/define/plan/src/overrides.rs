//! What the command line may say in place of an experiment file.

use model::{BuildRef, Options};

/// Values that replace those of the file; texts are parsed like the file's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Rows of the key space.
    pub rows: Option<String>,
    /// Bytes of a key.
    pub key_bytes: Option<u32>,
    /// Bytes of a value.
    pub value_bytes: Option<u32>,
    /// Length of the steps that end by duration.
    pub duration: Option<String>,
    /// Unmeasured time before them.
    pub warmup: Option<String>,
    /// Client counts.
    pub clients: Option<Vec<u32>>,
    /// Repetitions of every cell.
    pub repetitions: Option<u32>,
    /// Key distribution.
    pub distribution: Option<String>,
    /// Rate limit of the background writer.
    pub writer_rate: Option<String>,
    /// Durability class.
    pub durability: Option<String>,
    /// Engine cache size.
    pub cache: Option<String>,
    /// Memory cap.
    pub memory: Option<String>,
    /// Block compression.
    pub compression: Option<String>,
    /// Whether the page cache is bypassed.
    pub direct_io: Option<bool>,
    /// Workload preset.
    pub workload: Option<String>,
    /// Seed.
    pub seed: Option<u64>,
    /// Base case.
    pub base: Option<String>,
}

/// A variant typed on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickVariant {
    /// The engine build.
    pub build: BuildRef,
    /// Profile.
    pub profile: Option<String>,
    /// Engine options.
    pub options: Options,
}
