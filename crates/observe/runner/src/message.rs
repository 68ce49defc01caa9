//! Messages between parent and worker.
//!
//! The `connection` numbers them; nothing here names a file descriptor or a host.

use fold::{Counts, Groups};
use hdrhistogram::Histogram;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use engine::Refusal;
use load::{Outage, Share, StepEnd};
use model::record::{
    ClockRecord, Finding, HoldsRecord, OpCounts, ProcedureRecord, SettleRecord, SpanningOp,
};
use model::validity::{ArrivalsRecord, Calibration, Purpose, SearchRecord};
use model::{
    Application, Cell, DataShape, DurabilityRecord, Endpoint, EngineState, Host, Hosts, Identity,
    MallocRecord, Nanos, OpKind, Options, Readings, StatementRecord, Step, TableReadings, TimeSpan,
    Variant, WaitProfile, WriteCheck,
};
use serde::{Deserialize, Serialize};

use crate::needs::Needs;

/// Number of a ping without an answer, which only shows that the parent lives.
pub(crate) const SIGN_OF_LIFE: u64 = 0;

/// The library of an engine build that is loaded at run time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// The file.
    pub path: PathBuf,
    /// Its SHA-256, in hex.
    pub sha256: String,
    /// Where it came from, as text.
    pub origin: String,
    /// Build facts by name: compiler, flags.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// The files and directories of the build: a confined engine reads them.
    #[serde(default)]
    pub places: Vec<PathBuf>,
}

impl Library {
    /// Returns whether an engine reports another file; servers report none.
    pub(crate) fn is_other(&self, identity: &Identity) -> bool {
        identity.sha256.as_ref().is_some_and(|loaded| *loaded != self.sha256)
    }

    /// Adds origin, hash and build facts to an engine's identity.
    pub fn complete(&self, identity: &mut Identity) {
        identity.sha256 = Some(self.sha256.clone());
        identity.origin.clone_from(&self.origin);
        identity.facts.extend(self.facts.clone());
    }
}

/// One run's order: all inputs of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) cell: Cell,
    pub(crate) variant: Variant,
    pub(crate) steps: Vec<Step>,
    /// The steps to execute: the first, and the one after the last.
    pub(crate) range: (u32, u32),
    /// Seed of the steps before this one, which runs share: position and seed.
    pub(crate) shared: Option<(u32, u64)>,
    pub(crate) data: DataShape,
    /// What the experiment's steps need of the engine.
    pub(crate) needs: Needs,
    /// The kinds of operation of the experiment's key-value steps, each with the first such step.
    pub(crate) kinds: BTreeMap<OpKind, String>,
    pub(crate) library: Option<Library>,
    /// The server; `None` for an engine in the worker.
    pub(crate) server: Option<ServerOrder>,
    /// Longest time without progress, after which this worker is killed.
    pub(crate) watchdog: Nanos,
    pub(crate) dir: PathBuf,
    /// Library that was preloaded to serve `malloc`; `None` for the system's own allocator.
    pub(crate) allocator: Option<PathBuf>,
    /// Its place among the workers on client hosts; `None` on the host of the engine.
    pub(crate) member: Option<Membership>,
}

/// The place of a worker in the group that runs a cell together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Membership {
    /// The machines of the experiment.
    pub(crate) hosts: Hosts,
    /// Position of this worker's machine among the client hosts.
    pub(crate) position: u32,
    /// Positions of the steps that all of them run; the first worker runs every step.
    pub(crate) shared: BTreeSet<u32>,
    /// The data set of the run's tables, if another worker has made them.
    pub(crate) data_set: Option<String>,
}

impl Membership {
    /// Returns whether the worker is the first, which runs every step.
    pub(crate) const fn is_first(&self) -> bool {
        self.position == 0
    }

    /// Returns whether several workers run the cell.
    pub(crate) const fn has_others(&self) -> bool {
        self.hosts.clients.len() > 1
    }

    /// Returns the worker's clients of a step that several workers run; `None` for another step.
    pub(crate) fn share(&self, index: u32, clients: u32) -> Option<Share> {
        let own = self.hosts.share(self.position, clients);
        let share = Share { first: own.start, clients: own.end - own.start, all: clients };
        (self.has_others() && self.shared.contains(&index)).then_some(share)
    }
}

