//! The columns of RocksDB's benchmark.sh, from exact counters in place of its log's text.
//!
//! Source: [RocksDB benchmark.sh], report.tsv. Deviations: write amplification counts flushes once,
//! where the script adds them to compaction, which contains them; sizes and CPU are of counters and
//! not of one decimal of GB; CPU is in seconds, where the script divides these by 1000; stalls are
//! those of the step, not since the database was opened. With a server CPU is that of both
//! processes, and memory the server's.

use analysis::{is_of_server, primary_operations};
use model::{Better, float};

use super::report::{Measured, Report};
use crate::run::number;

pub(super) static REPORT: Report = Report {
    title: "RocksDB's benchmark.sh",
    columns: &[
        ("ops_sec", "operations per second"),
        ("mb_sec", "MiB of keys and values per second"),
        ("lsm_sz", "GiB of the engine's files at the end, without blob files"),
        ("blob_sz", "GiB of the files of separated values at the end"),
        ("c_wgb", "GiB written by flushes and compaction"),
        ("w_amp", "bytes flushed and compacted per byte put"),
        ("c_mbps", "c_wgb in MiB per second"),
        (
            "c_wsecs",
            "sum of the seconds of all flushes and compactions, parallel flushes and \
                     compactions included",
        ),
        ("c_csecs", "CPU seconds of all flushes and compactions"),
        ("b_rgb", "GiB of blob files that compaction read"),
        ("b_wgb", "GiB written to blob files"),
        ("usec_op", "microseconds of one client per operation: clients x time / operations"),
        ("p50", "median service time, us"),
        ("p99", "99th percentile of service time, us"),
        ("p99.9", "99.9th percentile of service time, us"),
        ("p99.99", "99.99th percentile of service time, us"),
        ("pmax", "longest service time, us"),
        ("uptime", "seconds of the step"),
        ("stall%", "time with stalled writes, %"),
        ("Nstall", "times that writes were delayed or stopped"),
        (
            "u_cpu",
            "seconds of CPU time in user mode of the worker process and, if there is one, of \
                   the server",
        ),
        (
            "s_cpu",
            "seconds of CPU time in kernel mode of the worker process and, if there is one, \
                   of the server",
        ),
        (
            "rss",
            "largest resident memory of the worker process, or of the server if there is one, \
                 GiB",
        ),
    ],
    better: |column| match column {
        "ops_sec" | "mb_sec" => Better::Higher,
        "c_mbps" | "c_wsecs" | "c_csecs" | "uptime" | "u_cpu" | "s_cpu" => Better::Neither,
        _ => Better::Lower,
    },
    value,
    text: |column, value| match column {
        "ops_sec" | "uptime" | "pmax" | "Nstall" => format!("{value:.0}"),
        "lsm_sz" | "blob_sz" | "c_wgb" | "b_rgb" | "b_wgb" | "rss" => format!("{value:.3}"),
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
    let rate = metric("throughput_ops_per_s");
    // Of a mean operation of the whole step: the rate leaves invalid intervals out.
    let bytes: u64 = one.step.clients.values().map(|it| it.counts.bytes).sum();
    let bytes_per_op = float(bytes) / float(primary_operations(one.step).max(1));
    let clients = f64::from(one.step.step.clients);
    let cpu_s = |of_process: &str, of_server: &str| {
        let own = counter(of_process)?;
        let of_server = counter(of_server).or_else(|| (!is_of_server(one.step)).then_some(0.0));
        of_server.map(|us| (own + us) / 1e6)
    };
    match column {
        "ops_sec" => rate,
        "mb_sec" => rate.map(|rate| rate * bytes_per_op / MIB),
        "lsm_sz" => end("engine_disk_bytes")
            .map(|bytes| (bytes - end("engine_blob_bytes").unwrap_or(0.0)) / GIB),
        "blob_sz" => end("engine_blob_bytes").map(|bytes| bytes / GIB),
        "c_wgb" => written().map(|bytes| bytes / GIB),
        "w_amp" => metric("write_amplification"),
        "c_mbps" => written().map(|bytes| bytes / MIB / seconds),
        "c_wsecs" => counter("engine_job_us").map(|us| us / 1e6),
        "c_csecs" => counter("engine_job_cpu_us").map(|us| us / 1e6),
        "b_rgb" => counter("engine_blob_read_bytes").map(|bytes| bytes / GIB),
        "b_wgb" => counter("engine_blob_write_bytes").map(|bytes| bytes / GIB),
        "usec_op" => rate.filter(|rate| *rate > 0.0).map(|rate| 1e6 * clients / rate),
        "p50" => micros("service_ns_p50"),
        "p99" => micros("service_ns_p99"),
        "p99.9" => micros("service_ns_p999"),
        "p99.99" => micros("service_ns_p9999"),
        "pmax" => micros("service_ns_max"),
        "uptime" => Some(seconds),
        "stall%" => metric("stall_share").map(|share| 100.0 * share),
        "Nstall" => counter("engine_stalls"),
        "u_cpu" => cpu_s("process_cpu_user_us", "server_cpu_user_us"),
        "s_cpu" => cpu_s("process_cpu_kernel_us", "server_cpu_kernel_us"),
        "rss" => number(one.cpus, one.step, column),
        _ => None,
    }
}
