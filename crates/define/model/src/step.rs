//! A step: one phase of a benchmark.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::capability::OpKind;
use crate::device::{IoPattern, IoTest};
use crate::load::{Limit, Load};
use crate::op_summary::OpSummaries;
use crate::step_event::StepEvent;
use crate::units::{Bytes, Nanos, clients};

/// Description of a step kind, declared by the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct StepInfo {
    /// The step's name, as written in experiment files.
    pub name: Cow<'static, str>,
    /// Description, one sentence without a full stop.
    pub about: Cow<'static, str>,
    /// Operation kinds its clients and its background writer use.
    pub needs: BTreeSet<OpKind>,
    /// What it does to the data.
    pub role: StepRole,
    /// Operations as a share of the rows; `None` when timed.
    pub share_of_rows: Option<f64>,
    /// Whether a rate-limited background writer runs with the clients.
    pub has_writer: bool,
    /// Whether it always runs with one client.
    pub is_single_client: bool,
}

/// What a step does to the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepRole {
    /// Fills an empty engine.
    Load,
    /// Reads only.
    Read,
    /// Writes to existing data.
    Write,
    /// Reads while a background writer writes.
    ReadWrite,
    /// Runs no operations: brings the engine to a state.
    Maintain,
}

/// Names of key-value steps that rules refer to.
pub mod name {
    /// Compacts the whole tree.
    pub const COMPACT: &str = "compact";
    /// Leaves part of the rows absent.
    pub const DELETERANDOM: &str = "deleterandom";
    /// Loads in key order.
    pub const FILLSEQ: &str = "fillseq";
    /// Reads keys that are absent.
    pub const READMISSING: &str = "readmissing";
    /// Reads by sequence number, which few engines have.
    pub const READSEQNO: &str = "readseqno";
    /// Reads rows by YCSB's distribution.
    pub const YCSB_C: &str = "ycsb-c";
    /// Waits until deferred work is done.
    pub const SETTLE: &str = "settle";
}

impl StepRole {
    /// Returns the role of a key-value step or a test of storage; a step of another name writes.
    pub(crate) fn of_key_value(step: &str) -> Self {
        match step {
            name::FILLSEQ | "fillrandom" | "filluniquerandom" => Self::Load,
            name::READMISSING
            | "readrandom"
            | "multireadrandom"
            | "fwdrange"
            | "revrange"
            | "fieldread"
            | name::READSEQNO
            | name::YCSB_C => Self::Read,
            "readwhilewriting"
            | "fwdrangewhilewriting"
            | "revrangewhilewriting"
            | "ycsb-a"
            | "ycsb-b"
            | "ycsb-d"
            | "ycsb-e"
            | "ycsb-f" => Self::ReadWrite,
            name::COMPACT | name::SETTLE => Self::Maintain,
            test => match test.parse().map(|test: IoTest| test.pattern) {
                Ok(IoPattern::RandRead) => Self::Read,
                Ok(IoPattern::RandRw) => Self::ReadWrite,
                Ok(_) | Err(_) => Self::Write,
            },
        }
    }

    /// Returns whether it writes, with readers or without.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Load | Self::Write | Self::ReadWrite)
    }
}

/// What counts as one operation when a step's costs are divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpUnit {
    /// Each request.
    #[default]
    Operation,
    /// Each row written or returned: a statement may insert a hundred.
    Row,
    /// The rows that the step works on, however few statements that takes: an index is built.
    Rows(u64),
}

impl OpUnit {
    /// Returns whether each request counts as one.
    pub fn is_operation(&self) -> bool {
        *self == Self::Operation
    }

    /// Returns the work done in this unit, for costs and rates.
    ///
    /// Deleted rows count only in a step whose clients insert none: with inserts they hold a
    /// table's size constant. A step whose clients insert has that kind in its summaries, and in
    /// those of an interval without an insert too. A fixed number of rows is done as a whole, so
    /// single intervals of such a step carry no information.
    ///
    /// Source: [Callaghan mytools], insert benchmark summaries: `op` is the query in query steps
    /// and the insert in load steps, and deletes are not added.
    pub fn done(&self, of: &OpSummaries) -> u64 {
        let rows = |is_wanted: fn(OpKind) -> bool| -> u64 {
            let wanted = of.iter().filter(|(kind, _)| is_wanted(**kind));
            wanted.map(|(_, summary)| summary.counts.rows).sum()
        };
        match self {
            Self::Operation => of.values().map(|summary| summary.counts.done).sum(),
            Self::Row => match rows(|kind| kind != OpKind::Delete) {
                0 if !of.contains_key(&OpKind::Insert) => rows(|kind| kind == OpKind::Delete),
                others => others,
            },
            Self::Rows(count) if of.values().any(|summary| summary.counts.done > 0) => *count,
            Self::Rows(_) => 0,
        }
    }
}

/// When a step's clients stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopRule {
    /// After this many operations, shared among the clients.
    Operations(u64),
    /// After this long.
    Duration(Nanos),
}