/// The part of an order that only engines in a server have.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServerOrder {
    /// Where the server listens, password included.
    pub(crate) endpoint: Endpoint,
    /// The application, for steps beyond keys and values.
    pub(crate) application: Option<Application>,
    /// Procedures to call once on data that are discarded, by position and in order.
    pub(crate) checked: Vec<u16>,
}

/// Parent to worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Command {
    /// Execute this order; the first message of all.
    Run(Box<Order>),
    /// The readings at this boundary are taken: go on.
    Go,
    /// Stop after the operations in flight.
    Stop,
    /// Begin the clients at this time of the worker's clock.
    Start { at: Nanos },
    /// Report the time of the worker's clock at once, unless it is a [`SIGN_OF_LIFE`].
    Ping { number: u64 },
    /// Whether each interval of the probe's measured span is invalid, in order.
    Classified { is_invalid: Vec<bool> },
}

/// Worker to parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Message {
    /// The engine is open.
    Opened(Box<Opened>),
    /// The machine of a worker on a client host; its first message.
    Machine { host: Box<Host> },
    /// The time of the worker's clock when it read the `Ping` of this number.
    Pong { number: u64, now: Nanos },
    /// Every client of a shared step has its session; they begin when the parent sends `Start`.
    Ready,
    /// A statement outside of measured spans waits for a lock: what it waits for.
    Waits { text: String },
    /// The variant cannot be run; the worker ends.
    Refused { refusal: Refusal },
    /// Result of a library's smoke test: its failure, if any.
    SmokeTested { failure: Option<String> },
    /// The client was calibrated on the null engine; comes before `Opened`.
    Calibrated { calibration: Calibration },
    /// A step begins (its warm-up, if it has one).
    StepBegins { index: u32 },
    /// A probe of a search begins (its warm-up).
    ProbeBegins(ProbeBegins),
    /// A probe's measured span is over; the worker waits for `Classified`.
    ProbeMeasured { after: Box<EngineState> },
    /// A probe is over: the search so far, that probe the last.
    ProbeEnds { search: Box<SearchRecord> },
    /// The measured span of a step or probe begins when the parent sends `Go`.
    ///
    /// Where it is patient, one operation may take any time: an index is built.
    MeasuringBegins { before: Box<EngineState>, is_patient: bool },
    /// An interval is over: its counts follow when every client has ended an operation.
    IntervalEnds,
    /// One interval, complete.
    Interval(Box<IntervalMessage>),
    /// A sign of progress: operations ended since the step began.
    Heartbeat { operations: u64 },
    /// The clients of a step with events on its server have ended; the worker waits for `Go`.
    EventsAwaited,
    /// A step's clients have ended; its settle begins when the parent sends `Go`.
    SettleBegins { after: Box<EngineState> },
    /// A stage between the clients' spans begins; the engine of a settle may be busy up to its cap.
    Stage {
        name: String,
        #[serde(default)]
        is_settle: bool,
    },
    /// A step is over; the worker waits for `Go`.
    StepEnds(Box<StepEnds>),
    /// The statements of a finished step.
    Statements { index: u32, statements: Vec<StatementRecord> },
    /// Row counts after a finished step were wrong; the worker ends.
    Violated { reason: String },
    /// A text of the engine's, to archive under that name.
    EngineText { name: String, text: String },
    /// The engine is closed; the worker ends.
    Closed { clock: ClockRecord },
}

impl Message {
    /// Returns the begin of a stage that is no settle's.
    pub(crate) fn stage(name: impl Into<String>) -> Self {
        Self::Stage { name: name.into(), is_settle: false }
    }
}

/// An open engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub(crate) identity: Identity,
    pub(crate) effective_options: Options,
    /// What the durability class of its writes rests on.
    #[serde(default)]
    pub(crate) durability: Box<DurabilityRecord>,
    /// Its own files to archive when the run ends.
    pub(crate) keep: Vec<PathBuf>,
    /// Ends of the names of files that the engine never rewrites.
    #[serde(default)]
    pub(crate) immutable: Vec<String>,
    /// The data set that another worker of the run can join.
    #[serde(default)]
    pub(crate) data_set: Option<String>,
}

/// The load of a search's probe.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbeBegins {
    /// Position in the search, 0-based.
    pub number: u32,
    /// Its purpose.
    pub purpose: Purpose,
    /// Clients.
    pub clients: u32,
    /// Offered rate; absent in the closed loop.
    pub offered_ops_per_s: Option<f64>,
    /// Warm-up and measured span together.
    pub length: Nanos,
}

