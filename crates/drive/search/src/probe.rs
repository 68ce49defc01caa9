//! The search trait, its probes and their observations.

use model::record::Percentiles;
use model::validity::{Purpose, SearchRecord};
use model::{Nanos, Readings};

/// Most probes of a search.
///
/// Without noise the search for a rate needs some fifteen.
pub(crate) const MAX_PROBES: usize = 40;

/// A search: requests probes one by one until it has a result.
pub trait Search {
    /// Returns the next step; unchanged until [`Search::observe`] is called.
    fn next(&self) -> Next;

    /// Records the observation of the requested probe.
    fn observe(&mut self, observation: &ProbeObservation);

    /// Returns the record so far.
    fn record(&self) -> &SearchRecord;
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Run this probe.
    Probe(Probe),
    /// The search has ended; the result is in the record.
    ///
    /// The probe that confirmed it ([`SearchRecord::confirmed`]) is the step's measured span.
    Done,
}

/// One probe to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Position in the search, 0-based.
    pub number: u32,
    /// Its purpose.
    pub purpose: Purpose,
    /// The load to offer.
    pub load: ProbeLoad,
    /// Whether to wait first until the engine has settled.
    ///
    /// Settled: the engine's debt and the dirty page cache are at the level of the first settle, or
    /// stop falling. The first probe settles until they stop falling, so debt of an earlier step is
    /// not attributed to a probe.
    pub settles_first: bool,
    /// Unmeasured time before the measured span.
    pub warmup: Nanos,
    /// Length of the measured span.
    pub measure: Nanos,
}

/// The load of a probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProbeLoad {
    /// An open loop at a constant mean rate, with all clients of the step.
    Rate {
        /// Offered rate, operations per second.
        ops_per_s: f64,
    },
    /// A closed loop.
    Closed {
        /// Clients.
        clients: u32,
    },
}

/// One interval of a probe's measured span.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Second {
    /// Length.
    pub length: Nanos,
    /// Operations that ended, failed ones included.
    pub ended: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those that were late or failed; 0 without a limit.
    pub late: u64,
    /// Age of the oldest waiting arrival; 0 in a closed loop.
    pub backlog: Nanos,
    /// Gauges at its end and counters' growth, of engine and host.
    ///
    /// Used: `engine_debt_bytes`, `engine_l0_files`, `engine_stall_us`, `dirty_bytes`.
    pub readings: Readings,
    /// Whether it is invalid: the client, not the engine, was late.
    pub is_invalid: bool,
}

impl Second {
    /// Returns the operations done.
    pub(crate) const fn done(&self) -> u64 {
        self.ended.saturating_sub(self.failed)
    }
}

/// The observation of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeObservation {
    /// Its intervals, without the warm-up.
    pub seconds: Vec<Second>,
    /// Censored arrivals that are already older than the limit.
    pub censored_late: u64,
    /// Arrivals due in the measured span but unserved at its end.
    pub censored: u64,
    /// Response times, all kinds of operation together.
    pub response: Percentiles,
    /// Service times, all kinds of operation together.
    pub service: Percentiles,
    /// Length of its measured span.
    pub duration: Nanos,
    /// Time of the settle before it.
    pub settle_time: Nanos,
    /// Engine's debt before and after, bytes; absent when unreported.
    pub debt_bytes: Option<(f64, f64)>,
    /// Why the step must end: the user, or a failed engine.
    pub stop: Option<String>,
}
