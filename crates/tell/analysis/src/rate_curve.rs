//! How response times grow with the offered rate: probes of searches and steps at fixed rates.
//!
//! Not a fit and not an average: each point is one probe, or one step, of one run.

use model::honesty::{Outcome, Purpose};
use model::record::Percentiles;
use model::{Limit, Nanos, RunRecord};
use serde::Serialize;

use crate::stat::Spread;

/// One variant's response to offered rates in one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateCurve {
    /// The variant's name.
    pub variant: String,
    /// The step's name.
    pub step: String,
    /// Clients of the open loop.
    pub clients: u32,
    /// The limit response times are held against.
    pub limit: Option<Limit>,
    /// The points of all runs, by offered rate ascending.
    pub points: Vec<RatePoint>,
    /// What the searches found; absent when the step was not searched.
    pub found: Option<FoundRates>,
}

/// One offered rate in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatePoint {
    /// The run.
    pub run: String,
    /// Its repetition, 1-based.
    pub repetition: u32,
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// The probe; absent for a step at a fixed rate.
    pub probe: Option<ProbePlace>,
    /// Operations due per second.
    pub offered_ops_per_s: f64,
    /// Operations done per second.
    pub throughput_ops_per_s: f64,
    /// Operations within the limit per second; absent without a limit.
    pub goodput_ops_per_s: Option<f64>,
    /// Response times; none is known where the engine was overloaded or the client was late.
    pub response: KnownTimes,
    /// Service times.
    pub service: KnownTimes,
    /// Share of the operations that broke the limit; absent without a limit.
    pub late_share: Option<f64>,
    /// Lower and upper limit of that share, 95 %; absent for a step at a fixed rate.
    pub late_interval: Option<(f64, f64)>,
    /// Whether the engine could not keep up with the rate.
    pub is_overloaded: bool,
    /// How it ended; absent for a step that kept its rate and has no limit.
    pub outcome: Option<Outcome>,
    /// Why, in one sentence; empty when there is nothing to say.
    pub reason: String,
}

/// Which probe a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProbePlace {
    /// Position in the search, 0-based.
    pub number: u32,
    /// What it was for.
    pub purpose: Purpose,
}

/// Percentiles behind which enough operations stand.
///
/// Source: [`crate::Percentile::operations_needed`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KnownTimes {
    /// Half of the operations stayed within.
    pub p50: Option<Nanos>,
    /// 99 % of the operations stayed within.
    pub p99: Option<Nanos>,
    /// 99.9 % of the operations stayed within.
    pub p999: Option<Nanos>,
}

/// What the searches of all repetitions found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FoundRates {
    /// Highest rate that passed its confirmation, operations per second; absent when no search
    /// found one.
    pub sustainable: Option<Spread>,
    /// Lowest rate above it that failed, operations per second.
    pub failed_above: Option<Spread>,
    /// Searches that found no rate.
    pub found_nothing: u32,
}

/// Returns the rate-response curves, by variant, step, clients and limit.
#[must_use]
pub fn rate_curves(_runs: &[RunRecord]) -> Vec<RateCurve> {
    Vec::new()
}

impl KnownTimes {
    /// Returns those of the percentiles that can be shown.
    ///
    /// Source: [`crate::Percentile::shown`].
    #[must_use]
    pub fn of(_times: &Percentiles) -> Self {
        Self::default()
    }
}
