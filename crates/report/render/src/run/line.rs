//! The one-line summary of a step, as in insert benchmark reports.
//!
//! Source: [Callaghan 2022-11-29], summary line: its columns, order and formulas. Deviations: exact
//! counters over the measured span instead of averaged samples; rates of all clients instead of
//! client 1; for a server, counters of its control group (and of the client, where the original
//! includes it) instead of the host's. Where its group counts no writes, those of the device, by
//! all processes, have columns of their own.

use analysis::metrics::rows_put;
use analysis::{is_of_server, primary_operations};
use model::record::SERVER_NOT_COUNTED;
use model::{CpuCount, Manifest, OpKind, RunRecord, StepRecord, float};

use crate::figure::MISSING;

/// Name and meaning of a column.
pub(crate) type Column = (&'static str, &'static str);

/// The columns with their meanings, in order.
pub const COLUMNS: &[Column] = &[
    (
        "ips",
        "rows put per second, by clients and background writers; for an index build, rows \
             indexed",
    ),
    ("qps", "queries and transactions per second"),
    ("rps", "reads per second of the device or the server"),
    ("rmbps", "MiB read per second"),
    ("wps", "writes per second of the server, or of the device if there is no server"),
    ("wmbps", "MiB written per second"),
    ("rpq", "reads per operation"),
    ("rkbpq", "KiB read per operation"),
    ("wpi", "writes per row put"),
    ("wkbpi", "KiB written per row put"),
    (
        "dev_wps",
        "writes of the device per second, by all processes, because writes of the server \
                 are not known",
    ),
    ("dev_wmbps", "MiB written to the device per second, by all processes"),
    ("dev_wpi", "writes of the device per row put, by all processes"),
    ("dev_wkbpi", "KiB written to the device per row put, by all processes"),
    ("csps", "context switches per second, of the host or of server and client"),
    ("cpups", "CPU used, in % of all CPUs of server and client"),
    ("cspq", "context switches per operation"),
    ("cpupq", "CPU microseconds per operation, client included"),
    ("dbgb1", "GiB of the database's files at the end, as the engine counts them, logs left out"),
    ("dbgb2", "GiB of the data directory at the end, logs included"),
    ("rss", "largest resident memory of the worker or of the server, GiB"),
    ("maxop", "longest response time of an operation, seconds"),
    ("p50", "THROUGHPUT, not a time: operations done in the median second"),
    ("p99", "THROUGHPUT, not a time: 1st percentile of the operations done in a second"),
    ("tag", "rows.build.variant.clients"),
];

/// Returns the scope of the columns of storage, memory and CPU.
pub(super) fn scope(run: &RunRecord, steps: &[&StepRecord]) -> String {
    let has = |name: &str| steps.iter().any(|step| step.counters.contains_key(name));
    let facts = run.identity.as_ref().map(|identity| &identity.facts);
    if let Some(absence) = facts.and_then(|facts| facts.get(SERVER_NOT_COUNTED)) {
        return format!("Values of the server that are NA are not counted: {absence}.");
    }
    let text = if has("server_cpu_user_us") && !has("server_writes") {
        "Reads and memory are measured for the server's control group; CPU and context switches \
         for server and client together. The host's other work is excluded. The server's writes \
         are not known, because control groups of version 1 do not count writes by the kernel's \
         write-back. Columns that begin with `dev_` are measured for the device, by all processes."
    } else if has("server_cpu_user_us") {
        "Reads, writes and memory are measured for the server's control group; CPU and context \
         switches for server and client together. The host's other work is excluded."
    } else if steps.iter().any(|step| is_of_server(step)) {
        "The server was not started by Assay, and its processes were not found: its reads, writes, \
         memory and CPU are not known."
    } else {
        "Reads and writes are measured for the device, CPU and context switches for the host, both \
         by all processes."
    };
    let is_elsewhere = !run.client_hosts.is_empty();
    let clients = if is_elsewhere { " The clients' CPU is that of their hosts." } else { "" };
    format!("{text}{clients}")
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
    let value = |name: &str| match name {
        "tag" => tag(manifest.plan.experiment.data.rows, run),
        _ => shown(name, number(cpus(manifest, run), step, name)),
    };
    COLUMNS.iter().map(|(name, _)| (*name, value(name))).collect()
}

/// Returns the CPUs of the run's hosts: its host, and the client hosts with other names.
pub(super) fn cpus(manifest: &Manifest, run: &RunRecord) -> CpuCount {
    let server = run.machine.as_ref().map(|machine| &machine.name);
    let clients = run.client_hosts.iter().filter(|client| Some(&client.name) != server);
    clients.fold(run.host_or(&manifest.host).cpus, |sum, client| sum.and(client.host.cpus))
}

/// Returns the number of a column of [`COLUMNS`]; `None` when it is not known, and for the tag.
pub(crate) fn number(cpus: CpuCount, step: &StepRecord, column: &str) -> Option<f64> {
    Line { cpus, step }.number(column)
}

