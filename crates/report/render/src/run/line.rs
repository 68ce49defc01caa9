//! The one-line summary of a step, as in insert benchmark reports.
//!
//! Source: [Callaghan 2022-11-29], summary line: its columns, order and formulas. Deviations: exact
//! counters over the measured span instead of averaged samples; rates of all clients instead of
//! client 1; for a server, counters of its control group (and of the client, where the original
//! includes it) instead of the host's.

use analysis::metrics::rows_put;
use analysis::{is_of_server, primary_operations};
use model::{Manifest, OpKind, OpUnit, RunRecord, StepRecord};

use crate::figure::{MISSING, float};

/// The columns with their meanings, in order.
pub const COLUMNS: &[(&str, &str)] = &[
    ("ips", "rows put per second, by clients and background writers; of an index build, indexed"),
    ("qps", "queries and transactions per second"),
    ("rps", "reads per second, of the device or of the server"),
    ("rmbps", "MiB read per second"),
    ("wps", "writes per second, of the device or of the server"),
    ("wmbps", "MiB written per second"),
    ("rpq", "reads per operation"),
    ("rkbpq", "KiB read per operation"),
    ("wpi", "writes per row put"),
    ("wkbpi", "KiB written per row put"),
    ("csps", "context switches per second, of the host or of server and client"),
    ("cpups", "CPU used, in % of all CPUs of the host, client included"),
    ("cspq", "context switches per operation"),
    ("cpupq", "CPU microseconds per operation, client included"),
    ("dbgb1", "GiB of the database's files at the end, as the engine counts them, logs left out"),
    ("dbgb2", "GiB of the data directory at the end, logs included"),
    ("rss", "largest resident memory of the worker, or memory of the server, GiB"),
    ("maxop", "longest response time of an operation, seconds"),
    ("p50", "THROUGHPUT, not a time: operations done in the median second"),
    ("p99", "THROUGHPUT, not a time: operations done in the worst second but one in a hundred"),
    ("tag", "rows.build.variant.clients"),
];

/// Returns the scope of the columns of storage, memory and CPU.
pub(super) fn scope(steps: &[&StepRecord]) -> &'static str {
    let has = |name: &str| steps.iter().any(|step| step.counters.contains_key(name));
    if has("server_cpu_user_us") && has("server_reads") && !has("server_writes") {
        "Reads and memory are those of the server's control group; CPU and context switches those of \
         server and client together. The host's other work is excluded. Writes are not known: control \
         groups of version 1 do not count what the kernel writes back."
    } else if has("server_cpu_user_us") {
        "Reads, writes and memory are those of the server's control group; CPU and context switches \
         those of server and client together. The host's other work is excluded."
    } else if steps.iter().any(|step| is_of_server(step)) {
        "The server was not started by Assay: its reads, writes, memory and CPU are not known."
    } else {
        "Reads and writes are those of the device, CPU and context switches those of the host, of \
         all processes."
    }
}

/// Returns the step's summary: one value per column of [`COLUMNS`].
///
/// An operation is a query in steps whose clients read and a row put in steps that load, as
/// everywhere: [`primary_operations`].
///
/// Source: as this module.
pub fn one_line(
    manifest: &Manifest,
    run: &RunRecord,
    step: &StepRecord,
) -> Vec<(&'static str, String)> {
    let line = Line { manifest, run, step };
    COLUMNS.iter().map(|(name, _)| (*name, line.value(name))).collect()
}

struct Line<'a> {
    manifest: &'a Manifest,
    run: &'a RunRecord,
    step: &'a StepRecord,
}

