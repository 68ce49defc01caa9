//! Finds what ran or was unusual in each second, and counts it in stalls.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use model::record::IntervalRecord;
use model::{Metric, Readings, Unit, metric};
use stats::median;

use super::activity::Activity;
use super::line::{LEAST_EXCESS, Timeline};
use super::series::TimeSeries;

/// A quantity is unusual from this multiple of its median second on. Our choice.
const UNUSUAL: f64 = 3.0;

/// Work that runs or does not: label, gauges that are above 0 while it runs, counters that grow
/// with it, and the counter of its bytes.
type Work = (&'static str, &'static [Metric], &'static [Metric], Option<Metric>);

/// Work of the whole engine and host.
const WORK: [Work; 6] = [
    (
        "checkpoint",
        &[metric::ENGINE_CHECKPOINTS_RUNNING],
        &[metric::ENGINE_CHECKPOINTS, metric::ENGINE_CHECKPOINT_WRITE_BYTES],
        Some(metric::ENGINE_CHECKPOINT_WRITE_BYTES),
    ),
    (
        "flush or compaction",
        &[metric::ENGINE_BACKGROUND_JOBS],
        &[metric::ENGINE_FLUSH_WRITE_BYTES, metric::ENGINE_COMPACTION_WRITE_BYTES],
        Some(metric::ENGINE_COMPACTION_WRITE_BYTES),
    ),
    ("writers delayed", &[], &[metric::ENGINE_STALL_US, metric::ENGINE_STALLS], None),
    ("wait for a lock", &[metric::ENGINE_LOCK_WAITERS], &[metric::ENGINE_LOCK_WAITS], None),
    ("connection lost", &[], &[metric::CLIENT_RECONNECTS], None),
    ("memory reclaimed", &[], &[metric::HOST_DIRECT_RECLAIMS], None),
];

/// The vacuum of a table, or of any where tables are not sampled.
const VACUUM: Work = ("vacuum", &[metric::ENGINE_VACUUMS_RUNNING], &[metric::ENGINE_VACUUMS], None);

/// Series of which an unusual amount is an activity.
const AMOUNTS: [Metric; 5] = [
    metric::ENGINE_PAGE_WRITE_BYTES,
    metric::ENGINE_WAL_WRITE_BYTES,
    metric::DEVICE_WRITE_BYTES,
    metric::DEVICE_READ_BYTES,
    metric::HOST_STEAL_US,
];

/// Returns what was so in at least one second; what stands out in the stalls comes first.
pub(super) fn all(timeline: &Timeline, intervals: &[&IntervalRecord]) -> Vec<Activity> {
    let count = intervals.len();
    let of_engine = |work: &Work| of_work(work, |at| Some(&intervals[at].readings), count);
    let mut all: Vec<Activity> = WORK.iter().map(of_engine).collect();
    let tables: BTreeSet<&String> =
        intervals.iter().flat_map(|interval| interval.tables.keys()).collect();
    let of_table = |table: &String| {
        let vacuum = of_work(&VACUUM, |at| intervals[at].tables.get(table), count);
        Activity { label: format!("vacuum of {table}"), ..vacuum }
    };
    let mut vacuums: Vec<Activity> = tables.into_iter().map(of_table).collect();
    vacuums.retain(|vacuum| vacuum.held.contains(&true));
    if vacuums.is_empty() {
        vacuums.push(of_engine(&VACUUM));
    }
    all.extend(vacuums);
    all.extend(AMOUNTS.iter().filter_map(|metric| unusual(*metric, &timeline.series)));
    all.retain(|activity| activity.held.contains(&true));
    all.iter_mut().for_each(|activity| take_counts(activity, timeline));
    let (counted, stalled) = timeline.counts();
    let rank = |one: &Activity| {
        let excess = one.excess(counted, stalled).unwrap_or(0.0);
        (excess >= LEAST_EXCESS, one.stalls, excess)
    };
    all.sort_by(|one, two| rank(two).partial_cmp(&rank(one)).unwrap_or(Ordering::Equal));
    all
}

/// Returns in which intervals some work ran.
fn of_work<'a>(
    (label, gauges, counters, bytes): &Work,
    readings: impl Fn(usize) -> Option<&'a Readings>,
    count: usize,
) -> Activity {
    let is_above = |metrics: &[Metric], at: usize| {
        let value = |metric: &Metric| readings(at).and_then(|readings| readings.value(*metric));
        metrics.iter().filter_map(value).any(|value| value > 0.0)
    };
    let ran = |at: usize| {
        is_above(counters, at) || is_above(gauges, at) || (at > 0 && is_above(gauges, at - 1))
    };
    let written = |metric: Metric| -> Vec<f64> {
        (0..count).map(|at| readings(at).and_then(|it| it.value(metric)).unwrap_or(0.0)).collect()
    };
    let has = |metric: &Metric| (0..count).any(|at| readings(at).is_some_and(|it| it.has(*metric)));
    let bytes = bytes.filter(has);
    Activity {
        label: (*label).to_owned(),
        is_work: true,
        held: (0..count).map(ran).collect(),
        bytes: bytes.map(written),
        stalls: 0,
        stalled_seconds: 0,
        seconds: 0,
    }
}

/// Returns in which intervals a quantity was far above its median; `None` where it is 0.
fn unusual(metric: Metric, series: &[TimeSeries]) -> Option<Activity> {
    let is_own = |one: &&TimeSeries| one.table.is_none() && one.name.starts_with(metric.name);
    let series = series.iter().find(is_own)?;
    let known: Vec<f64> = series.values.iter().flatten().copied().collect();
    let usual = median(&known).filter(|usual| *usual > 0.0)?;
    let is_unusual = |value: &Option<f64>| value.is_some_and(|value| value >= UNUSUAL * usual);
    let what = series.label.trim_end_matches(" /s");
    let bytes = (series.unit == Unit::Bytes)
        .then(|| series.values.iter().map(|value| value.unwrap_or(0.0)).collect());
    Some(Activity {
        label: format!("{what} at {UNUSUAL:.0}x the median or more"),
        is_work: false,
        held: series.values.iter().map(is_unusual).collect(),
        bytes,
        stalls: 0,
        stalled_seconds: 0,
        seconds: 0,
    })
}

/// Counts stalls and seconds in which an activity ran.
fn take_counts(activity: &mut Activity, timeline: &Timeline) {
    let held = &activity.held;
    let stalls = timeline.stalls.iter().filter(|stall| activity.is_in(stall)).count();
    let is_stalled = timeline.stalled();
    let seconds = (0..held.len()).filter(|at| timeline.is_counted[*at] && held[*at]);
    let (mut all, mut stalled) = (0, 0);
    for at in seconds {
        all += 1;
        stalled += usize::from(is_stalled[at]);
    }
    (activity.stalls, activity.seconds, activity.stalled_seconds) = (stalls, all, stalled);
}
