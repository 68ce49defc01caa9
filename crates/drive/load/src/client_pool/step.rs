//! A step to run, its events and its totals.

use std::collections::BTreeSet;

use engine::Engine;
use hdrhistogram::Histogram;
use model::record::{HoldsRecord, SpanningOp};
use model::{Bytes, Load, Nanos, OpKind, Pace, Readings, StopRule};
use serde::{Deserialize, Serialize};
use workload::Generator;

use crate::availability::Outage;
use crate::error::LoadError;
use crate::reopening::Faults;
use crate::schedule::Share;
use crate::stop::StopFlag;
use crate::tally::{GroupTally, empty_histogram};

/// Longest interval: counters of 32 bits must hold what the fastest loop does in one, twice.
const INTERVAL_MAX: Nanos = Nanos::from_secs(60);

/// Shortest interval: below it the hand-overs would disturb the measurement.
const INTERVAL_MIN: Nanos = Nanos::from_millis(1);

/// Highest rate offered: twice what a loop over nothing can do on any machine known.
///
/// A limit on the work of counting arrivals that no client takes.
const RATE_MAX_OPS_PER_S: f64 = 1e8;

/// One group of clients: the measured ones, or the background writers.
pub struct GroupRun {
    /// One generator per client, in client order.
    pub generators: Vec<Box<dyn Generator>>,
    /// How the group's operations arrive.
    pub load: Load,
    /// Kinds of operation to allocate before the start; others allocate once.
    ///
    /// Each interval has them, also one without an operation.
    pub kinds: BTreeSet<OpKind>,
}

impl GroupRun {
    /// Returns a group without clients.
    pub const fn empty() -> Self {
        Self { generators: Vec::new(), load: Load::Closed, kinds: BTreeSet::new() }
    }
}

/// The sessions of a step that hold transactions open.
#[derive(Default)]
pub struct HolderRun {
    /// One generator of reads for each session.
    pub generators: Vec<Box<dyn Generator>>,
    /// How long each transaction is held.
    pub time: Nanos,
}

/// One step, ready to run.
pub struct StepRun<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// The measured clients, at least one.
    pub clients: GroupRun,
    /// The background writers, which run until the measured clients have ended.
    pub writers: GroupRun,
    /// The sessions that hold transactions open as long as the writers run.
    pub holders: HolderRun,
    /// When the measured clients stop; a generator's end stops its client too.
    pub stop: StopRule,
    /// Time before the measured span; 0 for steps that end by count.
    pub warmup: Nanos,
    /// Length of an interval: a second, but in tests.
    pub interval: Nanos,
    /// Whether the answers that the generators sample are checked.
    pub is_checking: bool,
    /// Seed of the arrivals of an open loop.
    pub arrival_seed: u64,
    /// The measured clients, among those of all processes that run the step; `None` for all.
    pub share: Option<Share>,
    /// Agrees with other processes on the start of the step; `None` to start at once.
    pub agree_start: Option<&'a AgreeStart<'a>>,
    /// What the clients do at the step's events.
    pub faults: Faults<'a>,
    /// Set by others to stop the step.
    pub stop_flag: StopFlag,
}

/// Returns the agreed start of a step, of the step's clock.
///
/// Called once every client has its session. The error is why the step does not begin.
pub type AgreeStart<'a> = dyn Fn() -> Result<Nanos, String> + 'a;

impl StepRun<'_> {
    /// Returns the measured clients among those of all processes.
    pub(crate) fn share(&self) -> Share {
        let clients = u32::try_from(self.clients.generators.len()).expect("clients are threads");
        self.share.unwrap_or(Share::whole(clients))
    }

    /// Returns why the step cannot be run, if it cannot.
    pub(crate) fn validate(&self) -> Result<(), LoadError> {
        if self.clients.generators.is_empty() {
            return Err(LoadError::NoClients);
        }
        if matches!(self.stop, StopRule::Operations(0) | StopRule::Duration(Nanos(0))) {
            return Err(LoadError::NothingToDo);
        }
        if matches!(self.stop, StopRule::Operations(_)) && self.warmup > Nanos(0) {
            return Err(LoadError::WarmupByCount(self.warmup));
        }
        if !(INTERVAL_MIN..=INTERVAL_MAX).contains(&self.interval) {
            return Err(LoadError::Interval(self.interval, INTERVAL_MAX));
        }
        for load in [&self.clients.load, &self.writers.load] {
            match load {
                Load::Closed | Load::Pipelined(_) => {}
                Load::Open(open) => {
                    let ops_per_s = open.rate.peak_ops_per_s();
                    if !open.rate.is_sound() || ops_per_s > RATE_MAX_OPS_PER_S {
                        return Err(LoadError::Rate(ops_per_s, RATE_MAX_OPS_PER_S));
                    }
                }
                Load::FindRate(_) | Load::FindClients => return Err(LoadError::Search),
            }
        }
        Ok(())
    }
}