impl Line<'_> {
    fn value(&self, column: &str) -> String {
        const MIB: f64 = 1_048_576.0;
        const GIB: f64 = 1_073_741_824.0;
        let (ops, rows) = (float(primary_operations(self.step)), self.rows());
        let seconds = self.step.duration_ns.as_secs_f64();
        let counted = self.step.counted_ns().as_secs_f64();
        let per = |what: Counted, divisor: f64| ratio(self.counted(what), divisor);
        let end = |name: &str| self.step.final_gauges().get(name).copied();
        match column {
            "ips" => whole(ratio(Some(rows), seconds)),
            "qps" => whole(ratio(Some(self.queries()), seconds)),
            "rps" => whole(per(READS, counted)),
            "rmbps" => decimals(1, per(READ_BYTES, counted * MIB)),
            "wps" => whole(per(WRITES, counted)),
            "wmbps" => decimals(1, per(WRITE_BYTES, counted * MIB)),
            "rpq" => decimals(3, per(READS, ops)),
            "rkbpq" => decimals(3, per(READ_BYTES, ops * 1024.0)),
            "wpi" => decimals(3, per(WRITES, rows)),
            "wkbpi" => decimals(3, per(WRITE_BYTES, rows * 1024.0)),
            "csps" => whole(per(SWITCHES, counted)),
            "cpups" => decimals(1, self.cpu_percent(counted)),
            "cspq" => decimals(3, per(SWITCHES, ops)),
            "cpupq" => decimals(1, per(CPU, ops)),
            "dbgb1" => gib(self.database_bytes()),
            "dbgb2" => gib(end("data_dir_bytes")),
            "rss" => decimals(2, self.memory_bytes().map(|it| it / GIB)),
            "maxop" => decimals(3, self.longest_s()),
            "p50" => whole(self.of_seconds(self.step.seconds.p50_ops)),
            "p99" => whole(self.of_seconds(self.step.seconds.p1_ops)),
            "tag" => self.tag(),
            _ => MISSING.to_owned(),
        }
    }

    fn counter(&self, name: &str) -> Option<f64> {
        self.step.counters.get(name).copied()
    }

    /// Returns a counter of the server (with the client, where the original includes it).
    ///
    /// Without a server that of device or host; nothing for a server Assay did not start.
    fn counted(&self, (server, host): Counted) -> Option<f64> {
        let all = |names: &[&str]| names.iter().map(|name| self.counter(name)).sum::<Option<f64>>();
        let of_host = || all(&[host]).filter(|_| !is_of_server(self.step));
        all(server).or_else(of_host)
    }

    /// Returns the rows that the step put, or indexed.
    fn rows(&self) -> f64 {
        match self.step.step.unit {
            OpUnit::Rows(_) => float(primary_operations(self.step)),
            OpUnit::Operation | OpUnit::Row => float(rows_put(self.step)),
        }
    }

    /// Returns the bytes of the database's files at the end of the step.
    fn database_bytes(&self) -> Option<f64> {
        let end = |name: &str| self.step.final_gauges().get(name).copied();
        let less_logs = || Some(end("data_dir_bytes")? - end("log_bytes")?);
        end("engine_disk_bytes").or_else(less_logs)
    }

    fn memory_bytes(&self) -> Option<f64> {
        let most = |name: &str| self.step.gauges_max.get(name).copied();
        let own = || most("rss_bytes").filter(|_| !is_of_server(self.step));
        most("server_memory_bytes").or_else(own)
    }

    fn queries(&self) -> f64 {
        let is_query = |kind: &OpKind| !kind.is_write() && *kind != OpKind::Define;
        let clients = self.step.clients.iter().filter(|(kind, _)| is_query(kind));
        float(clients.map(|(_, summary)| summary.counts.done).sum())
    }

    fn cpu_percent(&self, seconds: f64) -> Option<f64> {
        let capacity_us = seconds * 1e6 * f64::from(self.manifest.host.cpus);
        ratio(self.counted(CPU), capacity_us).map(|share| 100.0 * share)
    }

    /// Returns the longest response time: of an insert where the clients insert, else of any.
    fn longest_s(&self) -> Option<f64> {
        let clients = &self.step.clients;
        let has_inserts = clients.contains_key(&OpKind::Insert);
        let all = clients.iter().filter(|(kind, _)| !has_inserts || **kind == OpKind::Insert);
        let timed = all.filter(|(_, summary)| summary.response.count > 0);
        timed.map(|(_, summary)| float(summary.response.max_ns) / 1e9).reduce(f64::max)
    }

    fn of_seconds(&self, rate: f64) -> Option<f64> {
        (self.step.seconds.seconds > 0).then_some(rate)
    }

    fn tag(&self) -> String {
        let rows = float(self.manifest.plan.experiment.data.rows);
        let rows = if rows < 1e6 { format!("{}k", rows / 1e3) } else { format!("{}m", rows / 1e6) };
        let cell = &self.run.cell;
        format!("{rows}.{}.{}.c{}", self.run.variant.build, cell.variant, cell.clients)
    }
}

/// Counters of a server (with the client's), and that of device or host without one.
type Counted = (&'static [&'static str], &'static str);

const READS: Counted = (&["server_reads"], "device_reads");
const READ_BYTES: Counted = (&["server_read_bytes"], "device_read_bytes");
const WRITES: Counted = (&["server_writes"], "device_writes");
const WRITE_BYTES: Counted = (&["server_write_bytes"], "device_write_bytes");
const SWITCHES: Counted = (
    &["server_context_switches", "context_switches_voluntary", "context_switches_involuntary"],
    "host_context_switches",
);
const CPU: Counted = (
    &["server_cpu_user_us", "server_cpu_kernel_us", "process_cpu_user_us", "process_cpu_kernel_us"],
    "host_cpu_busy_us",
);

/// Returns GiB with the one decimal of the original, or with three where that shows nothing.
fn gib(bytes: Option<f64>) -> String {
    const GIB: f64 = 1_073_741_824.0;
    let gib = bytes.map(|bytes| bytes / GIB);
    decimals(if gib.is_some_and(|gib| gib < 0.095) { 3 } else { 1 }, gib)
}

fn whole(value: Option<f64>) -> String {
    decimals(0, value)
}

fn decimals(count: usize, value: Option<f64>) -> String {
    value.map_or_else(|| MISSING.to_owned(), |value| format!("{value:.count$}"))
}

fn ratio(part: Option<f64>, whole: f64) -> Option<f64> {
    part.filter(|_| whole > 0.0).map(|part| part / whole)
}
