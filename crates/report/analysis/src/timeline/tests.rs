//! Time lines of made-up seconds.

use model::record::{FailureClass, OpCounts, OpSummaries, OpSummary, Percentiles};
use model::validity::{InvalidCause, InvalidIntervals, InvalidReason};
use model::{IntervalRecord, Metric, Nanos, OpKind, Readings, StepRecord, TableReadings, metric};

use super::*;
use crate::testing::{readings, step};

/// A second of so many reads with that p99, in us.
fn second(at: u64, done: u64, p99_us: u64) -> IntervalRecord {
    let counts = OpCounts { done, ..OpCounts::default() };
    let service = Percentiles { count: done, p99_ns: 1_000 * p99_us, ..Percentiles::default() };
    let summary = OpSummary { counts, service, response: service };
    IntervalRecord {
        step_index: 0,
        step: "readrandom".to_owned(),
        is_warmup: false,
        start_ns: Nanos::from_secs(5 + at),
        length_ns: Nanos::SECOND,
        clients: [(OpKind::Get, summary)].into(),
        writers: OpSummaries::new(),
        probe: None,
        invalid: None,
        start_lag: None,
        within_limit: None,
        spanning: Vec::new(),
        readings: Readings::new(),
        tables: TableReadings::new(),
    }
}

/// A minute of which the given seconds have other reads and p99, and other readings.
fn minute(
    odd: &[(u64, u64, u64)],
    sampled: impl Fn(u64) -> Vec<(Metric, f64)>,
) -> Vec<IntervalRecord> {
    let one = |at: u64| {
        let found = odd.iter().find(|(second, ..)| *second == at);
        let (_, done, p99_us) = found.copied().unwrap_or((at, 1_000, 500));
        IntervalRecord { readings: readings(&sampled(at)), ..second(at, done, p99_us) }
    };
    (0..60).map(one).collect()
}

fn of(record: &StepRecord, intervals: &[IntervalRecord]) -> Timeline {
    timeline(&record.into(), intervals).unwrap()
}

fn activity<'a>(timeline: &'a Timeline, label: &str) -> &'a Activity {
    let found = timeline.activities.iter().find(|activity| activity.label == label);
    found.unwrap_or_else(|| panic!("{label}: {:?}", timeline.activities))
}

/// Goal: what ran in a stall is counted, with how often it was so at all.
/// Method: checkpoints run from 20 to 22 s and at 40 s, and each time reads stall; at 50 s they
/// stall without one. Connections are there in every second.
#[test]
fn stalls_are_marked_with_the_checkpoint_that_ran() {
    let odd = [(20, 20, 20_000), (21, 600, 20_000), (40, 0, 0), (50, 10, 900)];
    let intervals = minute(&odd, |at| {
        let runs = (20..22).contains(&at);
        // That of 40 s begins and ends between two samples.
        let bytes = if runs || at == 40 { 5e8 } else { 0.0 };
        vec![
            (metric::ENGINE_CHECKPOINTS_RUNNING, f64::from(u8::from(runs))),
            (metric::ENGINE_CHECKPOINT_WRITE_BYTES, bytes),
            (metric::ENGINE_LOCK_WAITERS, 3.0),
        ]
    });
    let timeline = of(&step(0, "readrandom"), &intervals);
    let spans: Vec<_> = timeline.stalls.iter().map(|stall| stall.intervals).collect();
    assert_eq!(spans, [(20, 22), (40, 41), (50, 51)]);
    assert_eq!(timeline.stalls[0].p99_times, Some(40.0));
    assert_eq!(timeline.stalls[0].throughput_share, Some(0.02));
    assert_eq!(timeline.counts(), (60, 4));
    let checkpoint = activity(&timeline, "checkpoint");
    // A gauge above 0 at the end of a second is so at the beginning of the next one.
    assert_eq!(checkpoint.spans(), [(20, 23), (40, 41)]);
    assert_eq!((checkpoint.stalls, checkpoint.stalled_seconds, checkpoint.seconds), (2, 3, 4));
    assert_eq!(checkpoint.bytes_in((20, 22)), Some(1e9));
    assert!(timeline.stands_out(checkpoint));
    let waits = activity(&timeline, "wait for a lock");
    assert_eq!((waits.stalls, waits.stalled_seconds, waits.seconds), (3, 4, 60));
    assert!(!timeline.stands_out(waits), "it is so in every second");
    assert_eq!(timeline.activities[0].label, "checkpoint", "what stands out comes first");
}

