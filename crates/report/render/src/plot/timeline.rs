//! Time lines of a step: throughput, p99 and what the engine did, below each other.

use analysis::{MeasuredStep, StepComparison, TimeSeries, Timeline, timeline};
use maud::{Markup, html};
use model::{EventRecord, RunRecord, Unit, float};

use super::axis::Linear;
use super::matrix::{Area, Matrix, Row};
use super::palette::{ALARM, INK};
use super::picture::{Labels, Picture, line, px, text};
use super::plane::path;
use super::stall::shade;
use super::subject::Subject;
use crate::figure::figure;
use crate::timeline::{associations, full_label, stall_phrase};
use model::units::many;

const ROW: f64 = 36.0;
/// Space between the panels of neighbouring rows.
const BETWEEN: f64 = 8.0;
/// Room for the numbers at the left of a panel.
const SCALE: f64 = 52.0;
/// Height of the bars of a row of work.
const BAR: f64 = 9.0;
/// Narrowest visible bar.
const LEAST: f64 = 1.5;
/// Points of a line. More seconds share a point, and the extremes of these seconds are drawn.
const POINTS: usize = 240;
/// Most rows: the first ones are of the whole engine, the last of single tables.
const ROWS_MAX: usize = 36;

const CAPTION: &str = "The first complete run of each variant, second by second on one axis, \
                       without its warm-up; every panel has its own scale from zero, with its \
                       largest value at the left, and every variant has its own time axis. Bars: \
                       seconds in which something ran. Shaded through all rows, with a mark at the \
                       top: stalls, which are seconds below a tenth of the usual throughput or of \
                       ten times the usual p99. Work that coincides with a stall is counted, but \
                       it need not be the cause.";

/// One variant's time line in a step.
struct Column {
    colour: &'static str,
    timeline: Option<Timeline>,
    events: Vec<EventRecord>,
}

/// Draws each step of which more is known than throughput and times.
pub(crate) fn timelines(subject: &Subject<'_>) -> Vec<Picture> {
    let steps = subject.steps.iter().zip(&subject.headings);
    steps.filter_map(|(step, heading)| of_step(subject, step, heading)).collect()
}

fn of_step(subject: &Subject<'_>, step: &StepComparison, heading: &str) -> Option<Picture> {
    let column = |row: usize| {
        let (timeline, events) = first(subject, step, &step.cells[row].variant).unzip();
        let events = events.unwrap_or_default();
        Column { colour: subject.rows[row].colour, timeline: timeline.flatten(), events }
    };
    let columns: Vec<Column> = (0..subject.rows.len()).map(column).collect();
    let labels = labels(&columns);
    // Throughput and times have a picture of their own.
    if labels.len() <= 2 {
        return None;
    }
    let row = |label: &String| Row { label: label.clone(), is_base: false, colour: INK };
    let rows: Vec<Row> = labels.iter().map(row).collect();
    let headings: Vec<String> = subject.rows.iter().map(|row| row.label.clone()).collect();
    let matrix =
        Matrix { rows: &rows, columns: &headings, row_height: ROW, foot: 18.0, legend: None };
    let mut caption = CAPTION.to_owned();
    let known = columns
        .iter()
        .zip(&headings)
        .filter_map(|(column, heading)| Some((column.timeline.as_ref()?, heading)));
    for (timeline, variant) in known {
        for sentence in associations(timeline) {
            caption.push_str(&format!(" {variant}: {sentence}."));
        }
    }
    let title = format!("{heading}, second by second");
    let name = format!("timeline-{}-c{}", step.index, step.clients.level);
    let back = |area: &Area| {
        let column = &columns[area.column];
        column.timeline.as_ref().map_or(html! {}, |one| behind(area, one, &column.events))
    };
    let cell = |area: &Area, row: usize| {
        let column = &columns[area.column];
        let timeline = column.timeline.as_ref();
        timeline.map_or(html! {}, |one| panel(area, one, &labels[row], column.colour))
    };
    let picture = matrix.picture(Labels::new(&name, &title, &caption), &back, &cell).foldable();
    let stalls: usize =
        columns.iter().filter_map(|it| it.timeline.as_ref()).map(|it| it.stalls.len()).sum();
    let folded = match stalls {
        0 => Some("Show the time line: no stalls".to_owned()),
        _ => picture
            .folded
            .as_ref()
            .map(|_| format!("Show the time line: {}", many(stalls, "stall"))),
    };
    Some(Picture { folded, ..picture })
}

/// Returns time line and events of the first complete run of a variant.
fn first(
    subject: &Subject<'_>,
    step: &StepComparison,
    variant: &str,
) -> Option<(Option<Timeline>, Vec<EventRecord>)> {
    let runs = subject.input.runs.iter().zip(subject.input.intervals);
    let is_own = |run: &RunRecord| {
        run.cell.variant == variant
            && run.cell.clients == step.clients.level
            && run.end.is_complete()
    };
    let (run, intervals) = runs.into_iter().find(|(run, _)| is_own(run))?;
    let recorded = run.steps.iter().find(|recorded| recorded.index == step.index)?;
    Some((timeline(&MeasuredStep::from(recorded), intervals), recorded.events.clone()))
}

