//! The reports to choose from.

use super::report::Report;
use super::{ibench, iostat, rocksdb};

/// A public report whose columns are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// The one-line summaries of insert benchmark reports.
    Ibench,
    /// The summaries of RocksDB's benchmark.sh.
    Rocksdb,
    /// The averages of iostat, from the block layer's counters.
    Iostat,
}

model::names!(Lines, "a report":
    Ibench "ibench", Rocksdb "rocksdb", Iostat "iostat");

impl Lines {
    /// Returns its columns.
    pub(super) fn report(self) -> &'static Report {
        match self {
            Self::Ibench => &ibench::REPORT,
            Self::Rocksdb => &rocksdb::REPORT,
            Self::Iostat => &iostat::REPORT,
        }
    }
}
