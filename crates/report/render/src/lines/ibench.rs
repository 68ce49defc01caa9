//! The columns of insert benchmark reports: the columns of one run's line, without the tag.

use model::Better;

use super::report::Report;
use crate::run::{COLUMNS, number, shown};

pub(super) static REPORT: Report = Report {
    title: "the Insert Benchmark",
    columns: COLUMNS.split_at(COLUMNS.len() - 1).0,
    better: |column| match column {
        "ips" | "qps" | "p50" | "p99" => Better::Higher,
        "rpq" | "rkbpq" | "wpi" | "wkbpi" | "cspq" | "cpupq" => Better::Lower,
        "dbgb1" | "dbgb2" | "rss" | "maxop" => Better::Lower,
        _ => Better::Neither,
    },
    value: |one, column| number(one.cpus, one.step, column),
    text: |column, value| shown(column, Some(value)),
};
