//! Records of a run: the archive's file formats.
//!
//! A change that older readers cannot read raises [`SCHEMA`] and adds a fixture to the archive's
//! tests; every older fixture must still load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::allocator::MallocRecord;
use crate::buckets::Buckets;
use crate::build::Identity;
use crate::client_host::ClientHost;
use crate::drive::DriveSpan;
use crate::experiment::{Cell, Plan, Variant};
use crate::guarantee::DurabilityRecord;
use crate::host::{Host, Machine};
use crate::metric;
use crate::number::whole;
use crate::options::Options;
use crate::profile::{ProfileRecord, ProfileTarget};
use crate::readings::Readings;
use crate::shared_load::SharedLoad;
use crate::sql::statement_record::StatementRecord;
use crate::sql::waits::WaitProfile;
use crate::state::{EngineState, TableReadings};
use crate::step::{Step, StepRole};
use crate::step_event::{EventRecord, ReconnectPolicy};
use crate::time_profile::TimeProfile;
use crate::units::Nanos;
use crate::validity::{
    ArrivalsRecord, Calibration, InvalidIntervals, InvalidReason, LoadStatus, SearchRecord,
};
use crate::write_check::WriteCheck;

pub use crate::clock_record::ClockRecord;
pub use crate::failure::{FailureClass, FailureCounts};
pub use crate::finding::{Finding, Severity};
pub use crate::op_summary::{
    OpCounts, OpSummaries, OpSummary, Percentiles, SpanningOp, total_counts,
};
pub use crate::run_end::RunEnd;
pub use crate::sql::connections::HoldsRecord;
pub use crate::sql::procedure_record::{ProcedureRecord, StatementTiming};

/// Version of the shapes in this file.
pub const SCHEMA: u32 = 1;

/// An experiment's manifest: `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the file's shape.
    pub schema: u32,
    /// Identifier: the directory's name.
    pub id: String,
    /// When it was begun, UTC, RFC 3339.
    pub created_at: String,
    /// Version of Assay.
    pub assay_version: String,
    /// The command line, as typed.
    pub command_line: Vec<String>,
    /// The plan, with its order of cells.
    pub plan: Plan,
    /// The machine.
    pub host: Host,
    /// Library of each variant's build (path and hash), by variant name.
    pub builds: BTreeMap<String, Identity>,
}

/// One second of a step: one line of `intervals.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// The step's name.
    pub step: String,
    /// Whether the interval belongs to the warm-up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_warmup: bool,
    /// Start, relative to the step or the probe.
    pub start_ns: Nanos,
    /// Length.
    pub length_ns: Nanos,
    /// The measured clients, by kind of operation.
    pub clients: OpSummaries,
    /// The background writers, by kind of operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub writers: OpSummaries,
    /// Probe of a search it belongs to; see [`StepRecord::has_measured`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<u32>,
    /// Why it is invalid: the client, not the engine, was late.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "void")]
    pub invalid: Option<InvalidReason>,
    /// Lateness of the clients that waited for an arrival; open loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_lag: Option<Percentiles>,
    /// Operations of the measured clients within the step's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<u64>,
    /// Operations that ended in this invalid interval and count: it is a small part of their time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spanning: Vec<SpanningOp>,
    /// Counters' growth over the interval and gauges' values at its end.
    pub readings: Readings,
    /// The same of single tables and indexes, by name; absent in older records.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: TableReadings,
}

/// How a settle went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SettleRecord {
    /// Time until the engine was idle, all stages together.
    pub took_ns: Nanos,
    /// Stages in order, with the time each took.
    pub stages: Vec<(String, Nanos)>,
    /// Whether the cap was reached before the engine was idle.
    pub is_capped: bool,
    /// Its own span; absent where the step's counters include it.
    ///
    /// So in a step that is nothing but a settle, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Box<SettleSpan>>,
}

/// What a settle took, apart from the step before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SettleSpan {
    /// Counters' growth over the settle.
    pub counters: Readings,
    /// Gauges at its end; those before it are the step's.
    pub gauges_end: Readings,
    /// The engine's state at its end; that before it is the step's.
    pub after: EngineState,
}

/// Throughput over the step's whole seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondStats {
    /// Whole seconds measured.
    pub seconds: u64,
    /// Operations done in the worst second but one in a hundred.
    pub p1_ops: f64,
    /// Operations done in the median second.
    pub p50_ops: f64,
    /// Operations done in the best second.
    pub max_ops: f64,
    /// Whole seconds in which nothing was done.
    pub stalled_seconds: u64,
}

