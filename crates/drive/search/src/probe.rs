//! What a search asks for, and what it is told.

use model::record::Percentiles;
use model::validity::{Purpose, SearchRecord};
use model::{Nanos, Readings};

/// Most probes of a search.
///
/// Without noise the search for a rate needs some fifteen.
pub(crate) const MOST_PROBES: usize = 40;

/// A search: it asks for probes one after the other until it has its answer.
pub trait Search {
    /// Returns what is to be done next; the same again until [`Search::observe`] was called.
    fn next(&self) -> Next;

    /// Takes what the probe that was asked for has shown.
    fn observe(&mut self, seen: &ProbeObservation);

    /// Returns the record so far.
    fn record(&self) -> &SearchRecord;
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Run this probe.
    Probe(Probe),
    /// Nothing: the answer is in the record. The probe that confirmed it
    /// ([`SearchRecord::confirmed`]) is the step's own measured span.
    Done,
}

/// One probe to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Position in the search, 0-based.
    pub number: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// What is offered.
    pub load: ProbeLoad,
    /// Whether to wait first until the engine's debt and the page cache are where the first drain
    /// has left them, or fall no more.
    ///
    /// The first probe of a search is drained before too: until they fall no more. So what an
    /// earlier step owes is not taken for what a probe has caused.
    pub is_drained_before: bool,
    /// Unmeasured time before the measured span.
    pub warmup: Nanos,
    /// Length of the measured span.
    pub measure: Nanos,
}

/// What a probe offers.
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
    /// Of these, those that broke the limit or failed; 0 when there is no limit.
    pub late: u64,
    /// Age at its end of the oldest arrival that nobody had begun; 0 in a closed loop.
    pub backlog: Nanos,
    /// The engine's and the host's gauges at its end, and counters' growth: `engine_debt_bytes`,
    /// `engine_l0_files`, `engine_stall_us`, `dirty_bytes` are looked at.
    pub readings: Readings,
    /// Whether the client and not the engine was late.
    pub is_invalid: bool,
}

/// What a probe has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeObservation {
    /// Its intervals, those of the warm-up left out.
    pub seconds: Vec<Second>,
    /// Arrivals due in its measured span and not served at its end, older than the limit allows.
    pub censored_late: u64,
    /// All arrivals due in its measured span and not served at its end.
    pub censored: u64,
    /// Response times, all kinds of operation together.
    pub response: Percentiles,
    /// Service times, all kinds of operation together.
    pub service: Percentiles,
    /// Length of its measured span.
    pub duration: Nanos,
    /// Time the drain before it took.
    pub drained: Nanos,
    /// Engine's debt before and after, bytes; absent when the engine does not tell.
    pub debt_bytes: Option<(f64, f64)>,
    /// Why the step has to end, when it has: the user, or an engine that failed.
    pub stop: Option<String>,
}
