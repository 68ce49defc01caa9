//! Options of tests.

use crate::options::{Compression, Durability, Options};

/// Options under which a few hundred writes fill several levels and segments.
pub(super) fn small(durability: Durability) -> Options {
    Options {
        durability,
        compression: Compression::Lz4,
        write_cache_bytes: 4 << 10,
        segment_bytes: 6 << 10,
        document_cache_bytes: 8 << 10,
        block_cache_bytes: 8 << 10,
        garbage_ratio: 0.3,
        table_bytes: 512,
        level0_tables: 2,
        level1_bytes: 2 << 10,
        bloom_bits: 10,
    }
}
