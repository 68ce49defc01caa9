//! Time lines for programs: JSON and CSV.

use analysis::{Activity, MeasuredStep, TimeSeries, Timeline, TimelineStall, timeline};
use model::{IntervalRecord, RunRecord};
use serde_json::{Value, json};

use crate::document::{Rows, merged};
use crate::figure::unit_name;

/// One step of one run with its intervals.
#[derive(Debug)]
pub struct RunTimeline<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// The step.
    pub step: MeasuredStep<'a>,
    /// Its time line.
    pub timeline: Timeline,
}

impl<'a> RunTimeline<'a> {
    /// Returns the time line of a step; `None` when it has no interval.
    pub fn of(
        run: &'a RunRecord,
        step: MeasuredStep<'a>,
        intervals: &[IntervalRecord],
    ) -> Option<Self> {
        let timeline = timeline(&step, intervals)?;
        Some(Self { run, step, timeline })
    }
}

/// Returns a list of all time lines.
pub(super) fn data(timelines: &[RunTimeline<'_>]) -> Value {
    timelines.iter().map(of).collect()
}

fn of(one: &RunTimeline<'_>) -> Value {
    let timeline = &one.timeline;
    let (counted_seconds, stalled_seconds) = timeline.counts();
    let seconds = timeline.seconds.iter().zip(&timeline.is_counted);
    let second = |((start_s, length_s), is_counted): (&(f64, f64), &bool)| json!({ "start_s": start_s, "length_s": length_s, "is_counted": is_counted });
    json!({
        "run": one.run.id,
        "step": one.step.step.name,
        "step_index": one.step.index,
        "counted_seconds": counted_seconds,
        "stalled_seconds": stalled_seconds,
        "seconds": seconds.map(second).collect::<Value>(),
        "series": timeline.series.iter().map(series).collect::<Value>(),
        "activities": timeline.activities.iter().map(|it| ran(timeline, it)).collect::<Value>(),
        "stalls": timeline.stalls.iter().map(|it| stall(timeline, it)).collect::<Value>(),
    })
}

fn series(one: &TimeSeries) -> Value {
    let table = one.table.as_ref().map(|table| json!({ "table": table }));
    let values = json!({ "unit": unit_name(one.unit), "values": one.values });
    merged([json!({ "name": one.name })].into_iter().chain(table).chain([values]))
}

fn ran(timeline: &Timeline, activity: &Activity) -> Value {
    let span = |it: (usize, usize)| {
        let bytes = activity.bytes_in(it).map(|bytes| json!({ "bytes": bytes }));
        merged([ends(timeline, it)].into_iter().chain(bytes))
    };
    json!({
        "label": activity.label,
        "is_work": activity.is_work,
        "spans": activity.spans().into_iter().map(span).collect::<Value>(),
        "stalls": activity.stalls,
        "stalled_seconds": activity.stalled_seconds,
        "seconds": activity.seconds,
    })
}

fn stall(timeline: &Timeline, one: &TimelineStall) -> Value {
    let ran: Vec<&str> = timeline.ran_in(one).map(|activity| activity.label.as_str()).collect();
    let about = json!({
        "throughput_share": one.throughput_share,
        "p99_times": one.p99_times,
        "activities": ran,
    });
    merged([ends(timeline, one.intervals), about])
}

fn ends(timeline: &Timeline, intervals: (usize, usize)) -> Value {
    let (from_s, to_s) = timeline.span_s(intervals);
    json!({ "from_s": from_s, "to_s": to_s })
}

/// Returns a line per run, second and series.
pub(super) fn rows(timelines: &[RunTimeline<'_>]) -> Rows {
    let mut rows = Vec::new();
    for one in timelines {
        let timeline = &one.timeline;
        for (at, (start_s, length_s)) in timeline.seconds.iter().enumerate() {
            for series in timeline.series.iter().filter(|series| series.values[at].is_some()) {
                rows.push(json!({
                    "run": one.run.id,
                    "step": one.step.step.name,
                    "start_s": start_s,
                    "length_s": length_s,
                    "is_counted": timeline.is_counted[at],
                    "series": series.name,
                    "table": series.table,
                    "value": series.values[at],
                }));
            }
        }
    }
    Rows::of("run,step,start_s,length_s,is_counted,series,table,value".split(','), rows)
}
