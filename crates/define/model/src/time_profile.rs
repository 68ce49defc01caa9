//! Time profile of a step: warm-up, drift, cycles, stalls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Trend of a step's throughput over its measured span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendClass {
    /// Steady from the first second.
    Flat,
    /// Slower at first, then steady.
    WarmUp,
    /// Faster at first, then steady: an empty tree, a fresh device.
    SlowDown,
    /// Steady but for a cycle that repeats.
    Cyclic,
    /// Rises or falls all the way.
    Drift,
    /// No part of it long enough is steady.
    NotSteady,
    /// Too few seconds to classify.
    TooShort,
}

impl TrendClass {
    /// Returns whether the retained part is a steady state.
    pub const fn is_steady(self) -> bool {
        matches!(self, Self::Flat | Self::WarmUp | Self::SlowDown | Self::Cyclic)
    }

    /// Returns the class in a few words.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Flat => "steady",
            Self::WarmUp => "warm-up, then steady",
            Self::SlowDown => "slow-down, then steady",
            Self::Cyclic => "steady in cycles",
            Self::Drift => "drifts",
            Self::NotSteady => "not steady",
            Self::TooShort => "too short to classify",
        }
    }
}

/// A cycle that repeats, such as flushes or checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// Its period.
    pub period_ns: Nanos,
    /// Share of the variance that it explains, harmonics included; 0 to 1.
    pub variance_share: f64,
}

/// Seconds with next to no operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// Stalls; those two seconds apart or less are one.
    pub count: u32,
    /// The longest.
    pub longest_ns: Nanos,
    /// All of them.
    pub total_ns: Nanos,
    /// Operations that the median second would have done in that time.
    pub lost_ops: f64,
}

/// Slope of a metric over the retained part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Growth per hour as a share: 0.1 is 10 %.
    pub per_hour: f64,
    /// Growth over the retained part, as a share of the level.
    pub over_part: f64,
    /// Whether it is significant: beyond three standard errors and the margin.
    pub is_real: bool,
}

/// Time profile of a step, from its valid seconds.
///
/// Source: segmentation into steady states by change points [Barrett 2017]; the classes and their
/// parameters are our choice, tuned on simulated series (`stats`, tests/steady).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeProfile {
    /// Trend of throughput.
    pub class: TrendClass,
    /// Start of the steady part, relative to the measured span.
    pub steady_from_ns: Nanos,
    /// Slopes over the retained part, by metric.
    ///
    /// `throughput_ops_per_s` and other sampled metrics: resident memory, disk use, p99, CPU per
    /// operation, debt.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drifts: BTreeMap<String, Drift>,
    /// The strongest cycle, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// Stalls over the whole measured span.
    pub stalls: Stalls,
    /// Seconds in the retained part.
    pub seconds: u32,
    /// Long-run variance of ln(operations per second) over the retained part.
    ///
    /// The variance of the part's mean is this over its length in seconds.
    pub long_run_variance: f64,
    /// Effective number of independent seconds in the retained part.
    pub effective_seconds: f64,
}
