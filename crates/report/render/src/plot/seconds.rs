//! Throughput by second, a panel per variant and step.

use analysis::interval_operations;
use maud::{Markup, html};
use model::record::{IntervalRecord, RunEnd};
use model::{RunRecord, Step, Unit};
use stats::median;
use stats::time_profile::StallSpan;

use super::axis::Linear;
use super::mark::Mark;
use super::matrix::{Area, Matrix};
use super::picture::{Labels, Picture, line, px, text};
use super::plane::polyline;
use super::stall::{left_out, marks, shade, stalls};
use super::subject::Subject;
use crate::figure::{figure, float};

const ROW: f64 = 58.0;
/// Space between the panels of neighbouring rows.
const BETWEEN: f64 = 18.0;
/// Room for the numbers at the left of a panel.
const SCALE: f64 = 40.0;
/// Intervals shorter than this are the ragged end of a step: their rate is unreliable.
const SHORTEST_S: f64 = 0.5;
/// Panels of a step share one time axis unless one of them would use less than this of it.
const LEAST_SHARE: f64 = 0.5;
/// A panel reaches at least this far above its median second.
const HEADROOM: f64 = 1.25;

/// One run's seconds in one step.
struct Trace {
    /// Middle of the interval since the step's start (s), operations per second.
    points: Vec<(f64, f64)>,
    /// End of the last interval (s).
    length_s: f64,
    /// Whether the run ended in this step.
    is_unfinished: bool,
    stalls: Vec<StallSpan>,
    /// What is not counted at the start (s), and why.
    left_out: Option<(f64, String)>,
}

