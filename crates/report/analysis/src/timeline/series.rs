//! What is known of each second: rates, gauges and shares.

use std::collections::BTreeMap;

use model::record::{FailureClass, FailureCounts, IntervalRecord, Percentiles};
use model::{Metric, OpKind, Readings, Unit, float, metric};

use super::second::MeasuredStep;
use crate::metrics::interval_operations;

/// Name of the throughput of each second.
pub(super) const THROUGHPUT: &str = "throughput_ops_per_s";
/// Shortest interval that has a rate: the ragged end of a step has none.
const SHORTEST_S: f64 = 0.5;

/// How a series comes from the readings of an interval.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// Growth of a counter per second.
    Rate(Metric),
    /// Value at the interval's end.
    Gauge(Metric),
    /// Growth of a counter of time as a share of the interval.
    TimeShare(Metric),
    /// Share of the lookups that hit the cache.
    HitShare,
}

/// The series of the whole engine, with their labels, in the order they are shown.
const SERIES: [(&str, Of); 33] = [
    ("checkpoints running", Of::Gauge(metric::ENGINE_CHECKPOINTS_RUNNING)),
    ("written by checkpoints /s", Of::Rate(metric::ENGINE_CHECKPOINT_WRITE_BYTES)),
    ("log since checkpoint", Of::Gauge(metric::ENGINE_CHECKPOINT_AGE_BYTES)),
    ("standby behind", Of::Gauge(metric::ENGINE_REPLICA_LAG_BYTES)),
    ("standby behind, time", Of::Gauge(metric::ENGINE_REPLICA_LAG_US)),
    ("dirty in cache", Of::Gauge(metric::ENGINE_DIRTY_BYTES)),
    ("pages written /s", Of::Rate(metric::ENGINE_PAGE_WRITE_BYTES)),
    ("log written /s", Of::Rate(metric::ENGINE_WAL_WRITE_BYTES)),
    ("binary log /s", Of::Rate(metric::ENGINE_BINLOG_WRITE_BYTES)),
    ("syncs /s", Of::Rate(metric::ENGINE_FSYNCS)),
    ("cache hits", Of::HitShare),
    ("dead rows, history", Of::Gauge(metric::ENGINE_GARBAGE_ROWS)),
    ("rows purged /s", Of::Rate(metric::ENGINE_PURGED_ROWS)),
    ("vacuums running", Of::Gauge(metric::ENGINE_VACUUMS_RUNNING)),
    ("compaction debt", Of::Gauge(metric::ENGINE_DEBT_BYTES)),
    ("flushed /s", Of::Rate(metric::ENGINE_FLUSH_WRITE_BYTES)),
    ("compacted /s", Of::Rate(metric::ENGINE_COMPACTION_WRITE_BYTES)),
    ("level 0 files", Of::Gauge(metric::ENGINE_L0_FILES)),
    ("memtables", Of::Gauge(metric::ENGINE_MEMTABLE_BYTES)),
    ("server memory", Of::Gauge(metric::SERVER_RSS_BYTES)),
    ("server address space", Of::Gauge(metric::SERVER_VSZ_BYTES)),
    ("process memory", Of::Gauge(metric::RSS_BYTES)),
    ("writers delayed", Of::TimeShare(metric::ENGINE_STALL_US)),
    ("delays, stops /s", Of::Rate(metric::ENGINE_STALLS)),
    ("connections", Of::Gauge(metric::ENGINE_CONNECTIONS)),
    ("active connections", Of::Gauge(metric::ENGINE_ACTIVE_CONNECTIONS)),
    ("waiting for locks", Of::Gauge(metric::ENGINE_LOCK_WAITERS)),
    ("waits for row locks /s", Of::Rate(metric::ENGINE_LOCK_WAITS)),
    ("data files", Of::Gauge(metric::ENGINE_DISK_BYTES)),
    ("device writes /s", Of::Rate(metric::DEVICE_WRITE_BYTES)),
    ("device reads /s", Of::Rate(metric::DEVICE_READ_BYTES)),
    ("device busy", Of::TimeShare(metric::DEVICE_BUSY_US)),
    ("CPU stolen", Of::TimeShare(metric::HOST_STEAL_US)),
];

/// The series of each table and index.
const OF_TABLES: [(&str, Of); 2] = [
    ("size", Of::Gauge(metric::ENGINE_DISK_BYTES)),
    ("dead rows", Of::Gauge(metric::ENGINE_GARBAGE_ROWS)),
];

/// One quantity, second by second.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSeries {
    /// Name for programs: the metric's, with `_per_s` or `_share` where it is one.
    pub name: String,
    /// Name for readers, without the table.
    pub label: String,
    /// The table or index that it is of; `None` for the whole engine.
    pub table: Option<String>,
    /// Unit of the values.
    pub unit: Unit,
    /// A value for each interval; `None` where unknown.
    pub values: Vec<Option<f64>>,
}

impl TimeSeries {
    /// Returns smallest and largest known value; `None` when none is known.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let known = || self.values.iter().flatten().copied();
        Some((known().reduce(f64::min)?, known().reduce(f64::max)?))
    }
}