/// One executed step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Position in the run, 0-based.
    pub index: u32,
    /// The step as executed.
    pub step: Step,
    /// What it does to the data; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<StepRole>,
    /// When the measured span began, UTC, RFC 3339.
    pub started_at: String,
    /// Length of the measured span.
    pub duration_ns: Nanos,
    /// The measured clients, by kind of operation.
    pub clients: OpSummaries,
    /// The background writers, by kind of operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub writers: OpSummaries,
    /// Calls of an application, by procedure; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub procedures: Vec<ProcedureRecord>,
    /// Service times in ten buckets, background writers included; absent in older records.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub buckets: Buckets,
    /// The same in the finer buckets of embedded engines.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub fine_buckets: Buckets,
    /// Rate the background writers reached, bytes of keys and values per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_bytes_per_s: Option<f64>,
    /// Throughput over whole seconds.
    pub seconds: SecondStats,
    /// Counters' growth over the measured span; see [`StepRecord::counters_include_settle`].
    pub counters: Readings,
    /// Largest value of each gauge over the measured span.
    pub gauges_max: Readings,
    /// Gauges at the end of the measured span.
    pub gauges_end: Readings,
    /// The engine's state when the step began.
    pub before: EngineState,
    /// The engine's state at the end of the measured span.
    pub after: EngineState,
    /// Its events and the availability after each; empty without any, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// How its sessions connected again; absent without a server and events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnect: Option<ReconnectPolicy>,
    /// Its writes, compared with the rows after its events; absent without them or other writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<WriteCheck>,
    /// Transactions that its sessions held open; absent where none was to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<HoldsRecord>,
    /// How the settle went, for steps that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<SettleRecord>,
    /// Counters' growth while the files of the data were synced, after a worker's last step.
    ///
    /// Part of no step; absent after other steps, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced: Option<Readings>,
    /// How the arrivals were served, for an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsRecord>,
    /// Whether the load was sustained, for an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "keeping")]
    pub load_status: Option<LoadStatus>,
    /// Operations of the measured clients within the step's limit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<u64>,
    /// The invalid intervals; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "voided")]
    pub invalid_intervals: Option<InvalidIntervals>,
    /// The search for a rate or a number of clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
    /// Its time profile; absent without operations and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "course")]
    pub time_profile: Option<TimeProfile>,
    /// Warm-up trim applied when reading; never written into a record.
    ///
    /// It removes the start of the measured span, so that all compared runs begin steady.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "cut_ns")]
    pub warmup_trim_ns: Option<Nanos>,
    /// The allocator's statistics at the step's end; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malloc: Option<MallocRecord>,
    /// What the server's sessions waited for; absent without a server, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Box<WaitProfile>>,
    /// The statements of its procedures; empty without an application, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementRecord>,
    /// How each profiled process was sampled; empty without a profile, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileRecord>,
    /// Findings about the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl StepRecord {
    /// Returns the empty record of a step.
    pub fn new(index: u32, step: Step) -> Self {
        Self { index, step, ..Self::default() }
    }

    /// Returns the step's role; of an older record, by its name.
    pub fn role(&self) -> StepRole {
        self.role.unwrap_or_else(|| self.step.role(None))
    }

    /// Returns how a target was profiled; `None` where its profile is absent or refused.
    pub fn profile(&self, target: ProfileTarget) -> Option<&ProfileRecord> {
        self.profiles.iter().find(|one| one.target == target && one.refusal.is_none())
    }

    /// Returns why a step of clients has no CPU profile at all; `None` where it has one, or where
    /// the run was not profiled.
    pub fn profile_refusal(&self) -> Option<&str> {
        let has_load = !self.clients.is_empty() || self.search.is_some();
        let mut reasons = self.profiles.iter().map(|one| one.refusal.as_deref());
        let first = reasons.next().flatten().filter(|_| has_load)?;
        reasons.all(|reason| reason.is_some()).then_some(first)
    }

    /// Returns the span of its settle, where that was measured apart.
    fn settle_span(&self) -> Option<&SettleSpan> {
        self.settle.as_ref()?.span.as_deref()
    }

    /// Returns whether its counters include a settle that its duration does not.
    ///
    /// So in older records of steps with operations and a settle.
    pub fn counters_include_settle(&self) -> bool {
        let is_apart = |settle: &SettleRecord| settle.span.is_some();
        !self.clients.is_empty() && self.settle.as_ref().is_some_and(|settle| !is_apart(settle))
    }

    /// Returns the length of the span that the counters cover.
    pub fn counted_ns(&self) -> Nanos {
        let settle = self.settle.as_ref().filter(|_| self.counters_include_settle());
        settle.map_or(self.duration_ns, |settle| self.duration_ns.after(settle.took_ns))
    }

    /// Returns the length of the span that the counters of host and device cover.
    ///
    /// It is from the first reading to the last, a pause of Assay included; of an older record,
    /// [`StepRecord::counted_ns`].
    pub fn sampled_ns(&self) -> Nanos {
        let sampled_us = self.counters.value(metric::HOST_SAMPLED_US);
        sampled_us.map_or_else(|| self.counted_ns(), |us| Nanos(whole(us * 1e3)))
    }

    /// Returns the counters' growth over its settle; `None` without one, or where it is not known.
    pub fn settle_counters(&self) -> Option<&Readings> {
        let is_whole = self.settle.is_some() && !self.counters_include_settle();
        self.settle_span().map(|span| &span.counters).or(is_whole.then_some(&self.counters))
    }

    /// Returns the gauges after the step, its settle included.
    pub fn final_gauges(&self) -> &Readings {
        self.settle_span().map_or(&self.gauges_end, |span| &span.gauges_end)
    }

    /// Returns the engine's state after the step, its settle included.
    pub fn final_state(&self) -> &EngineState {
        self.settle_span().map_or(&self.after, |span| &span.after)
    }

    /// Returns whether an interval belongs to the step's own measured span.
    ///
    /// Every interval of a search belongs to a probe; the step's own are those of the probe that
    /// confirmed what was found.
    pub fn has_measured(&self, interval: &IntervalRecord) -> bool {
        let own = self.search.as_ref().map(|search| search.confirmed().map(|probe| probe.number));
        let is_own = match own {
            None => interval.probe.is_none(),
            Some(confirmed) => confirmed.is_some() && interval.probe == confirmed,
        };
        interval.step_index == self.index && !interval.is_warmup && is_own
    }
}