/// An event of a running step, delivered on the caller's thread.
///
/// An interval comes some time after its end: as soon as every client has ended an operation in a
/// later one. A client that is stuck holds back all intervals since. `MeasuringBegins` comes at
/// once, to let others sample at the right moment; so the last intervals of the warm-up follow it.
#[derive(Debug)]
pub enum Event<'a> {
    /// The measured span begins; without a warm-up no client starts before the callback returns.
    MeasuringBegins,
    /// An interval is over, to let others sample at its end; that of the last one may be missing.
    ///
    /// One for each [`Event::Interval`] that follows, in the same order.
    IntervalEnds {
        /// Memory of what the clients count, part of the process's.
        client_memory: Bytes,
    },
    /// An interval is complete: borrowed, because its memory is used again.
    Interval(&'a Interval),
    /// Twice a second, the operations the measured clients have ended so far, failures and warm-up
    /// included: the same count again means that no operation ended.
    Heartbeat(u64),
}

/// Counts, times and usage of one interval.
#[derive(Debug, Clone)]
pub struct Interval {
    /// Whether it belongs to the warm-up.
    pub is_warmup: bool,
    /// Start, since the step's start.
    pub start: Nanos,
    /// Length; that of a step's last interval differs.
    pub length: Nanos,
    /// The measured clients; the announced kinds, and others that did something so far.
    pub clients: GroupTally,
    /// The background writers; kinds as those of the clients.
    pub writers: GroupTally,
    /// Start lag, ns, of the measured clients; empty in a closed loop.
    ///
    /// Of operations that a free client waited for, as in [`ArrivalTotals::start_lag`].
    pub start_lag: Histogram<u64>,
    /// Age, at the interval's end, of the oldest arrival not begun.
    ///
    /// 0 in a closed loop, and where clients had taken it when the coordinator counted.
    pub backlog: Nanos,
    /// Growth of the worker's own accounts (the first block of [`model::metric::METRICS`]).
    ///
    /// `client_*` counts all our threads that execute operations, writers included, so that
    /// the rest of the process is the engine's own threads and the harness.
    /// `client_run_queue_us`, `client_idle_us` and `offered_ops` are of the measured clients; the
    /// last two are absent in a closed loop, the first where the kernel does not report it.
    /// `pause_us` may lack the 25 ms in which the process was to wake up next, and is too long on
    /// a busy host whose kernel does not report waits for a CPU.
    pub readings: Readings,
    /// Of each measured client, the longest operation that began in an earlier interval.
    pub spanning: Vec<SpanningOp>,
}

impl Default for Interval {
    fn default() -> Self {
        Self {
            is_warmup: false,
            start: Nanos(0),
            length: Nanos(0),
            clients: GroupTally::new(),
            writers: GroupTally::new(),
            start_lag: empty_histogram(),
            backlog: Nanos(0),
            readings: Readings::new(),
            spanning: Vec::new(),
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum StepEnd {
    /// The clients reached their limit or deadline.
    #[default]
    Finished,
    /// The stop flag was set.
    Stopped,
    /// The engine failed, or a client panicked.
    ///
    /// The totals cover the time until then.
    Failed {
        /// The client and its error.
        reason: String,
    },
    /// An answer was wrong, or a load lost rows.
    Wrong {
        /// The client, what it received and what was expected.
        reason: String,
    },
}

/// Counts, times and usage of the whole measured span.
#[derive(Debug, Clone)]
pub struct StepTotals {
    /// Length of the measured span, until the last measured client ended.
    pub duration: Nanos,
    /// The measured clients.
    ///
    /// Response times include the censored arrivals, unlike an interval's.
    pub clients: GroupTally,
    /// The background writers.
    pub writers: GroupTally,
    /// Growth of the worker's own accounts.
    pub readings: Readings,
    /// How the arrivals were served; `None` in a closed loop.
    pub arrivals: Option<ArrivalTotals>,
    /// What the holders held; `None` without any.
    pub holds: Option<HoldsRecord>,
    /// Begin of the measured span, of the step's clock.
    pub begun: Nanos,
    /// Spans in which operations waited and no client had a success; noted in steps with events.
    pub outages: Vec<Outage>,
    /// How the step ended.
    pub end: StepEnd,
}

/// How the measured clients served their arrivals.
#[derive(Debug, Clone)]
pub struct ArrivalTotals {
    /// How arrivals were spread and waited for; never [`model::Pacing::Auto`].
    pub pace: Pace,
    /// Arrivals due in the measured span.
    pub offered: u64,
    /// Ages, at the span's end, of the arrivals not served.
    ///
    /// An age is at least the arrival's response time. They are counted in `clients`' response
    /// histograms too (of the kind of operation with the most operations), and nowhere else.
    ///
    /// The span ends at the deadline for this: operations begun by then complete and count. Offered
    /// = done + failed + censored, where nothing of a warm-up was still waiting.
    pub censored: Histogram<u64>,
    /// Start lag (started - intended), ns, of operations a free client awaited.
    ///
    /// A client is free when an operation has ended; arrivals due within the microsecond that it
    /// may take to count that one and to make the next are not counted here, unless it took
    /// longer.
    pub start_lag: Histogram<u64>,
    /// Age, at the span's end, of the oldest arrival not begun.
    pub backlog: Nanos,
}