/// One interval, as measured by the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IntervalMessage {
    /// Probe of a search it belongs to.
    pub(crate) probe: Option<u32>,
    pub(crate) is_warmup: bool,
    pub(crate) start: Nanos,
    pub(crate) length: Nanos,
    pub(crate) clients: Vec<KindTimes>,
    pub(crate) writers: Vec<KindTimes>,
    /// Histogram of the clients' start lag, in an open loop: HdrHistogram V2, base64.
    pub(crate) start_lag: Option<String>,
    /// Age, at its end, of the oldest arrival not begun.
    pub(crate) backlog: Nanos,
    /// Growth of the worker's own counters over the interval.
    pub(crate) growth: Readings,
    /// The engine's and the allocator's readings at its end, cumulative.
    pub(crate) engine: Readings,
    /// The same of single tables and indexes.
    #[serde(default)]
    pub(crate) tables: TableReadings,
    /// Each client's longest operation that began in an earlier interval.
    #[serde(default)]
    pub(crate) spanning: Vec<SpanningOp>,
    /// The histograms, of an interval that several workers measured: they replace those above.
    #[serde(skip)]
    pub(crate) decoded: Option<Box<DecodedTimes>>,
}

/// The histograms of an interval.
#[derive(Debug)]
pub(crate) struct DecodedTimes {
    pub(crate) groups: Groups,
    pub(crate) start_lag: Option<Histogram<u64>>,
}

/// Counts and times of one kind of operation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KindTimes {
    pub(crate) kind: OpKind,
    pub(crate) counts: OpCounts,
    /// Histogram of response times: HdrHistogram V2, base64.
    pub(crate) response: String,
    /// Histogram of service times: HdrHistogram V2, base64.
    pub(crate) service: String,
}

/// Arrivals that an open loop had not served at its end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CensoredAges {
    /// Kind that they are counted under where nothing was done.
    pub(crate) kind: Option<OpKind>,
    /// Histogram of their ages: HdrHistogram V2, base64.
    pub(crate) ages: String,
}

/// A finished step, as measured by the worker.
///
/// Of a search, counts and growth are those of the probe that confirmed the result; empty when
/// none did.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StepEnds {
    pub(crate) index: u32,
    pub(crate) duration: Nanos,
    /// Operations, which must be those of its intervals.
    pub(crate) counts: Counts,
    /// Growth of the worker's own counters over the measured span.
    pub(crate) growth: Readings,
    /// State at the end of the measured span.
    pub(crate) after: EngineState,
    pub(crate) malloc: Option<MallocRecord>,
    /// The settle; its span, if any, has the worker's own counters and the engine's last state.
    pub(crate) settle: Option<SettleRecord>,
    pub(crate) arrivals: Option<ArrivalsRecord>,
    /// Arrivals not served, in an open loop.
    pub(crate) censored: Option<CensoredAges>,
    pub(crate) search: Option<SearchRecord>,
    /// Transactions held open.
    #[serde(default)]
    pub(crate) holds: Option<HoldsRecord>,
    /// Begin of the measured span, of the worker's clock.
    #[serde(default)]
    pub(crate) begun: Nanos,
    /// Spans in which no client had a success; in steps with events.
    #[serde(default)]
    pub(crate) outages: Vec<Outage>,
    /// When the engine was closed and opened again, of the worker's clock.
    #[serde(default)]
    pub(crate) reopened: Vec<TimeSpan>,
    /// The step's writes, compared with the rows after its events.
    #[serde(default)]
    pub(crate) writes: Option<WriteCheck>,
    /// The application's calls by procedure.
    #[serde(default)]
    pub(crate) procedures: Vec<ProcedureRecord>,
    /// What the server's sessions waited for.
    #[serde(default)]
    pub(crate) waits: Option<WaitProfile>,
    /// Findings of the worker.
    #[serde(default)]
    pub(crate) findings: Vec<Finding>,
    pub(crate) end: StepEnd,
}

impl StepEnds {
    /// Returns the result of a step without clients, or of one that did not run.
    pub(crate) fn without_clients(index: u32, end: StepEnd) -> Self {
        Self { index, end, ..Self::default() }
    }
}