/// Fact of a build whose server is not counted by a control group: why not.
pub const SERVER_NOT_COUNTED: &str = "server_not_counted";
/// Fact of a build whose server's writes are not all counted: which of them are.
pub const SERVER_WRITES_COUNTED: &str = "server_writes_counted";

impl RunRecord {
    /// Returns the record of a run that begins, of the experiment with an identifier.
    pub fn begun(experiment_id: &str, cell: &Cell, variant: Variant, started_at: String) -> Self {
        Self {
            schema: SCHEMA,
            id: format!("{experiment_id}/{}", cell.id),
            cell: cell.clone(),
            variant,
            identity: None,
            effective_options: Options::new(),
            clock: None,
            calibration: None,
            invalid: None,
            load: None,
            durability: None,
            drive: None,
            machine: None,
            client_hosts: Vec::new(),
            started_at,
            ended_at: None,
            steps: Vec::new(),
            end: RunEnd::Running,
        }
    }

    /// Returns the host of the run: its machine of a fleet, else the host of the manifest.
    pub fn host_or<'a>(&'a self, host: &'a Host) -> &'a Host {
        self.machine.as_ref().map_or(host, |machine| &machine.host)
    }

    /// Returns whether the figures of its finished steps count.
    ///
    /// Not when its client was late too often, nor when its answers were wrong.
    pub const fn is_counted(&self) -> bool {
        self.invalid.is_none() && !self.has_failed_check()
    }

    /// Returns whether an answer was wrong, rows were lost, or a check did not hold.
    pub const fn has_failed_check(&self) -> bool {
        matches!(self.end, RunEnd::FailedCheck { .. })
    }

    /// Removes readings that do not count what they are named after.
    ///
    /// Older records have the few writes that control groups of version 1 count as all of them.
    pub fn remove_uncounted(&mut self) {
        let facts = self.identity.as_ref().map(|identity| &identity.facts);
        if !facts.is_some_and(|facts| facts.contains_key(SERVER_WRITES_COUNTED)) {
            return;
        }
        for step in &mut self.steps {
            for metric in [metric::SERVER_WRITES, metric::SERVER_WRITE_BYTES] {
                step.counters.remove(metric.name);
            }
        }
    }
}

/// One executed cell: `record.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the file's shape.
    pub schema: u32,
    /// Identifier: experiment id, a slash, cell id.
    pub id: String,
    /// The cell.
    pub cell: Cell,
    /// The variant as specified.
    pub variant: Variant,
    /// Identity of the opened build.
    pub identity: Option<Identity>,
    /// Options read back from the engine after open.
    pub effective_options: Options,
    /// What the durability class of its writes rests on; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Box<DurabilityRecord>>,
    /// The clock check; `None` for an incomplete run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRecord>,
    /// The client's cost and capacity on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Why the run is invalid: the client was late too often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// The load it shares with other runs; absent when it loaded for itself alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<SharedLoad>>,
    /// The drive's own account of its health around the run; absent where none can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<Box<DriveSpan>>,
    /// The machine of a fleet that did the run; absent in a run on the host of the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<Machine>>,
    /// The machines that ran its clients, if the server has another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_hosts: Vec<ClientHost>,
    /// When the run began, UTC, RFC 3339.
    pub started_at: String,
    /// When it ended, UTC, RFC 3339.
    pub ended_at: Option<String>,
    /// The steps executed so far, in order.
    pub steps: Vec<StepRecord>,
    /// How it ended.
    pub end: RunEnd,
}
