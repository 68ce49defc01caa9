//! Trait of an allocator that reports statistics.

use model::{Bin, Readings};

/// Statistics of one allocator for the process it serves.
pub(crate) trait Source: Send + Sync {
    /// Returns its version as it writes it; empty when unknown.
    fn version(&self) -> String;

    /// Returns the current gauges, under the names of `model::metric::METRICS`.
    fn readings(&self) -> Readings;

    /// Returns its effective settings, by its own names; empty when unknown.
    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns its size classes that hold a slab, the most mapped bytes first.
    fn bins(&self) -> Vec<Bin> {
        Vec::new()
    }

    /// Returns its own text report.
    fn text(&self) -> Option<String> {
        None
    }
}
