//! How a step went over time: warm-up, steady part, drift, cycles and stalls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// What a step's throughput did over its measured span.
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
    /// Too few seconds to tell.
    TooShort,
}

impl TrendClass {
    /// Returns whether the class lets the kept part stand for a steady state.
    #[must_use]
    pub const fn is_steady(self) -> bool {
        matches!(self, Self::Flat | Self::WarmUp | Self::SlowDown | Self::Cyclic)
    }

    /// Returns the class in a few words.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Flat => "steady",
            Self::WarmUp => "warm-up, then steady",
            Self::SlowDown => "slow-down, then steady",
            Self::Cyclic => "steady in cycles",
            Self::Drift => "drifts",
            Self::NotSteady => "not steady",
            Self::TooShort => "too short to tell",
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

/// Seconds in which next to nothing was done.
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

/// The slope of a metric over the kept part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Growth an hour, as a share of the level: 0.1 is 10 % an hour.
    pub per_hour: f64,
    /// Growth over the kept part, as a share of the level.
    pub over_part: f64,
    /// Whether it is told from zero and matters: beyond three standard errors, and beyond the
    /// margin over the kept part.
    pub is_real: bool,
}

/// How a step went over time, by its seconds that count.
///
/// Source of classes and parameters: the project's reference, analysis, section 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeProfile {
    /// What throughput did.
    pub class: TrendClass,
    /// From here on it is steady, since the start of the measured span.
    pub steady_from_ns: Nanos,
    /// The same by MSER-5, a second opinion; absent when it cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_opinion_ns: Option<Nanos>,
    /// Slopes over the kept part by metric: `throughput_ops_per_s` and whatever else was sampled
    /// (resident memory, disk use, p99, CPU per operation, debt).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drifts: BTreeMap<String, Drift>,
    /// The strongest cycle, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// Stalls over the whole measured span.
    pub stalls: Stalls,
    /// Seconds in the kept part.
    pub seconds: u32,
    /// Long-run variance of ln(operations a second) over the kept part, seconds as the unit of
    /// time: the variance of the part's mean is this over its length.
    pub long_run_variance: f64,
    /// Independent seconds that the kept part is worth.
    pub effective_seconds: f64,
}
