//! Microbenchmarks: time per block of a kernel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::names::names;

/// A checksum, hash or codec applied to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Checksum CRC-32C.
    Crc32c,
    /// Hash XXH3 of 64 bits.
    Xxh3,
    /// Compression by LZ4, default level.
    Lz4Compress,
    /// Decompression of what LZ4 made.
    Lz4Uncompress,
    /// Compression by Zstandard, level 3.
    ZstdCompress,
    /// Decompression of what Zstandard made.
    ZstdUncompress,
}

names!(Kernel, "a kernel":
    Crc32c "crc32c", Xxh3 "xxh3", Lz4Compress "lz4-compress", Lz4Uncompress "lz4-uncompress",
    ZstdCompress "zstd-compress", ZstdUncompress "zstd-uncompress");

/// A set of libraries in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// Name in tables: `crates`, or the engine build.
    pub name: String,
    /// Where the code came from.
    pub origin: String,
    /// Build facts by name: compiler, flags.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// What serves each kernel (crate or symbol), or why none does.
    pub serves: BTreeMap<Kernel, Result<String, String>>,
}

/// Times of one implementation for one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelTimes {
    /// The kernel.
    pub kernel: Kernel,
    /// Size of the block before compression, in bytes.
    pub block_bytes: u32,
    /// Name of the implementation.
    pub implementation: String,
    /// Mean time of a block per round; rounds are interleaved over implementations.
    pub ns_per_block: Vec<f64>,
}

/// A whole microbenchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MicroRecord {
    /// When it was begun, UTC, RFC 3339.
    pub created_at: String,
    /// Version of Assay.
    pub assay_version: String,
    /// The machine.
    pub host: Host,
    /// Time given to one kernel in one round, in nanoseconds.
    pub span_ns: u64,
    /// The implementations compared; the first is the base.
    pub implementations: Vec<Implementation>,
    /// Their times, by kernel, block size and implementation.
    pub times: Vec<KernelTimes>,
}