/// Returns the number of a column as the original writes it.
pub(crate) fn shown(column: &str, number: Option<f64>) -> String {
    match column {
        "rmbps" | "wmbps" | "dev_wmbps" | "cpups" | "cpupq" => decimals(1, number),
        "rpq" | "rkbpq" | "wpi" | "wkbpi" | "dev_wpi" | "dev_wkbpi" | "cspq" | "maxop" => {
            decimals(3, number)
        }
        "dbgb1" | "dbgb2" => gib(number),
        "rss" => decimals(2, number),
        _ => decimals(0, number),
    }
}

/// Returns whether a column has the device's writes, next to a server whose own are not known.
pub(crate) fn is_of_device(column: &str) -> bool {
    column.starts_with("dev_")
}

/// Returns rows, build, variant and clients of a run.
fn tag(rows: u64, run: &RunRecord) -> String {
    let rows = float(rows);
    let rows = if rows < 1e6 { format!("{}k", rows / 1e3) } else { format!("{}m", rows / 1e6) };
    let cell = &run.cell;
    format!("{rows}.{}.{}.c{}", run.variant.build, cell.variant, cell.clients)
}

struct Line<'a> {
    /// CPUs of the host.
    cpus: CpuCount,
    step: &'a StepRecord,
}

impl Line<'_> {
    fn number(&self, column: &str) -> Option<f64> {
        const MIB: f64 = 1_048_576.0;
        const GIB: f64 = 1_073_741_824.0;
        let (ops, rows) = (float(primary_operations(self.step)), float(rows_put(self.step)));
        let seconds = self.step.duration_ns.as_secs_f64();
        let sampled = self.step.sampled_ns().as_secs_f64();
        let per = |what: Counted, divisor: f64| ratio(self.counted(what), divisor);
        let end = |name: &str| self.step.final_gauges().get(name).copied();
        match column {
            "ips" => ratio(Some(rows), seconds),
            "qps" => ratio(Some(self.queries()), seconds),
            "rps" => per(READS, sampled),
            "rmbps" => per(READ_BYTES, sampled * MIB),
            "wps" => per(WRITES, sampled),
            "wmbps" => per(WRITE_BYTES, sampled * MIB),
            "rpq" => per(READS, ops),
            "rkbpq" => per(READ_BYTES, ops * 1024.0),
            "wpi" => per(WRITES, rows),
            "wkbpi" => per(WRITE_BYTES, rows * 1024.0),
            "dev_wps" => ratio(self.of_device(WRITES), sampled),
            "dev_wmbps" => ratio(self.of_device(WRITE_BYTES), sampled * MIB),
            "dev_wpi" => ratio(self.of_device(WRITES), rows),
            "dev_wkbpi" => ratio(self.of_device(WRITE_BYTES), rows * 1024.0),
            "csps" => per(SWITCHES, sampled),
            "cpups" => self.cpu_percent(sampled),
            "cspq" => per(SWITCHES, ops),
            "cpupq" => per(CPU, ops),
            "dbgb1" => self.database_bytes().map(|bytes| bytes / GIB),
            "dbgb2" => end("data_dir_bytes").map(|bytes| bytes / GIB),
            "rss" => self.memory_bytes().map(|bytes| bytes / GIB),
            "maxop" => self.longest_s(),
            "p50" => self.of_seconds(self.step.seconds.p50_ops),
            "p99" => self.of_seconds(self.step.seconds.p1_ops),
            _ => None,
        }
    }

    fn counter(&self, name: &str) -> Option<f64> {
        self.step.counters.get(name).copied()
    }

    /// Returns a counter of the server (with the client, where the original includes it).
    ///
    /// Without a server that of device or host; nothing for a server Assay did not start, nor for
    /// what its control group does not count.
    fn counted(&self, (server, host): Counted) -> Option<f64> {
        let all = |names: &[&str]| names.iter().map(|name| self.counter(name)).sum::<Option<f64>>();
        all(server).or_else(|| self.counter(host).filter(|_| !is_of_server(self.step)))
    }

    /// Returns the device's counter where a started server's own is not known.
    fn of_device(&self, counted: Counted) -> Option<f64> {
        let is_started = self.counter("server_cpu_user_us").is_some();
        let is_unknown = is_started && self.counted(counted).is_none();
        self.counter(counted.1).filter(|_| is_unknown)
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
        let of_server = || most("server_memory_bytes").or_else(own);
        most("server_rss_bytes").or_else(of_server)
    }

    fn queries(&self) -> f64 {
        let is_query = |kind: &OpKind| !kind.is_write() && *kind != OpKind::Define;
        let clients = self.step.clients.iter().filter(|(kind, _)| is_query(kind));
        float(clients.map(|(_, summary)| summary.counts.done).sum::<u64>())
    }

    fn cpu_percent(&self, seconds: f64) -> Option<f64> {
        let capacity_us = seconds * 1e6 * self.cpus.value();
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
fn gib(gib: Option<f64>) -> String {
    decimals(if gib.is_some_and(|gib| gib < 0.095) { 3 } else { 1 }, gib)
}

fn decimals(count: usize, value: Option<f64>) -> String {
    value.map_or_else(|| MISSING.to_owned(), |value| format!("{value:.count$}"))
}

fn ratio(part: Option<f64>, whole: f64) -> Option<f64> {
    part.filter(|_| whole > 0.0).map(|part| part / whole)
}
