//! The columns of RocksDB's benchmark.sh, from exact counters in place of its log's text.
//!
//! Source: [RocksDB benchmark.sh], report.tsv. Deviations: write amplification counts flushes once,
//! where the script adds them to compaction, which contains them; sizes and CPU are of counters and
//! not of one decimal of GB; stalls are those of the step, not since the database was opened.

use super::report::{Better, Measured, Report};
use crate::figure::float;

use Better::{Higher, Lower, Neither};

pub(super) static REPORT: Report = Report {
    title: "RocksDB's benchmark.sh",
    columns: &[
        ("ops_sec", "operations per second", Higher),
        ("mb_sec", "MiB of keys and values per second", Higher),
        ("lsm_sz", "GiB of the engine's files at the end, blob files left out", Lower),
        ("blob_sz", "GiB of the files of separated values at the end", Lower),
        ("c_wgb", "GiB written by flushes and compaction", Lower),
        ("w_amp", "bytes flushed and compacted per byte put", Lower),
        ("c_mbps", "c_wgb in MiB per second", Neither),
        ("b_wgb", "GiB written to blob files", Lower),
        ("usec_op", "client microseconds per operation: clients x time / operations", Lower),
        ("p50", "response time, us", Lower),
        ("p99", "response time, us", Lower),
        ("p99.9", "response time, us", Lower),
        ("p99.99", "response time, us", Lower),
        ("pmax", "longest response time, us", Lower),
        ("uptime", "seconds of the step", Neither),
        ("stall%", "time with stalled writes, %", Lower),
        ("Nstall", "times that writes were delayed or stopped", Lower),
        ("u_cpu", "user CPU of the process, s", Neither),
        ("s_cpu", "kernel CPU of the process, s", Neither),
        ("rss", "largest resident memory, GiB", Lower),
    ],
    value,
    text: |column, value| match column {
        "ops_sec" | "uptime" | "pmax" | "Nstall" => format!("{value:.0}"),
        "lsm_sz" | "blob_sz" | "c_wgb" | "b_wgb" | "rss" => format!("{value:.3}"),
        _ => format!("{value:.1}"),
    },
};

fn value(one: &Measured<'_>, column: &str) -> Option<f64> {
    const MIB: f64 = 1_048_576.0;
    const GIB: f64 = 1_073_741_824.0;
    let metric = |name: &str| one.metrics.get(name).copied();
    let counter = |name: &str| one.step.counters.get(name).copied();
    let end = |name: &str| one.step.final_gauges().get(name).copied();
    let micros = |name: &str| metric(name).map(|ns| ns / 1e3);
    let seconds = Some(one.step.duration_ns.as_secs_f64()).filter(|seconds| *seconds > 0.0)?;
    let written =
        || Some(counter("engine_flush_write_bytes")? + counter("engine_compaction_write_bytes")?);
    let put = || -> u64 { one.step.clients.values().map(|it| it.counts.bytes).sum() };
    let clients = f64::from(one.step.step.clients);
    match column {
        "ops_sec" => metric("throughput_ops_per_s"),
        "mb_sec" => Some(float(put()) / MIB / seconds),
        "lsm_sz" => end("engine_disk_bytes")
            .map(|bytes| (bytes - end("engine_blob_bytes").unwrap_or(0.0)) / GIB),
        "blob_sz" => end("engine_blob_bytes").map(|bytes| bytes / GIB),
        "c_wgb" => written().map(|bytes| bytes / GIB),
        "w_amp" => metric("write_amplification"),
        "c_mbps" => written().map(|bytes| bytes / MIB / seconds),
        "b_wgb" => counter("engine_blob_write_bytes").map(|bytes| bytes / GIB),
        "usec_op" => metric("throughput_ops_per_s").map(|rate| 1e6 * clients / rate),
        "p50" => micros("response_ns_p50").or_else(|| micros("service_ns_p50")),
        "p99" => micros("response_ns_p99").or_else(|| micros("service_ns_p99")),
        "p99.9" => micros("response_ns_p999").or_else(|| micros("service_ns_p999")),
        "p99.99" => micros("response_ns_p9999").or_else(|| micros("service_ns_p9999")),
        "pmax" => micros("response_ns_max").or_else(|| micros("service_ns_max")),
        "uptime" => Some(seconds),
        "stall%" => metric("stall_share").map(|share| 100.0 * share),
        "Nstall" => counter("engine_stalls"),
        "u_cpu" => counter("process_cpu_user_us").map(|us| us / 1e6),
        "s_cpu" => counter("process_cpu_kernel_us").map(|us| us / 1e6),
        "rss" => metric("rss_peak_bytes").map(|bytes| bytes / GIB),
        _ => None,
    }
}