/// Returns all series of a step that have a value; throughput and p99 first.
pub(super) fn all(step: &MeasuredStep<'_>, intervals: &[&IntervalRecord]) -> Vec<TimeSeries> {
    let mut all = vec![throughput(step, intervals), latency(step, intervals)];
    all.extend(failures(intervals));
    for (label, of) in SERIES {
        let values = intervals.iter().map(|one| of.value(&one.readings, seconds_of(one)));
        all.push(of.series(label, None, values.collect()));
    }
    let mut tables: BTreeMap<&String, f64> = BTreeMap::new();
    for (name, readings) in intervals.iter().flat_map(|interval| &interval.tables) {
        let size = readings.value(metric::ENGINE_DISK_BYTES).unwrap_or(0.0);
        let largest = tables.entry(name).or_default();
        *largest = largest.max(size);
    }
    let mut tables: Vec<(&String, f64)> = tables.into_iter().collect();
    tables.sort_by(|one, two| two.1.total_cmp(&one.1));
    for (name, _) in tables {
        for (label, of) in OF_TABLES {
            let value = |one: &&IntervalRecord| of.value(one.tables.get(name)?, seconds_of(one));
            let values = intervals.iter().map(value).collect();
            all.push(of.series(label, Some(name.clone()), values));
        }
    }
    all.retain(|series| series.values.iter().any(Option::is_some));
    all
}

impl Of {
    fn series(self, label: &str, table: Option<String>, values: Vec<Option<f64>>) -> TimeSeries {
        let (name, unit) = match self {
            Self::Rate(of) => (format!("{}_per_s", of.name), of.unit),
            Self::Gauge(of) => (of.name.to_owned(), of.unit),
            Self::TimeShare(of) => (format!("{}_share", of.name), Unit::Share),
            Self::HitShare => (metric::CACHE_HIT_SHARE.name.to_owned(), Unit::Share),
        };
        TimeSeries { name, label: label.to_owned(), table, unit, values }
    }

    /// Returns the value of an interval of this length in seconds.
    fn value(self, readings: &Readings, length_s: Option<f64>) -> Option<f64> {
        match self {
            Self::Rate(of) => Some(readings.value(of)? / length_s?),
            Self::Gauge(of) => readings.value(of),
            Self::TimeShare(of) => Some(readings.value(of)? / 1e6 / length_s?),
            Self::HitShare => {
                let hits = readings.value(metric::ENGINE_CACHE_HITS)?;
                let all = hits + readings.value(metric::ENGINE_CACHE_MISSES)?;
                (all > 0.0).then_some(hits / all)
            }
        }
    }
}

/// Returns the length of an interval that is long enough for a rate.
fn seconds_of(interval: &IntervalRecord) -> Option<f64> {
    Some(interval.length_ns.as_secs_f64()).filter(|length| *length >= SHORTEST_S)
}

fn throughput(step: &MeasuredStep<'_>, intervals: &[&IntervalRecord]) -> TimeSeries {
    let rate = |interval: &&IntervalRecord| {
        Some(float(interval_operations(step.step, interval)) / seconds_of(interval)?)
    };
    TimeSeries {
        name: THROUGHPUT.to_owned(),
        label: "throughput /s".to_owned(),
        table: None,
        unit: Unit::OpsPerSecond,
        values: intervals.iter().map(rate).collect(),
    }
}

/// Returns the failed operations per second of each class that occurred.
fn failures(intervals: &[&IntervalRecord]) -> Vec<TimeSeries> {
    let failed = |interval: &&IntervalRecord| {
        let mut failed = FailureCounts::default();
        interval.clients.values().for_each(|summary| failed.merge(&summary.counts.failures));
        (failed, seconds_of(interval))
    };
    let seconds: Vec<_> = intervals.iter().map(failed).collect();
    let occurred = |class: &FailureClass| seconds.iter().any(|(failed, _)| failed.of(*class) > 0);
    let series = |class: FailureClass| {
        let rate = |(failed, length): &(FailureCounts, Option<f64>)| {
            Some(float(failed.of(class)) / (*length)?)
        };
        TimeSeries {
            name: format!("failed_{}_per_s", class.name().replace(' ', "_")),
            label: format!("failed /s: {class}"),
            table: None,
            unit: Unit::OpsPerSecond,
            values: seconds.iter().map(rate).collect(),
        }
    };
    FailureClass::ALL.into_iter().filter(occurred).map(series).collect()
}

/// Returns the p99 of the kind of operation that the step has most of.
///
/// Response times where operations are due at a moment, service times in a closed loop.
fn latency(step: &MeasuredStep<'_>, intervals: &[&IntervalRecord]) -> TimeSeries {
    let mut done: BTreeMap<OpKind, u64> = BTreeMap::new();
    for (kind, summary) in intervals.iter().flat_map(|interval| &interval.clients) {
        *done.entry(*kind).or_default() += summary.counts.done;
    }
    let most = done.iter().max_by_key(|(_, done)| **done).map(|(kind, _)| *kind);
    let (name, what) = match step.has_arrivals() {
        true => (metric::RESPONSE_NS_P99.name, "response p99"),
        false => (metric::SERVICE_NS_P99.name, "service p99"),
    };
    let p99 = |interval: &&IntervalRecord| {
        let summary = interval.clients.get(&most?)?;
        let times = if step.has_arrivals() { &summary.response } else { &summary.service };
        Some(times).filter(|times| times.count > 0).map(|times: &Percentiles| float(times.p99_ns))
    };
    let of_kind = most.filter(|_| done.len() > 1).map(|kind| format!(" of {}", kind.name()));
    TimeSeries {
        name: name.to_owned(),
        label: format!("{what}{}", of_kind.unwrap_or_default()),
        table: None,
        unit: Unit::Nanos,
        values: intervals.iter().map(p99).collect(),
    }
}