/// Returns the rows: throughput and p99, what ran, then every series that is not 0 throughout.
fn labels(columns: &[Column]) -> Vec<String> {
    let timelines = || columns.iter().filter_map(|column| column.timeline.as_ref());
    // Throughput and p99 come first.
    let first = timelines().flat_map(|one| one.series.iter().take(2));
    let others = timelines().flat_map(|one| one.series.iter().skip(2));
    let is_shown = |series: &&TimeSeries| series.extremes() != Some((0.0, 0.0));
    let work = timelines().flat_map(|one| one.activities.iter().filter(|it| it.is_work));
    let mut labels: Vec<String> = Vec::new();
    let work = work.map(|activity| activity.label.clone());
    let all = first.map(full_label).chain(work).chain(others.filter(is_shown).map(full_label));
    for label in all {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels.truncate(ROWS_MAX);
    labels
}

/// Returns the axis of time of a column.
fn across(area: &Area, timeline: &Timeline) -> (f64, Linear) {
    let ends = timeline.seconds.iter().map(|(start, length)| start + length);
    (area.x + SCALE, Linear::holding(ends, area.width - SCALE))
}

/// Draws stalls and events through all rows of a column, and its axis.
fn behind(area: &Area, timeline: &Timeline, events: &[EventRecord]) -> Markup {
    let (left, axis) = across(area, timeline);
    let (top, bottom) = (area.y, area.y + area.height);
    html! {
        @for stall in &timeline.stalls {
            @let (from, to) = timeline.span_s(stall.intervals);
            @let (from, to) = (left + axis.at(from), left + axis.at(to));
            @let why = stall_phrase(timeline, stall);
            (shade((from, to.max(from + LEAST)), (top, bottom), "stall", &why))
            rect x=(px(from)) y=(px(top)) width=(px((to - from).max(LEAST))) height="4"
                fill=(ALARM) { title { (why) } }
        }
        @for event in events {
            @let at = left + axis.at(event.action.start_ns.as_secs_f64());
            g class="event" {
                title { (event.planned) ": unavailable for " (event.unavailable()) }
                (line((at, top), (at, bottom), "rule"))
                (text(at + 2.0, top + 9.0, "axis", event.planned.kind.name()))
            }
        }
        (line((left, bottom), (left + axis.at(axis.max()), bottom), "rule"))
        (text(left, bottom + 11.0, "axis", "0 s"))
        (text(area.x + area.width, bottom + 11.0, "axis end", &figure(Unit::Seconds, axis.max())))
    }
}

/// Draws a row of a column: a line, or bars where something ran.
fn panel(area: &Area, timeline: &Timeline, label: &str, colour: &str) -> Markup {
    if let Some(series) = timeline.series.iter().find(|series| full_label(series) == label) {
        return curve(area, timeline, series, colour);
    }
    let Some(activity) = timeline.activities.iter().find(|activity| activity.label == label) else {
        return text(area.x + SCALE, area.y + ROW / 2.0 + 4.0, "none", "\u{2013}");
    };
    let (left, axis) = across(area, timeline);
    let y = area.y + (ROW - BAR) / 2.0;
    html! {
        (text(left - 4.0, y + BAR, "axis end", &figure(Unit::Seconds, float(activity.seconds))))
        @for span in activity.spans() {
            @let (start_s, end_s) = timeline.span_s(span);
            @let (from, to) = (axis.at(start_s), axis.at(end_s));
            @let bytes = activity.bytes_in(span).filter(|bytes| *bytes > 0.0);
            rect x=(px(left + from)) y=(px(y)) width=(px((to - from).max(LEAST))) height=(px(BAR))
                fill=(INK) fill-opacity=".65" {
                title {
                    (label) " from " (figure(Unit::Seconds, start_s)) " to "
                    (figure(Unit::Seconds, end_s))
                    @if let Some(bytes) = bytes { ": " (figure(Unit::Bytes, bytes)) }
                }
            }
        }
    }
}

fn curve(area: &Area, timeline: &Timeline, series: &TimeSeries, colour: &str) -> Markup {
    let (left, axis) = across(area, timeline);
    let (top, bottom) = (area.y + BETWEEN / 2.0, area.y + ROW - BETWEEN / 2.0);
    let up = Linear::holding(series.values.iter().flatten().copied(), bottom - top);
    let place = |(at, value): &(f64, f64)| (left + axis.at(*at), bottom - up.at(*value));
    let lines: Vec<Vec<(f64, f64)>> =
        lines(timeline, &series.values).iter().map(|it| it.iter().map(place).collect()).collect();
    html! {
        (line((left, bottom), (left + axis.at(axis.max()), bottom), "grid"))
        (text(left - 4.0, top + 8.0, "axis end", &figure(series.unit, up.max())))
        @for line in &lines { (path(line, "second", colour)) }
    }
}

/// Returns the lines of a series: one for each run of known seconds.
///
/// A point is the middle of a second with its value. Of more seconds than have room, lowest and
/// highest of those that share a place are drawn.
fn lines(timeline: &Timeline, values: &[Option<f64>]) -> Vec<Vec<(f64, f64)>> {
    let shared = values.len().div_ceil(POINTS / 2);
    let middle = |at: usize| timeline.seconds[at].0 + timeline.seconds[at].1 / 2.0;
    let places: Vec<Option<(f64, f64)>> =
        values.iter().enumerate().map(|(at, value)| Some((middle(at), (*value)?))).collect();
    let known = places.split(Option::is_none).filter(|run| !run.is_empty());
    let line = |run: &[Option<(f64, f64)>]| {
        let points: Vec<(f64, f64)> = run.iter().flatten().copied().collect();
        if values.len() <= POINTS {
            return points;
        }
        points.chunks(shared).flat_map(extremes).collect()
    };
    known.map(line).collect()
}

/// Returns the points of lowest and highest value, in order of time.
fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_value = |one: &&(f64, f64), two: &&(f64, f64)| one.1.total_cmp(&two.1);
    let low = points.iter().min_by(by_value).copied();
    let high = points.iter().max_by(by_value).copied();
    let mut both: Vec<(f64, f64)> = low.into_iter().chain(high).collect();
    both.sort_by(|one, two| one.0.total_cmp(&two.0));
    both
}
