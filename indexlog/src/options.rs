//! Options of a database.

use crate::error::{Error, Result};

/// What a returned write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing before a flush or a clean close: there is no write-ahead log.
    None,
    /// The end of the process: the log is written by `write()`.
    Os,
    /// The end of the machine: the log is synced as well.
    Sync,
}

/// How data blocks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Stored as they are.
    None,
    /// LZ4, unless a block grows by it.
    Lz4,
}

/// Options of a database; sizes in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What a returned write survives.
    pub durability: Durability,
    /// How data blocks are compressed; blocks of the index are not.
    pub compression: Compression,
    /// Size at which the write cache is flushed. Two can be in memory.
    pub write_cache_bytes: usize,
    /// Size of data blocks at which a log segment is sealed.
    pub segment_bytes: u64,
    /// Memory for documents.
    pub document_cache_bytes: u64,
    /// Memory for blocks of the index and nodes of the segments' trees.
    pub block_cache_bytes: u64,
    /// Share of a sealed segment's bytes that are known garbage from which it is collected.
    pub garbage_ratio: f64,
    /// Size of a table of the index.
    pub table_bytes: u64,
    /// Tables in level 0 from which they are compacted; at three times as many flushes wait.
    pub level0_tables: usize,
    /// Size of level 1; each further level has ten times as much.
    pub level1_bytes: u64,
    /// Bits of a table's Bloom filter for each key.
    pub bloom_bits: u32,
}

impl Options {
    /// Checks that the engine can work with the options.
    ///
    /// # Errors
    /// [`Error::Option`] with the first that has no sense.
    pub fn check(&self) -> Result<()> {
        const SIZE: &str = "write 1 byte or more";
        let tables = 1..=1 << 30;
        let rules = [
            ("write_cache_bytes", self.write_cache_bytes > 0, SIZE),
            ("segment_bytes", self.segment_bytes > 0, SIZE),
            // Without a target every level would be compacted into a deeper one, without end.
            ("level1_bytes", self.level1_bytes > 0, SIZE),
            // A table is built in memory.
            ("table_bytes", tables.contains(&self.table_bytes), "write 1 byte to 1 GiB"),
            ("level0_tables", self.level0_tables > 0, "write 1 or more"),
            ("bloom_bits", (1..=64).contains(&self.bloom_bits), "write 1 to 64"),
            (
                "garbage_ratio",
                (0.01..=0.99).contains(&self.garbage_ratio),
                "write a share from 0.01 to 0.99",
            ),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((name, _, remedy)) => Err(Error::Option { name, remedy }),
            None => Ok(()),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Os,
            compression: Compression::Lz4,
            write_cache_bytes: 64 << 20,
            segment_bytes: 256 << 20,
            document_cache_bytes: 128 << 20,
            block_cache_bytes: 128 << 20,
            garbage_ratio: 0.3,
            table_bytes: 2 << 20,
            level0_tables: 4,
            level1_bytes: 8 << 20,
            bloom_bits: 10,
        }
    }
}
