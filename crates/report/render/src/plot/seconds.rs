//! Steps second by second: throughput, and response times of open loops.

use analysis::interval_operations;
use maud::{Markup, html};
use model::record::{IntervalRecord, RunEnd};
use model::{RunRecord, Step, Unit, float};
use stats::median;
use stats::time_profile::StallSpan;

use super::axis::Linear;
use super::mark::Mark;
use super::matrix::{Area, Matrix};
use super::picture::{Labels, Picture, line, text};
use super::plane::path;
use super::stall::{left_out, marks, shade, stalls};
use super::subject::Subject;
use crate::figure::figure;

const ROW: f64 = 58.0;
/// Space between the panels of neighbouring rows.
const BETWEEN: f64 = 18.0;
/// Room for the numbers at the left of a panel.
const SCALE: f64 = 40.0;
/// Intervals shorter than this are the ragged end of a step: their rate is unreliable.
const SHORTEST_S: f64 = 0.5;
/// A panel reaches at least this far above its median second.
const HEADROOM: f64 = 1.25;
/// A peak beyond this multiple of the median second is named.
const NAMED: f64 = 2.0;
/// Least distance of two labels, one above the other.
const APART: f64 = 12.0;

const CAPTION: &str = "One thin line per run. Every panel has its own scale from zero, and its own \
    time axis from the step's start to the end written below it. The median second is dotted and \
    named; a peak of twice the median is named too; probes of a search follow each other without \
    warm-ups. Shaded: not counted, because not every run was steady yet or because the client and \
    not the engine was late (invalid). Orange bars at the foot: stalls. A cross ends a run that \
    did not finish the step.";

/// What is drawn of a second.
type Value = fn(&Step, &IntervalRecord) -> Option<f64>;

/// One run's seconds in one step.
pub(crate) struct Trace {
    /// The run.
    pub(crate) run: String,
    /// Middle of the interval since the step's start (s), value.
    pub(crate) points: Vec<(f64, f64)>,
    /// End of the last interval (s).
    length_s: f64,
    /// Whether the run ended in this step.
    is_unfinished: bool,
    stalls: Vec<StallSpan>,
    /// What is not counted: from and to (s), class, and why.
    pub(crate) shades: Vec<([f64; 2], &'static str, String)>,
}

/// Draws throughput per second; `None` without stored intervals.
pub(crate) fn seconds(subject: &Subject<'_>) -> Option<Picture> {
    let labels = Labels::new("seconds", "Throughput, second by second", CAPTION);
    picture(subject, labels, Unit::OpsPerSecond, throughput)
}

/// Returns throughput per second of each run of a variant, `row`, in one step, `column`.
pub(crate) fn throughput_traces(subject: &Subject<'_>, column: usize, row: usize) -> Vec<Trace> {
    traces(subject, column, row, throughput)
}

/// Returns operations per second; `None` for the ragged end of a step.
fn throughput(step: &Step, interval: &IntervalRecord) -> Option<f64> {
    let length = interval.length_ns.as_secs_f64();
    (length >= SHORTEST_S).then(|| float(interval_operations(step, interval)) / length)
}

/// Draws the longest response time per second; `None` without stored intervals.
pub(crate) fn responses(subject: &Subject<'_>) -> Option<Picture> {
    let title = "Longest response time, second by second";
    let caption = "The longest response time in each second of open loops and searches, drawn like \
                   the throughput by second.";
    let labels = Labels::new("responses", title, caption);
    picture(subject, labels, Unit::Nanos, |_, interval| {
        let times = interval.clients.values().map(|one| &one.response);
        times.filter(|times| times.count > 0).map(|times| float(times.max_ns)).reduce(f64::max)
    })
}

fn picture(subject: &Subject<'_>, labels: Labels, unit: Unit, value: Value) -> Option<Picture> {
    let cells = |column: usize| {
        (0..subject.rows.len()).map(move |row| traces(subject, column, row, value)).collect()
    };
    let all: Vec<Vec<Vec<Trace>>> = (0..subject.steps.len()).map(cells).collect();
    all.iter().flatten().flatten().find(|trace| !trace.points.is_empty())?;
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &subject.headings,
        row_height: ROW,
        foot: 4.0,
        legend: None,
    };
    let cell = |area: &Area, row: usize| {
        panel(area, &all[area.column][row], unit, subject.rows[row].colour)
    };
    Some(matrix.picture(labels, &|_| html! {}, &cell))
}

