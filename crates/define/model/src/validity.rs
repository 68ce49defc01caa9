//! Validity of measurements: client lateness, invalid intervals, searches.

use serde::{Deserialize, Serialize};

use crate::load::{Limit, Pace};
use crate::names::names;
use crate::op_summary::{OpSummaries, Percentiles};
use crate::units::Nanos;

/// Share of their time that clients may wait for a CPU.
///
/// Our choice: more shows in their latencies.
pub const RUN_QUEUE_SHARE: f64 = 0.05;

/// How an open loop's arrivals were served over the measured span.
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
    /// Start lag: started - intended, for operations that a client waited for.
    pub start_lag: Percentiles,
    /// Age of the oldest waiting arrival at the end of the span.
    pub backlog_ns: Nanos,
}

/// Why an interval is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidReason {
    /// The cause of the client's delay.
    pub cause: InvalidCause,
    /// The evidence, with the figures.
    #[serde(rename = "seen")]
    pub evidence: String,
}

/// Cause of a client's delay.
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
    /// The client was late without an observed external cause.
    Client,
    /// Backlog of an earlier invalid interval was still being served.
    Aftermath,
}

impl InvalidCause {
    /// Returns the cause in a few words.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Paused => "the worker was stopped",
            Self::Throttled => "a CPU cap took the CPU away",
            Self::Steal => "another guest took the CPU",
            Self::Neighbours => "other processes took the CPU",
            Self::Client => "the client was late",
            Self::Aftermath => "arrivals that the client had delayed were still being served",
        }
    }
}

/// The invalid intervals of a step, and the valid rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvalidIntervals {
    /// Invalid intervals.
    pub intervals: u32,
    /// Intervals measured in all.
    pub of_intervals: u32,
    /// Invalid intervals by cause.
    pub causes: Vec<(InvalidCause, u32)>,
    /// Length of the valid intervals.
    pub valid_ns: Nanos,
    /// Counts and times of the measured clients in these.
    pub valid: OpSummaries,
    /// Operations of these within the step's limit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<u64>,
}

/// Returns how many of all intervals are invalid: `3 of 10 intervals are invalid`.
pub fn invalid_phrase(invalid: usize, all: usize) -> String {
    match (invalid, all) {
        (1, 1) => "the only interval is invalid".to_owned(),
        (2, 2) => "both intervals are invalid".to_owned(),
        (1, _) => format!("1 of {all} intervals is invalid"),
        _ if invalid == all => format!("all {all} intervals are invalid"),
        _ => format!("{invalid} of {all} intervals are invalid"),
    }
}

impl InvalidIntervals {
    /// Returns how many intervals are invalid and why; several causes have their counts.
    pub fn phrase(&self) -> String {
        let causes: Vec<String> = match &self.causes[..] {
            [(only, _)] => vec![only.phrase().to_owned()],
            several => {
                let text =
                    |(cause, count): &(InvalidCause, u32)| format!("{} ({count})", cause.phrase());
                several.iter().map(text).collect()
            }
        };
        let invalid = invalid_phrase(self.intervals as usize, self.of_intervals as usize);
        format!("{invalid}: {}", causes.join(", "))
    }

    /// Returns the operations left out of `all`, and the longest response time among them.
    ///
    /// The time is `None` where an operation that counts is as long.
    pub fn left_out(&self, all: &OpSummaries) -> (u64, Option<Nanos>) {
        let done = |of: &OpSummaries| of.values().map(|one| one.counts.done).sum::<u64>();
        let longest = |of: &OpSummaries| of.values().map(|one| one.response.max_ns).max();
        let longer = longest(all).filter(|ns| Some(*ns) > longest(&self.valid));
        (done(all).saturating_sub(done(&self.valid)), longer.map(Nanos))
    }
}

/// Whether the load of an open loop was sustained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum LoadStatus {
    /// Sustained: offered arrivals were served.
    #[serde(rename = "kept")]
    Sustained,
    /// The engine, with its clients, was too slow: no steady response time exists.
    Overloaded {
        /// The evidence, with the figures.
        #[serde(rename = "seen")]
        evidence: String,
    },
    /// The client was too slow: the engine got fewer requests than scheduled.
    ClientBound {
        /// The evidence, with the figures.
        #[serde(rename = "seen")]
        evidence: String,
    },
}

/// The client's cost and capacity, measured on the `null` engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Clients of the calibration's open loop.
    pub clients: u32,
    /// Time the closed loop needs for one operation that does nothing.
    pub closed_ns_per_op: f64,
    /// Highest operations per second on schedule if the engine took no time.
    pub ceiling_ops_per_s: f64,
    /// Start lag at the run's highest rate; absent without an open loop.
    ///
    /// At the highest rate that the host sustained, when that is lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_lag: Option<Percentiles>,
    /// The rate of that start lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_lag_ops_per_s: Option<f64>,
}

/// A search for a rate or a number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// The limit to meet.
    pub limit: Option<Limit>,
    /// Every probe, in order.
    pub probes: Vec<ProbeRecord>,
    /// The result; absent when nothing met the limit.
    pub found: Option<SearchResult>,
    /// Why the search ended, in one sentence.
    pub ended: String,
    /// Whether a passed rate failed after a higher probe (hysteresis).
    pub is_path_dependent: bool,
}

impl SearchRecord {
    /// Returns the probe that confirmed the result.
    ///
    /// The last confirmation that passed; its span is the step's measured span.
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
    /// Highest confirmed rate, or throughput at the best number of clients.
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

names!(Purpose, "a purpose of probes":
    Capacity "capacity", Bracket "bracket", Bisect "bisect", Recheck "recheck",
    Confirm "confirm", Above "just above", Clients "clients");

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The limit was met, and the state was steady.
    Passed,
    /// The limit was exceeded, or the state was not steady.
    Failed,
    /// Undecided even in the longest window; treated as failed.
    Undecided,
    /// The client, not the engine, was late; no conclusion.
    #[serde(rename = "voided")]
    Invalid,
}

names!(Outcome, "an outcome of probes":
    Passed "passed", Failed "failed", Undecided "undecided", Invalid "invalid");

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
    /// Operations within the limit per second; throughput without a limit.
    pub goodput_ops_per_s: f64,
    /// Share of late operations, failed and censored ones included.
    pub late_share: f64,
    /// Lower and upper limit of that share, 95 %.
    pub late_interval: (f64, f64),
    /// Response times, all kinds of operation together.
    pub response: Percentiles,
    /// Service times, all kinds of operation together.
    pub service: Percentiles,
    /// Length of its measured span.
    pub duration_ns: Nanos,
    /// Engine's debt before and after, bytes; absent when unreported.
    pub debt_bytes: Option<(f64, f64)>,
    /// Time taken to clear the backlog before it.
    #[serde(rename = "drained_ns")]
    pub settle_time_ns: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in one sentence with the figures.
    pub reason: String,
}
