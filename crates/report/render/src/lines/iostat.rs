//! The columns of `iostat -x`, from the same counters of the block layer.
//!
//! Source: [iostat(1)], extended statistics; a test compares them with iostat during a load.

use model::Better;

use super::report::{Measured, Report};

pub(super) static REPORT: Report = Report {
    title: "iostat -x",
    columns: &[
        ("r/s", "read requests per second"),
        ("rkB/s", "KiB read per second"),
        ("r_await", "milliseconds per read request, including the queue"),
        ("rareq-sz", "KiB per read request"),
        ("w/s", "write requests per second"),
        ("wkB/s", "KiB written per second"),
        ("w_await", "milliseconds per write request"),
        ("wareq-sz", "KiB per write request"),
        ("f_await", "milliseconds per flush request"),
        ("aqu-sz", "requests in the queue or at the device"),
        ("%util", "time in which the device had a request, %"),
    ],
    better: |column| match column {
        "r_await" | "w_await" | "f_await" => Better::Lower,
        _ => Better::Neither,
    },
    value,
    text: |column, value| match column {
        "r/s" | "rkB/s" | "w/s" | "wkB/s" => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    },
};

fn value(one: &Measured<'_>, column: &str) -> Option<f64> {
    let metric = |name: &str| one.metrics.get(name).copied();
    let seconds = Some(one.step.sampled_ns().as_secs_f64()).filter(|seconds| *seconds > 0.0)?;
    let rate = |name: &str| Some(one.step.counters.get(name)? / seconds);
    match column {
        "r/s" => rate("device_reads"),
        "rkB/s" => rate("device_read_bytes").map(|bytes| bytes / 1024.0),
        "r_await" => metric("device_read_await_us").map(|us| us / 1e3),
        "rareq-sz" => metric("device_read_size_kib"),
        "w/s" => rate("device_writes"),
        "wkB/s" => rate("device_write_bytes").map(|bytes| bytes / 1024.0),
        "w_await" => metric("device_write_await_us").map(|us| us / 1e3),
        "wareq-sz" => metric("device_write_size_kib"),
        "f_await" => metric("device_flush_await_us").map(|us| us / 1e3),
        "aqu-sz" => metric("device_queue_length"),
        "%util" => metric("device_busy_share").map(|share| 100.0 * share),
        _ => None,
    }
}