fn traces(subject: &Subject<'_>, column: usize, row: usize, value: Value) -> Vec<Trace> {
    let step = subject.steps[column];
    let variant = &step.cells[row].variant;
    let input = &subject.input;
    let runs = input.runs.iter().zip(input.intervals);
    let own = runs
        .filter(|(run, _)| run.cell.variant == *variant && run.cell.clients == step.clients.level);
    let Some(planned) = input.manifest.plan.experiment.steps.get(step.index as usize) else {
        return Vec::new();
    };
    own.map(|(run, intervals)| trace(run, intervals, step.index, planned, value)).collect()
}

fn trace(
    run: &RunRecord,
    intervals: &[IntervalRecord],
    index: u32,
    planned: &Step,
    value: Value,
) -> Trace {
    let is_own = |interval: &&IntervalRecord| interval.step_index == index && !interval.is_warmup;
    let own: Vec<&IntervalRecord> = intervals.iter().filter(is_own).collect();
    let recorded = run.steps.iter().find(|step| step.index == index);
    let trim = recorded.and_then(left_out);
    let mut shades: Vec<_> =
        trim.map(|(trim_s, why)| ([0.0, trim_s], "trimmed", why)).into_iter().collect();
    let (mut length_s, mut points) = (0.0, Vec::new());
    for interval in &own {
        let end = length_s + interval.length_ns.as_secs_f64();
        points.extend(value(planned, interval).map(|value| (f64::midpoint(length_s, end), value)));
        shades.extend(interval.invalid.as_ref().map(|invalid| {
            let why = format!("invalid: {}: {}", invalid.cause.phrase(), invalid.evidence);
            ([length_s, end], "invalid", why)
        }));
        length_s = end;
    }
    let without_probes = recorded.filter(|step| step.search.is_none());
    Trace {
        run: run.cell.id.clone(),
        points,
        length_s,
        is_unfinished: !matches!(run.end, RunEnd::Complete) && recorded.is_none(),
        stalls: without_probes.map(|step| stalls(step, own.into_iter())).unwrap_or_default(),
        shades,
    }
}

fn panel(area: &Area, traces: &[Trace], unit: Unit, colour: &str) -> Markup {
    let (left, right) = (area.x + SCALE, area.x + area.width);
    let (top, bottom) = (area.y + BETWEEN / 2.0, area.y + area.height - BETWEEN / 2.0);
    let values: Vec<f64> =
        traces.iter().flat_map(|trace| trace.points.iter().map(|(_, value)| *value)).collect();
    let Some(typical) = median(&values) else {
        return text(right, bottom - 14.0, "none end", "not known");
    };
    let across = Linear::holding(traces.iter().map(|trace| trace.length_s), right - left);
    let up = Linear::holding(values.into_iter().chain([typical * HEADROOM]), bottom - top);
    let (x, middle) = (|second: f64| left + across.at(second), bottom - up.at(typical));
    html! {
        @for ([from, to], class, why) in traces.iter().flat_map(|trace| &trace.shades) {
            (shade((x(*from), x(*to)), (top, bottom), class, why))
        }
        (line((left, bottom), (right, bottom), "grid"))
        (line((left, middle), (right, middle), "ref"))
        @if bottom - middle > APART { (text(left - 4.0, bottom + 2.0, "axis end", "0")) }
        @if up.max() > NAMED * typical {
            (text(right, top + 4.0, "axis end halo", &figure(unit, up.max())))
        }
        (text(left - 4.0, middle + 4.0, "axis end", &figure(unit, typical)))
        (text(left, bottom + 10.0, "axis", "0 s"))
        (text(right, bottom + 10.0, "axis end", &figure(Unit::Seconds, across.max())))
        @for trace in traces {
            (marks(&trace.stalls, x, bottom + 1.0))
            @let place = |(second, value): &(f64, f64)| (x(*second), bottom - up.at(*value));
            @let points: Vec<(f64, f64)> = trace.points.iter().map(place).collect();
            (path(&points, "second", colour))
            @if let Some(last) = points.last().filter(|_| trace.is_unfinished) {
                (Mark::Cross.draw(*last, colour, None))
            }
        }
    }
}
