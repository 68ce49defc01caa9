//! Time lines for programs: JSON and CSV.

use analysis::{Activity, MeasuredStep, TimeSeries, Timeline, timeline};
use model::{IntervalRecord, RunRecord};
use serde::Serialize;

use crate::document::{Rows, number};
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

#[derive(Serialize)]
struct Of<'a> {
    run: &'a str,
    step: &'a str,
    step_index: u32,
    counted_seconds: usize,
    stalled_seconds: usize,
    seconds: Vec<Second>,
    series: Vec<Series<'a>>,
    activities: Vec<Ran<'a>>,
    stalls: Vec<Stall<'a>>,
}

#[derive(Serialize)]
struct Second {
    start_s: f64,
    length_s: f64,
    is_counted: bool,
}

#[derive(Serialize)]
struct Series<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<&'a str>,
    unit: &'static str,
    values: &'a [Option<f64>],
}

#[derive(Serialize)]
struct Ran<'a> {
    label: &'a str,
    is_work: bool,
    spans: Vec<Span>,
    stalls: usize,
    stalled_seconds: usize,
    seconds: usize,
}

#[derive(Serialize)]
struct Span {
    from_s: f64,
    to_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<f64>,
}

#[derive(Serialize)]
struct Stall<'a> {
    from_s: f64,
    to_s: f64,
    throughput_share: Option<f64>,
    p99_times: Option<f64>,
    activities: Vec<&'a str>,
}

/// Returns a list of all time lines.
pub(super) fn data(timelines: &[RunTimeline<'_>]) -> impl Serialize {
    timelines.iter().map(of).collect::<Vec<_>>()
}

fn of<'a>(one: &'a RunTimeline<'_>) -> Of<'a> {
    let timeline = &one.timeline;
    let (counted_seconds, stalled_seconds) = timeline.counts();
    let seconds = timeline.seconds.iter().zip(&timeline.is_counted);
    let second = |((start_s, length_s), is_counted): (&(f64, f64), &bool)| Second {
        start_s: *start_s,
        length_s: *length_s,
        is_counted: *is_counted,
    };
    Of {
        run: &one.run.id,
        step: &one.step.step.name,
        step_index: one.step.index,
        counted_seconds,
        stalled_seconds,
        seconds: seconds.map(second).collect(),
        series: timeline.series.iter().map(series).collect(),
        activities: timeline.activities.iter().map(|it| ran(timeline, it)).collect(),
        stalls: stalls(timeline),
    }
}

fn series(one: &TimeSeries) -> Series<'_> {
    Series {
        name: &one.name,
        table: one.table.as_deref(),
        unit: unit_name(one.unit),
        values: &one.values,
    }
}

fn ran<'a>(timeline: &Timeline, activity: &'a Activity) -> Ran<'a> {
    let span = |it: (usize, usize)| {
        let (from_s, to_s) = ends(timeline, it);
        Span { from_s, to_s, bytes: activity.bytes_in(it) }
    };
    Ran {
        label: &activity.label,
        is_work: activity.is_work,
        spans: activity.spans().into_iter().map(span).collect(),
        stalls: activity.stalls,
        stalled_seconds: activity.stalled_seconds,
        seconds: activity.seconds,
    }
}

fn stalls(timeline: &Timeline) -> Vec<Stall<'_>> {
    let stall = |one: &analysis::TimelineStall| {
        let (from, to) = one.intervals;
        let ran = timeline.activities.iter().filter(|it| it.held[from..to].contains(&true));
        let (from_s, to_s) = ends(timeline, one.intervals);
        Stall {
            from_s,
            to_s,
            throughput_share: one.throughput_share,
            p99_times: one.p99_times,
            activities: ran.map(|activity| activity.label.as_str()).collect(),
        }
    };
    timeline.stalls.iter().map(stall).collect()
}

fn ends(timeline: &Timeline, (from, to): (usize, usize)) -> (f64, f64) {
    let (last, length) = timeline.seconds[to - 1];
    (timeline.seconds[from].0, last + length)
}

/// Returns a line per run, second and series.
pub(super) fn rows(timelines: &[RunTimeline<'_>]) -> Rows {
    let mut rows = Vec::new();
    for one in timelines {
        let timeline = &one.timeline;
        for (at, (start_s, length_s)) in timeline.seconds.iter().enumerate() {
            for series in timeline.series.iter().filter(|series| series.values[at].is_some()) {
                rows.push(vec![
                    one.run.id.clone(),
                    one.step.step.name.clone(),
                    start_s.to_string(),
                    length_s.to_string(),
                    timeline.is_counted[at].to_string(),
                    series.name.clone(),
                    series.table.clone().unwrap_or_default(),
                    number(series.values[at]),
                ]);
            }
        }
    }
    let header = ["run", "step", "start_s", "length_s", "is_counted", "series", "table", "value"];
    Rows::new(header, rows)
}