#[test]
fn late_second_is_a_stall_whatever_its_throughput() {
    let timeline = of(&step(0, "readrandom"), &minute(&[(30, 900, 5_000)], |_| Vec::new()));
    assert_eq!(timeline.stalls.len(), 1);
    assert_eq!(timeline.stalls[0].intervals, (30, 31));
    assert_eq!(timeline.stalls[0].p99_times, Some(10.0));
}

#[test]
fn records_without_readings_have_throughput_and_p99() {
    let timeline = of(&step(0, "readrandom"), &minute(&[], |_| Vec::new()));
    let names: Vec<&str> = timeline.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["throughput_ops_per_s", "service_ns_p99"]);
    assert_eq!((timeline.activities.len(), timeline.stalls.len()), (0, 0));
    assert_eq!(super::timeline(&(&step(3, "readrandom")).into(), &minute(&[], |_| vec![])), None);
}

#[test]
fn invalid_second_is_no_stall_and_does_not_count() {
    let mut intervals = minute(&[(30, 0, 0)], |_| Vec::new());
    let cause = InvalidCause::Steal;
    intervals[30].invalid = Some(InvalidReason { cause, evidence: String::new() });
    let mut record = step(0, "readrandom");
    assert_eq!(of(&record, &intervals).stalls.len(), 1, "the step counts it");
    record.invalid_intervals = Some(InvalidIntervals {
        intervals: 1,
        of_intervals: 60,
        causes: vec![(cause, 1)],
        valid_ns: Nanos::from_secs(59),
        valid: OpSummaries::new(),
        within_limit: None,
    });
    let timeline = of(&record, &intervals);
    assert_eq!((timeline.stalls.len(), timeline.counts()), (0, (59, 0)));
}

/// Goal: series are rates, shares and values of whole engine and single tables.
#[test]
fn series_have_the_unit_of_a_second() {
    let mut intervals = minute(&[], |at| {
        let hits = if at == 0 { 0.0 } else { 75.0 };
        vec![
            (metric::ENGINE_WAL_WRITE_BYTES, 4_096.0),
            (metric::ENGINE_CACHE_HITS, hits),
            (metric::ENGINE_CACHE_MISSES, hits / 3.0),
            (metric::ENGINE_STALL_US, 250_000.0),
        ]
    });
    for interval in &mut intervals {
        interval.length_ns = Nanos::from_millis(2_000);
        let reads = interval.clients.get_mut(&OpKind::Get).unwrap();
        reads.counts.failures.add(FailureClass::NoAnswer);
        let running = [(metric::ENGINE_VACUUMS_RUNNING, 1.0), (metric::ENGINE_DISK_BYTES, 8e3)];
        interval.tables.insert("orders".to_owned(), readings(&running));
        let index = readings(&[(metric::ENGINE_DISK_BYTES, 9e3)]);
        interval.tables.insert("orders_pkey".to_owned(), index);
    }
    let timeline = of(&step(0, "readrandom"), &intervals);
    let last = |name: &str, table: Option<&str>| {
        let is_it = |one: &&TimeSeries| one.name == name && one.table.as_deref() == table;
        timeline.series.iter().find(is_it).and_then(|one| one.values[59])
    };
    assert_eq!(last("throughput_ops_per_s", None), Some(500.0));
    assert_eq!(last("failed_no_answer_per_s", None), Some(0.5));
    assert_eq!(last("engine_wal_write_bytes_per_s", None), Some(2_048.0));
    assert_eq!(last("engine_stall_us_share", None), Some(0.125));
    assert_eq!(last("cache_hit_share", None), Some(0.75));
    assert_eq!(last("engine_disk_bytes", Some("orders_pkey")), Some(9e3));
    let tables = timeline.series.iter().filter_map(|one| one.table.as_deref());
    assert_eq!(tables.collect::<Vec<_>>(), ["orders_pkey", "orders"], "the largest first");
    let hits = timeline.series.iter().find(|one| one.name == "cache_hit_share").unwrap();
    assert_eq!(hits.values[0], None, "without a lookup no share is known");
    assert_eq!(activity(&timeline, "vacuum of orders").seconds, 60);
}

/// Goal: a burst of log is found by its size, since there is always some.
#[test]
fn unusual_amounts_are_beyond_three_medians() {
    let intervals = minute(&[(30, 20, 900)], |at| {
        let bytes = if at == 30 { 3e6 } else { 1e6 };
        vec![(metric::ENGINE_WAL_WRITE_BYTES, bytes), (metric::DEVICE_WRITE_BYTES, 0.0)]
    });
    let timeline = of(&step(0, "readrandom"), &intervals);
    let burst = activity(&timeline, "log written at 3x the median or more");
    assert_eq!((burst.is_work, burst.seconds, burst.stalls), (false, 1, 1));
    assert_eq!(timeline.activities.len(), 1, "what is 0 is not unusual");
}