/// Draws throughput per second; `None` without stored intervals.
pub(crate) fn seconds(subject: &Subject<'_>) -> Option<Picture> {
    let cells = |column: usize| {
        (0..subject.rows.len()).map(move |row| traces(subject, column, row)).collect::<Vec<_>>()
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
    let width = matrix.panel_width() - SCALE;
    let back = |_: &Area| html! {};
    let cell = |area: &Area, row: usize| {
        let length_s = length(&all[area.column], row);
        let across = Linear::holding([length_s], width);
        let traces = &all[area.column][row];
        html! {
            (panel(area, traces, across, subject.rows[row].colour))
            @if traces.iter().any(|trace| !trace.points.is_empty()) {
                (ends(area, length_s))
            }
        }
    };
    let caption = "One thin line per run. Every panel has its own scale from zero, with its median \
                   second dotted and named: compare heights in the figure above, steadiness here. \
                   Time runs from the step's start to the end written below each panel. Shaded: \
                   left out of all figures, because not every run was steady yet. Orange bars at \
                   the foot: stalls. A cross ends a run that did not finish the step.";
    let labels = Labels::new("seconds", "Throughput, second by second", caption);
    Some(matrix.picture(labels, &back, &cell))
}

/// Returns the length of a row's time axis: that of the whole column unless lengths differ much.
fn length(column: &[Vec<Trace>], row: usize) -> f64 {
    let longest = |traces: &Vec<Trace>| traces.iter().map(|one| one.length_s).fold(0.0, f64::max);
    let known: Vec<f64> = column.iter().map(longest).filter(|length| *length > 0.0).collect();
    let all = known.iter().copied().fold(0.0, f64::max);
    if known.iter().all(|length| *length >= LEAST_SHARE * all) {
        all
    } else {
        longest(&column[row])
    }
}

/// Returns the ends of a panel's time axis.
fn ends(area: &Area, length_s: f64) -> Markup {
    let y = area.y + area.height - BETWEEN / 2.0 + 10.0;
    html! {
        (text(area.x + SCALE, y, "axis", "0 s"))
        (text(area.x + area.width, y, "axis end", &figure(Unit::Seconds, length_s)))
    }
}

fn traces(subject: &Subject<'_>, column: usize, row: usize) -> Vec<Trace> {
    let step = subject.steps[column];
    let variant = &step.cells[row].variant;
    let input = &subject.input;
    let runs = input.runs.iter().zip(input.intervals);
    let own =
        runs.filter(|(run, _)| run.cell.variant == *variant && run.cell.clients == step.clients);
    let Some(planned) = input.manifest.plan.experiment.steps.get(step.index as usize) else {
        return Vec::new();
    };
    own.map(|(run, intervals)| trace(run, intervals, (step.index, planned))).collect()
}

fn trace(run: &RunRecord, intervals: &[IntervalRecord], (index, planned): (u32, &Step)) -> Trace {
    let of_step = |interval: &&IntervalRecord| interval.step_index == index && !interval.is_warmup;
    let mut own = intervals.iter().filter(of_step).peekable();
    let begun = own.peek().map_or(0.0, |first| first.start_ns.as_secs_f64());
    let point = |interval: &IntervalRecord| {
        let length = interval.length_ns.as_secs_f64();
        let done = interval_operations(planned, interval);
        let middle = interval.start_ns.as_secs_f64() - begun + length / 2.0;
        (length >= SHORTEST_S).then(|| (middle, float(done) / length))
    };
    let recorded = run.steps.iter().find(|step| step.index == index);
    let is_unfinished = !matches!(run.end, RunEnd::Complete) && recorded.is_none();
    let own: Vec<&IntervalRecord> = own.collect();
    let end =
        |last: &&IntervalRecord| last.start_ns.as_secs_f64() - begun + last.length_ns.as_secs_f64();
    let length_s = own.last().map_or(0.0, end);
    Trace {
        length_s,
        is_unfinished,
        stalls: recorded.map(|step| stalls(step, own.iter().copied())).unwrap_or_default(),
        left_out: recorded.and_then(left_out),
        points: own.into_iter().filter_map(point).collect(),
    }
}

fn panel(area: &Area, traces: &[Trace], across: Linear, colour: &str) -> Markup {
    let (left, bottom) = (area.x + SCALE, area.y + area.height - BETWEEN / 2.0);
    let right = area.x + area.width;
    let rates: Vec<f64> =
        traces.iter().flat_map(|trace| trace.points.iter().map(|(_, rate)| *rate)).collect();
    let Some(typical) = median(&rates) else {
        return text(right, bottom - 14.0, "none end", "not known");
    };
    let top = rates.iter().copied().chain([typical * HEADROOM]);
    let up = Linear::holding(top, area.height - BETWEEN);
    let middle = bottom - up.at(typical);
    let place = |(second, rate): &(f64, f64)| (left + across.at(*second), bottom - up.at(*rate));
    let trims = traces.iter().filter_map(|trace| trace.left_out.as_ref());
    let trim = trims.max_by(|a, b| a.0.total_cmp(&b.0));
    html! {
        @if let Some((warmup_trim_s, why)) = trim {
            (shade((left, left + across.at(*warmup_trim_s)), (area.y + BETWEEN / 2.0, bottom), why))
        }
        (line((left, bottom), (right, bottom), "grid"))
        (line((left, middle), (right, middle), "ref"))
        (text(left - 4.0, bottom + 2.0, "axis end", "0"))
        (text(left - 4.0, middle + 4.0, "axis end", &figure(Unit::OpsPerSecond, typical)))
        @for trace in traces {
            (marks(&trace.stalls, |second| left + across.at(second), bottom + 1.0))
            @let points: Vec<(f64, f64)> = trace.points.iter().map(place).collect();
            @match points[..] {
                [(x, y)] => { circle cx=(px(x)) cy=(px(y)) r="2" fill=(colour) {} },
                _ => { (polyline(&points, "second", Some(colour))) },
            }
            @if let Some((x, y)) = points.last().filter(|_| trace.is_unfinished) {
                (Mark::Cross.draw((*x, *y), colour, None))
            }
        }
    }
}
