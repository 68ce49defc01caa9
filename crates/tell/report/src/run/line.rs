//! The one-line summary of a step, in the seeds' column order and with the seeds' formulas.
//!
//! Source: M. Callaghan, insert benchmark reports, summary line. Deviations: exact counters over
//! the measured span take the place of averaged samples, and rates are those of all clients
//! where the original shows client 1.

use analysis::metrics::rows_put;
use analysis::primary_operations;
use model::{Manifest, OpKind, RunRecord, StepRecord};

use crate::figure::MISSING;

/// The columns with their meanings, in order.
pub const COLUMNS: &[(&str, &str)] = &[
    ("ips", "rows put per second, by clients and background writer"),
    ("qps", "queries (get, multi_get, scan) per second"),
    ("rps", "device reads per second"),
    ("rmbps", "MiB read from the device per second"),
    ("wps", "device writes per second"),
    ("wmbps", "MiB written to the device per second"),
    ("rpq", "device reads per operation"),
    ("rkbpq", "KiB read from the device per operation"),
    ("wpi", "device writes per row put"),
    ("wkbpi", "KiB written to the device per row put"),
    ("csps", "context switches per second, whole host"),
    ("cpups", "CPU used, in % of all CPUs of the host, client included"),
    ("cspq", "context switches per operation, whole host"),
    ("cpupq", "CPU microseconds per operation, whole host, client included"),
    ("dbgb", "GiB of the data directory at the end, logs included"),
    ("rss", "largest resident memory of the worker, GiB"),
    ("maxop", "longest time of an operation, seconds"),
    ("p50", "THROUGHPUT, not a time: operations done in the median second"),
    ("p99", "THROUGHPUT, not a time: operations done in the worst second but one in a hundred"),
    ("tag", "rows.build.variant.clients"),
];

/// Returns the step's summary: one value per column of [`COLUMNS`], `NA` where not known.
///
/// An operation is a query in steps whose clients read and a row put in steps that load, as
/// everywhere: [`primary_operations`].
///
/// Source: as this module.
#[must_use]
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
        let (ops, rows) = (self.operations(), float(rows_put(self.step)));
        let seconds = self.step.duration_ns.as_secs_f64();
        let per = |name: &str, divisor: f64| ratio(self.counter(name), divisor);
        match column {
            "ips" => whole(ratio(Some(rows), seconds)),
            "qps" => whole(ratio(Some(self.queries()), seconds)),
            "rps" => whole(per("device_reads", seconds)),
            "rmbps" => decimals(1, per("device_read_bytes", seconds * MIB)),
            "wps" => whole(per("device_writes", seconds)),
            "wmbps" => decimals(1, per("device_write_bytes", seconds * MIB)),
            "rpq" => decimals(3, per("device_reads", ops)),
            "rkbpq" => decimals(3, per("device_read_bytes", ops * 1024.0)),
            "wpi" => decimals(3, per("device_writes", rows)),
            "wkbpi" => decimals(3, per("device_write_bytes", rows * 1024.0)),
            "csps" => whole(per("host_context_switches", seconds)),
            "cpups" => decimals(1, self.cpu_percent(seconds)),
            "cspq" => decimals(3, per("host_context_switches", ops)),
            "cpupq" => decimals(1, per("host_cpu_busy_us", ops)),
            "dbgb" => decimals(1, self.step.gauges_end.get("data_dir_bytes").map(|it| it / GIB)),
            "rss" => decimals(2, self.step.gauges_max.get("rss_bytes").map(|it| it / GIB)),
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

    fn operations(&self) -> f64 {
        float(primary_operations(self.step))
    }

    fn queries(&self) -> f64 {
        let is_query = |kind: &OpKind| !kind.is_write();
        let clients = self.step.clients.iter().filter(|(kind, _)| is_query(kind));
        float(clients.map(|(_, summary)| summary.counts.done).sum())
    }

    fn cpu_percent(&self, seconds: f64) -> Option<f64> {
        let capacity_us = seconds * 1e6 * f64::from(self.manifest.host.cpus);
        ratio(self.counter("host_cpu_busy_us"), capacity_us).map(|share| 100.0 * share)
    }

    fn longest_s(&self) -> Option<f64> {
        let timed = self.step.clients.values().filter(|summary| summary.response.count > 0);
        timed.map(|summary| float(summary.response.max_ns) / 1e9).reduce(f64::max)
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

fn whole(value: Option<f64>) -> String {
    decimals(0, value)
}

fn decimals(count: usize, value: Option<f64>) -> String {
    value.map_or_else(|| MISSING.to_owned(), |value| format!("{value:.count$}"))
}

fn ratio(part: Option<f64>, whole: f64) -> Option<f64> {
    part.filter(|_| whole > 0.0).map(|part| part / whole)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
