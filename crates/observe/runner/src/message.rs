//! What parent and worker say to each other: one JSON object a line, nothing else.
//!
//! The worker may run behind a pipe of any kind; nothing here names a file descriptor or a host.

use std::path::PathBuf;

use model::record::{ClockRecord, OpCounts, SettleRecord};
use model::{
    Cell, DataShape, EngineState, Identity, Nanos, OpKind, Options, Readings, Step, Variant,
};
use serde::{Deserialize, Serialize};

/// The library of an engine build that is loaded at run time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// The file.
    pub path: PathBuf,
    /// Its SHA-256, in hex.
    pub sha256: String,
    /// Where it came from, for people.
    pub origin: String,
}

/// One run's order: everything a worker needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) cell: Cell,
    pub(crate) variant: Variant,
    pub(crate) steps: Vec<Step>,
    pub(crate) data: DataShape,
    pub(crate) library: Option<Library>,
    pub(crate) dir: PathBuf,
}

/// Parent to worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum Command {
    /// Execute this; the first message of all.
    Run(Box<Order>),
    /// The readings at this boundary are taken: go on.
    Go,
    /// Stop after the operations in hand.
    Stop,
}

/// Worker to parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum Message {
    /// The engine is open; `keep` are files of its own to be archived when the run ends.
    Opened { identity: Identity, effective_options: Options, keep: Vec<PathBuf> },
    /// The engine refused to open; `option` names the culprit when it is an option.
    Refused { option: Option<String>, reason: String },
    /// A step begins (its warm-up, if it has one).
    StepBegins { index: u32 },
    /// The measured span begins when the parent says `Go`.
    MeasuringBegins { before: Box<EngineState> },
    /// One interval is over.
    Interval(Box<IntervalMessage>),
    /// The worker lives; operations ended since the step began.
    Heartbeat { operations: u64 },
    /// A stage of a settle begins.
    Stage { name: String },
    /// A step is over; the worker waits for `Go`.
    StepEnds(Box<StepEnds>),
    /// A text of the engine's, to be kept under that name.
    EngineText { name: String, text: String },
    /// The engine is closed; the worker ends.
    Closed { clock: ClockRecord },
}

/// One interval, as the worker saw it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IntervalMessage {
    pub(crate) is_warmup: bool,
    pub(crate) start: Nanos,
    pub(crate) length: Nanos,
    pub(crate) clients: Vec<KindTimes>,
    pub(crate) writers: Vec<KindTimes>,
    /// Growth of the worker's own counters over the interval.
    pub(crate) growth: Readings,
    /// The engine's readings now, cumulative.
    pub(crate) engine: Readings,
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

/// A finished step, as the worker saw it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StepEnds {
    pub(crate) index: u32,
    pub(crate) duration: Nanos,
    pub(crate) clients: Vec<KindTimes>,
    pub(crate) writers: Vec<KindTimes>,
    /// Growth of the worker's own counters over the measured span, settle included.
    pub(crate) growth: Readings,
    pub(crate) after: EngineState,
    pub(crate) settle: Option<SettleRecord>,
    pub(crate) end: StepEnd,
}

/// How a step ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub(crate) enum StepEnd {
    /// It did all it was asked.
    #[default]
    Finished,
    /// It was told to stop.
    Stopped,
    /// It could not go on.
    Failed { reason: String },
}
