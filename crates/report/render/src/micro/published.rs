//! Published times of the same kernels.

use model::Kernel;

/// One published ratio or speed.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublishedSpeed {
    pub(super) kernel: Kernel,
    /// Machine and compiler.
    pub(super) machine: &'static str,
    /// What was found there.
    pub(super) found: &'static str,
}

const fn speed(kernel: Kernel, machine: &'static str, found: &'static str) -> PublishedSpeed {
    PublishedSpeed { kernel, machine, found }
}

/// Source: [Callaghan 2023-01-03].
pub(super) const SOURCE: &str = "Callaghan, 2023-01-03, RocksDB microbenchmarks: crc32c, xxh3 and \
    lz4 uncompress\n\
    gcc 11.3 and clang 14.0; blocks of 4 KiB; loops inside db_bench, benchHash for MB/s";

/// The post's findings, in its order.
#[rustfmt::skip]
pub(super) const PUBLISHED: &[PublishedSpeed] = &[
    speed(Kernel::Crc32c, "Intel NUC i7-8559U", "gcc 1.4 times as fast as clang"),
    speed(Kernel::Crc32c, "AMD Ryzen 7 4700U", "gcc 1.1 times as fast as clang"),
    speed(Kernel::Crc32c, "c6i.2xlarge (x86)", "gcc 1.6 times as fast as clang"),
    speed(Kernel::Crc32c, "c6i.2xlarge to c7g.2xlarge (ARM)", "1.4 with gcc, 1/1.2 with clang"),
    speed(Kernel::Xxh3, "Intel NUC i7-8559U", "clang 1.05 times as fast as gcc"),
    speed(Kernel::Xxh3, "AMD Ryzen 7 4700U", "clang 1.15 times as fast as gcc"),
    speed(Kernel::Xxh3, "c6i.2xlarge (x86)", "gcc 1.2 times as fast as clang"),
    speed(Kernel::Xxh3, "c7g.2xlarge (ARM)", "clang 1.6 times as fast as gcc"),
    speed(Kernel::Xxh3, "c6i.2xlarge to c7g.2xlarge (ARM)", "5 with gcc, 2.4 with clang"),
    speed(Kernel::Xxh3, "c6i.2xlarge (x86), gcc -O3", "23,119 MB/s (xxHash 0.8.1: 23,167)"),
    speed(Kernel::Xxh3, "c7g.2xlarge (ARM), gcc -O3", "14,745 MB/s as in RocksDB, 21,705 newer"),
    speed(Kernel::Lz4Uncompress, "Intel NUC i7-8559U", "clang 1.05 to 1.1 times as fast as gcc"),
    speed(Kernel::Lz4Uncompress, "c6i.2xlarge (x86)", "gcc 1.05 times as fast as clang"),
    speed(Kernel::Lz4Uncompress, "c6i.2xlarge to c7g.2xlarge (ARM)", "1.01 to 1.06"),
];
