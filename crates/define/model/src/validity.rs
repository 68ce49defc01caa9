//! What records keep so that nobody blames the engine for the client, or the other way round.

use serde::{Deserialize, Serialize};

use crate::load::{Limit, Pace};
use crate::record::{OpSummaries, Percentiles};
use crate::units::Nanos;

/// How the arrivals of an open loop were served, over the measured span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrivalsRecord {
    /// How arrivals were spread and waited for; never [`crate::Pacing::Auto`].
    pub pace: Pace,
    /// Arrivals due in the measured span.
    pub offered: u64,
    /// Of these, those not served when the span ended.
    ///
    /// Each is in the histogram of response times with its age at that moment: the least that its
    /// response time can have been.
    pub censored: u64,
    /// Started - intended of the operations that a free client waited for: the client's own
    /// lateness.
    pub start_lag: Percentiles,
    /// Age, at the end of the span, of the oldest arrival that nobody had begun.
    pub backlog_ns: Nanos,
}

/// Why an interval does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidReason {
    /// What kept the client from its work.
    pub cause: InvalidCause,
    /// What was seen, with the figures.
    #[serde(rename = "seen")]
    pub evidence: String,
}

/// What kept a client from its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidCause {
    /// The whole worker process stood still.
    Paused,
    /// A control group's CPU cap took the CPU away.
    Throttled,
    /// The hypervisor gave the CPU to another guest.
    Steal,
    /// Other processes of this host took the CPU.
    Neighbours,
    /// The client was late, and nobody else was seen to be the cause.
    Client,
    /// What a voided interval before it left behind was still being worked off.
    Aftermath,
}

impl InvalidCause {
    /// Returns the cause in a few words.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Paused => "the worker was stopped",
            Self::Throttled => "a CPU cap took the CPU away",
            Self::Steal => "another guest took the CPU",
            Self::Neighbours => "other processes took the CPU",
            Self::Client => "the client was late",
            Self::Aftermath => "arrivals kept waiting by the client were still being served",
        }
    }
}

/// The intervals of a step that do not count, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvalidIntervals {
    /// Intervals that do not count.
    pub intervals: u32,
    /// Intervals measured in all.
    pub of_intervals: u32,
    /// How many were voided for each cause.
    pub causes: Vec<(InvalidCause, u32)>,
    /// Length of the intervals that count.
    pub valid_ns: Nanos,
    /// Counts and times of the measured clients in these.
    pub valid: OpSummaries,
    /// Operations of the measured clients in these that kept the step's limit, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<u64>,
}

/// Who could not keep up with an open loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum LoadStatus {
    /// Nobody: offered arrivals were served.
    #[serde(rename = "kept")]
    Sustained,
    /// The engine, with the clients it had: no steady response time exists at this rate.
    Overloaded {
        /// The evidence, with the figures.
        #[serde(rename = "seen")]
        evidence: String,
    },
    /// The client: the engine was not asked as often as it should have been.
    ClientBound {
        /// The evidence, with the figures.
        #[serde(rename = "seen")]
        evidence: String,
    },
}

/// What the client costs and can do on this host, measured on the `null` engine before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Clients of the calibration's open loop.
    pub clients: u32,
    /// Time the closed loop needs for one operation that does nothing.
    pub closed_ns_per_op: f64,
    /// Operations per second that these clients could serve on schedule if the engine took no
    /// time.
    pub ceiling_ops_per_s: f64,
    /// Start lag at the run's highest rate, or the highest the host kept up with; absent when the
    /// run has no open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_lag: Option<Percentiles>,
    /// The rate of that start lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_lag_ops_per_s: Option<f64>,
}

/// How a rate, or a number of clients, was searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// The limit that had to be kept.
    pub limit: Option<Limit>,
    /// Every probe, in order.
    pub probes: Vec<ProbeRecord>,
    /// What was found; absent when nothing met the limit.
    pub found: Option<SearchResult>,
    /// Why the search ended, in one sentence.
    pub ended: String,
    /// Whether a rate that had passed failed again after a probe beyond it: the result depends on
    /// the way there.
    pub is_path_dependent: bool,
}

impl SearchRecord {
    /// Returns the probe that confirmed what was found: the step's own measured span.
    ///
    /// The last one that was asked for as a confirmation and passed.
    #[must_use]
    pub fn confirmed(&self) -> Option<&ProbeRecord> {
        let is_it = |probe: &&ProbeRecord| {
            (probe.purpose, probe.outcome) == (Purpose::Confirm, Outcome::Passed)
        };
        self.probes.iter().rfind(is_it)
    }
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// Highest offered rate that passed its confirmation, or the throughput at the best number of
    /// clients.
    pub ops_per_s: f64,
    /// Lowest offered rate above it that failed; absent when none did.
    pub failed_ops_per_s: Option<f64>,
    /// Clients it was found with.
    pub clients: u32,
}

/// What a probe was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The closed loop's throughput, as an upper hint.
    Capacity,
    /// To find a rate that passes and one that fails.
    Bracket,
    /// To narrow the space between them.
    Bisect,
    /// A rate that had passed, tried again after the first that failed.
    Recheck,
    /// The long window at the rate found.
    Confirm,
    /// A rate just above the one confirmed, which must fail.
    Above,
    /// A number of clients.
    Clients,
}

impl Purpose {
    /// Returns the purpose in a word or two.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Bracket => "bracket",
            Self::Bisect => "bisect",
            Self::Recheck => "recheck",
            Self::Confirm => "confirm",
            Self::Above => "just above",
            Self::Clients => "clients",
        }
    }
}

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The limit was kept, and the state was steady.
    Passed,
    /// The limit was broken, or the state was not steady.
    Failed,
    /// It could not be told even in the longest window; taken as failed.
    Undecided,
    /// The client was late, not the engine; it says nothing.
    #[serde(rename = "voided")]
    Invalid,
}

impl Outcome {
    /// Returns the outcome in a word.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
            Self::Invalid => "invalid",
        }
    }
}

/// One probe of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// Position in the search, 0-based; intervals carry it too.
    pub number: u32,
    /// What it was for.
    pub purpose: Purpose,
    /// Clients.
    pub clients: u32,
    /// Offered rate; absent in the closed loop.
    pub offered_ops_per_s: Option<f64>,
    /// Operations done per second.
    pub throughput_ops_per_s: f64,
    /// Operations done within the limit, per second; the throughput when there is no limit.
    pub goodput_ops_per_s: f64,
    /// Share of the operations that were late, failed ones and censored arrivals included.
    pub late_share: f64,
    /// Lower and upper limit of that share, 95 %.
    pub late_interval: (f64, f64),
    /// Response times, all kinds of operation together.
    pub response: Percentiles,
    /// Service times, all kinds of operation together.
    pub service: Percentiles,
    /// Length of its measured span.
    pub duration_ns: Nanos,
    /// Engine's debt before and after, bytes; absent when the engine does not tell.
    pub debt_bytes: Option<(f64, f64)>,
    /// Time the drain before it took.
    pub drained_ns: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in one sentence with the figures.
    pub reason: String,
}
