//! The columns of insert benchmark reports; their formulas are those of one run's line.

use super::report::{Better, Report};
use crate::run::{number, shown};

use Better::{Higher, Lower, Neither};

pub(super) static REPORT: Report = Report {
    title: "the Insert Benchmark",
    columns: &[
        ("ips", "rows put per second", Higher),
        ("qps", "queries per second", Higher),
        ("rps", "reads from storage per second", Neither),
        ("rmbps", "MiB read per second", Neither),
        ("wps", "writes per second", Neither),
        ("wmbps", "MiB written per second", Neither),
        ("rpq", "reads per operation", Lower),
        ("rkbpq", "KiB read per operation", Lower),
        ("wpi", "writes per row put", Lower),
        ("wkbpi", "KiB written per row put", Lower),
        (
            "dev_wps",
            "writes of the device per second, if writes of the server are not \
                     counted",
            Neither,
        ),
        ("dev_wmbps", "MiB written to the device per second, by all processes", Neither),
        ("dev_wpi", "device's writes per row put, by all processes", Neither),
        ("dev_wkbpi", "KiB written to the device per row put, by all processes", Neither),
        ("csps", "context switches per second", Neither),
        ("cpups", "CPU used, % of all CPUs", Neither),
        ("cspq", "context switches per operation", Lower),
        ("cpupq", "CPU microseconds per operation", Lower),
        ("dbgb1", "GiB of the database's files", Lower),
        ("dbgb2", "GiB of the data directory", Lower),
        ("rss", "resident memory, GiB", Lower),
        ("maxop", "longest response time, s", Lower),
        ("p50", "THROUGHPUT of the median second", Higher),
        ("p99", "THROUGHPUT, 1st percentile of the seconds", Higher),
    ],
    value: |one, column| number(one.cpus, one.step, column),
    text: |column, value| shown(column, Some(value)),
};
