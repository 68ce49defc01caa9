//! The role of an allocator that tells of itself.

use model::{Bin, Readings};

/// What one allocator tells of the process it serves.
pub(crate) trait Source: Send + Sync {
    /// Returns its version, in its own words; empty when it does not tell.
    fn version(&self) -> String;

    /// Returns the gauges of this moment, under the names of `model::metric::METRICS`.
    fn readings(&self) -> Readings;

    /// Returns its settings in force, by its own names; empty when it does not tell.
    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns its size classes that hold a slab, the most mapped bytes first.
    fn bins(&self) -> Vec<Bin> {
        Vec::new()
    }

    /// Returns its own report, for people.
    fn text(&self) -> Option<String> {
        None
    }
}

/// Returns readings of those that are known.
#[expect(clippy::cast_precision_loss, reason = "bytes of a process stay below 2^53")]
pub(crate) fn gauges(known: &[(&str, Option<u64>)]) -> Readings {
    let told =
        known.iter().filter_map(|(name, bytes)| Some(((*name).to_owned(), (*bytes)? as f64)));
    told.collect()
}