/// One step with every setting resolved, as a worker executes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The step's name, of the workload's registry.
    pub name: String,
    /// Clients, >= 1.
    pub clients: u32,
    /// Connections of each client, each with a separate thread, >= 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub connections: u32,
    /// When the clients stop.
    pub stop: StopRule,
    /// Unmeasured time before the measured span, for steps that end by duration.
    pub warmup: Nanos,
    /// How the clients' operations arrive.
    pub load: Load,
    /// The response-time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Key distribution, as written (`uniform`, `zipf:0.99`).
    pub distribution: String,
    /// Rows of a range read, >= 1.
    pub range_rows: u32,
    /// Keys of a `multi_get`, >= 1.
    pub batch_keys: u32,
    /// Bytes of a part of a value that is read, replaced or appended, >= 8.
    #[serde(default = "field_bytes")]
    pub field_bytes: u32,
    /// Rate limit of the background writer, key and value bytes per second.
    pub writer_bytes_per_s: Option<Bytes>,
    /// Longest time a settle or a wait may take.
    pub settle_cap: Nanos,
    /// What counts as one operation when costs are divided.
    #[serde(default, skip_serializing_if = "OpUnit::is_operation")]
    pub unit: OpUnit,
    /// Faults that it holds, in the order of their times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<StepEvent>,
}

/// Clients of a step in the runs of one level.
///
/// A step may have its own number: a fill in order has one client at every level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StepClients {
    /// Level of the clients factor, as the user chose it.
    #[serde(rename = "clients")]
    pub level: u32,
    /// Clients of the step.
    #[serde(rename = "clients_of_step")]
    pub number: u32,
}

impl fmt::Display for StepClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clients(self.number))?;
        match self.number == self.level {
            true => Ok(()),
            false => write!(f, " (in runs of {})", self.level),
        }
    }
}

/// Returns the bytes of a part of a value by default: a field of YCSB.
///
/// Source: [Cooper et al. 2010], core workloads (ten fields of 100 bytes).
const fn field_bytes() -> u32 {
    100
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_one(connections: &u32) -> bool {
    *connections == 1
}

impl Default for Step {
    fn default() -> Self {
        Self::new("", StopRule::Operations(0))
    }
}

impl Step {
    /// Returns the clients of the step in runs of a level.
    pub const fn clients_at(&self, level: u32) -> StepClients {
        let number = if self.clients == 0 { level } else { self.clients };
        StepClients { level, number }
    }

    /// Returns whether it inserts rows behind the rows of the experiment.
    pub fn adds_rows(&self) -> bool {
        matches!(self.name.as_str(), "ycsb-d" | "ycsb-e")
    }

    /// Returns the threads of so many clients: one for each connection.
    pub const fn threads(&self, clients: u32) -> u32 {
        clients.saturating_mul(self.connections)
    }

    /// Returns a step of one closed-loop client with default settings.
    ///
    /// Uniform keys, no warm-up, ranges of 10 rows, batches of 10 keys, parts of 100
    /// bytes, a settle of a minute at most.
    pub fn new(name: impl Into<String>, stop: StopRule) -> Self {
        Self {
            name: name.into(),
            clients: 1,
            connections: 1,
            stop,
            warmup: Nanos(0),
            load: Load::Closed,
            limit: None,
            distribution: "uniform".to_owned(),
            range_rows: 10,
            batch_keys: 10,
            field_bytes: field_bytes(),
            writer_bytes_per_s: None,
            settle_cap: Nanos::from_secs(60),
            unit: OpUnit::Operation,
            events: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_summary::{OpCounts, OpSummary};

    fn summaries(kinds: &[(OpKind, u64, u64)]) -> OpSummaries {
        let one = |&(kind, done, rows): &(OpKind, u64, u64)| {
            let counts = OpCounts { done, rows, ..OpCounts::default() };
            (kind, OpSummary { counts, ..OpSummary::default() })
        };
        kinds.iter().map(one).collect()
    }

    #[test]
    fn clients_of_a_step_are_its_own_or_those_of_the_level() {
        let fill = Step::new("fillseq", StopRule::Operations(1)).clients_at(2);
        assert_eq!((fill.level, fill.number), (2, 1));
        assert_eq!(fill.to_string(), "1 client (in runs of 2)");
        let read = Step { clients: 0, ..Step::new("readrandom", StopRule::Operations(1)) };
        assert_eq!(read.clients_at(2).to_string(), "2 clients");
    }

    #[test]
    fn work_is_counted_in_requests_or_in_rows_without_deletes() {
        let both = summaries(&[(OpKind::Insert, 10, 1_000), (OpKind::Delete, 10, 990)]);
        assert_eq!(OpUnit::Operation.done(&both), 20);
        assert_eq!(OpUnit::Row.done(&both), 1_000);
        assert_eq!(OpUnit::Row.done(&summaries(&[(OpKind::Delete, 10, 990)])), 990);
        let deletes = summaries(&[(OpKind::Insert, 0, 0), (OpKind::Delete, 10, 990)]);
        assert_eq!(OpUnit::Row.done(&deletes), 0, "a second in which no insert ended");
        assert_eq!(OpUnit::Rows(5_000).done(&summaries(&[(OpKind::Define, 3, 0)])), 5_000);
        assert_eq!(OpUnit::Rows(5_000).done(&summaries(&[(OpKind::Define, 0, 0)])), 0);
    }
}
