//! Memory allocators as a factor, and their statistics.

use serde::{Deserialize, Serialize};

use crate::names::names;

/// The allocator that serves `malloc` in a run's process, engine and client alike.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(rename_all = "lowercase")]
pub enum Allocator {
    /// The C library's own.
    #[default]
    System,
    /// jemalloc.
    Jemalloc,
    /// tcmalloc of gperftools.
    Tcmalloc,
    /// mimalloc.
    Mimalloc,
}

names!(Allocator, "an allocator":
    System "system", Jemalloc "jemalloc", Tcmalloc "tcmalloc", Mimalloc "mimalloc");

impl Allocator {
    /// Returns whether it is the C library's own, which needs no preload.
    pub fn is_system(&self) -> bool {
        *self == Self::System
    }
}

/// One size class of an allocator, all arenas together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Largest allocation it serves, in bytes.
    pub size: u64,
    /// Bytes of one slab.
    pub slab_bytes: u64,
    /// Regions of one slab.
    pub slab_regions: u64,
    /// Regions in use.
    pub regions: u64,
    /// Slabs held.
    pub slabs: u64,
}

impl Bin {
    /// Returns the bytes mapped for the class.
    pub const fn mapped_bytes(&self) -> u64 {
        self.slabs.saturating_mul(self.slab_bytes)
    }

    /// Returns the share of regions in use; `None` without slabs.
    ///
    /// Source: jemalloc 5.3, `stats.c`, column `util`.
    pub fn utilisation(&self) -> Option<f64> {
        let room = self.slab_regions.saturating_mul(self.slabs);
        (room > 0).then(|| self.regions as f64 / room as f64)
    }
}

/// An allocator's statistics at the end of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MallocRecord {
    /// The allocator identified in the process.
    pub allocator: Allocator,
    /// Its version as it writes it; empty when unknown.
    pub version: String,
    /// Its settings by its own names: number of arenas, decay times.
    pub settings: Vec<(String, String)>,
    /// Its size classes, the most mapped bytes first; empty when unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<Bin>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_class_has_mapped_bytes_and_utilisation() {
        let bin = Bin { size: 448, slab_bytes: 28_672, slab_regions: 64, regions: 90, slabs: 2 };
        assert_eq!(bin.mapped_bytes(), 57_344);
        assert_eq!(bin.utilisation(), Some(90.0 / 128.0));
        assert_eq!(Bin::default().utilisation(), None);
    }
}
