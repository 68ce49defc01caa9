//! An engine's state at one moment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::number::read_count;
use crate::readings::Readings;

/// One level (LSM) of an engine's tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelShape {
    /// The level's number; 0 is where flushes land.
    pub level: u32,
    /// Files in the level.
    #[serde(deserialize_with = "read_count")]
    pub files: u64,
    /// Bytes in the level.
    #[serde(deserialize_with = "read_count")]
    pub bytes: u64,
}

/// Readings of tables and indexes by their names, under the names of the whole engine's metrics.
pub type TableReadings = BTreeMap<String, Readings>;

/// An engine's state; unreported parts are `None` or absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineState {
    /// Cumulative counters and gauges under the names of [`crate::metric::METRICS`].
    #[serde(default, skip_serializing_if = "Readings::is_empty")]
    pub readings: Readings,
    /// Cumulative counters under the engine's own names.
    #[serde(default, skip_serializing_if = "Readings::is_empty")]
    pub own_counters: Readings,
    /// Counters and gauges of single tables and indexes, by their names; the largest alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: TableReadings,
    /// The LSM's levels, shallowest first; `None` for engines without levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<LevelShape>>,
    /// Height of the B-tree, root included; `None` when absent or unreported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_height: Option<u32>,
    /// Whether no background work runs or waits; `None` when unreported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_idle: Option<bool>,
}
