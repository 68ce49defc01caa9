//! Mixes of operations on keys and values: the core workloads of YCSB.
//!
//! Source: [Cooper et al. 2010], table 2; [YCSB source], `workloads/workloada` to `workloadf`.

use model::OpKind;

/// Which rows the reads, updates and scans of a mix pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MixRows {
    /// By the scrambled zipf of YCSB, over the rows loaded.
    Scrambled,
    /// The newest most often, those inserted included.
    Latest,
}

/// Shares of operations, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mix {
    /// Reads of one row.
    pub(crate) reads: u64,
    /// Writes of a row that is there.
    pub(crate) updates: u64,
    /// Writes of a new row behind all others.
    pub(crate) inserts: u64,
    /// Range reads of 1 to 100 rows.
    pub(crate) scans: u64,
    /// Reads of a row and writes of it: two operations each.
    pub(crate) read_modify_writes: u64,
    /// The rows.
    pub(crate) rows: MixRows,
}

impl Mix {
    const NONE: Self = Self {
        reads: 0,
        updates: 0,
        inserts: 0,
        scans: 0,
        read_modify_writes: 0,
        rows: MixRows::Scrambled,
    };

    /// Update heavy.
    pub(super) const A: Self = Self { reads: 50, updates: 50, ..Self::NONE };
    /// Read mostly.
    pub(super) const B: Self = Self { reads: 95, updates: 5, ..Self::NONE };
    /// Read only.
    pub(super) const C: Self = Self { reads: 100, ..Self::NONE };
    /// Read latest.
    pub(super) const D: Self = Self { reads: 95, inserts: 5, rows: MixRows::Latest, ..Self::NONE };
    /// Short ranges.
    pub(super) const E: Self = Self { scans: 95, inserts: 5, ..Self::NONE };
    /// Read-modify-write.
    pub(super) const F: Self = Self { reads: 50, read_modify_writes: 50, ..Self::NONE };

    /// Returns the kinds of its operations.
    pub(super) fn kinds(self) -> impl Iterator<Item = OpKind> {
        let gets = self.reads + self.read_modify_writes;
        let puts = self.updates + self.inserts + self.read_modify_writes;
        let all = [(gets, OpKind::Get), (puts, OpKind::Put), (self.scans, OpKind::Scan)];
        all.into_iter().filter(|(share, _)| *share > 0).map(|(_, kind)| kind)
    }
}
