//! Intervals for the tests.

use model::record::{OpCounts, OpSummaries, OpSummary};
use model::{IntervalRecord, Nanos, OpKind, TableReadings, metric};

use crate::tally::{GroupTally, KindTally};

/// Gets with response times of `ns` and service times of half of it.
pub(crate) fn gets(done: u64, ns: u64) -> GroupTally {
    let mut tally = KindTally::default();
    tally.response.record_n(ns, done).unwrap();
    tally.service.record_n(ns / 2, done).unwrap();
    tally.counts.done = done;
    [(OpKind::Get, tally)].into()
}

/// The record of a second of gets.
pub(crate) fn interval(done: u64) -> IntervalRecord {
    let counts = OpCounts { done, ..OpCounts::default() };
    IntervalRecord {
        step_index: 0,
        step: "readrandom".to_owned(),
        is_warmup: false,
        start_ns: Nanos(0),
        length_ns: Nanos::SECOND,
        clients: [(OpKind::Get, OpSummary { counts, ..OpSummary::default() })].into(),
        writers: OpSummaries::new(),
        probe: None,
        invalid: None,
        start_lag: None,
        within_limit: None,
        spanning: Vec::new(),
        readings: [(metric::PROCESS_CPU_USER_US, 7.0), (metric::RSS_BYTES, 5.0)].into(),
        tables: TableReadings::new(),
    }
}
