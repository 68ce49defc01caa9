//! Rows of a time line in text: sparklines, marks, counts.

use analysis::{TimeSeries, Timeline};

use crate::document::{Part, Table};
use crate::figure::{figure, percent};
use crate::sparkline::sparkline;
use model::float;

/// Widest sparkline.
const WIDTH_MAX: usize = 72;
/// Narrowest sparkline.
const WIDTH_MIN: usize = 12;
/// Columns of a terminal that names, figures and gaps take.
const OTHERS: usize = 58;
/// Mark of a second in which something ran or stalled.
const MARK: char = '\u{25a0}';

/// What the counts are.
const COUNTS: &str = "How often each activity ran, in stalls and in all seconds. Work that coincides \
                      with a stall need not be its cause.";

/// Returns a row for each series, and which series are 0 throughout.
///
/// Marks of stalls and activities stand below throughput and p99.
pub(super) fn series(timeline: &Timeline, width: usize) -> (Table, Option<String>) {
    let room = width.saturating_sub(OTHERS).clamp(WIDTH_MIN, WIDTH_MAX);
    let mut table = Table::new(["", "<second by second", "min", "max"]);
    let (first, others) = timeline.series.split_at(timeline.series.len().min(2));
    let is_zero = |one: &&TimeSeries| one.extremes() == Some((0.0, 0.0));
    let bars = |one: &TimeSeries| {
        let (low, high) = one.extremes().unwrap_or_default();
        let line = sparkline(&one.values, room);
        [full_label(one), line, figure(one.unit, low), figure(one.unit, high)]
    };
    let lane = |label: &str, held: &[bool], seconds: usize| {
        [label.to_owned(), marks(held, room), String::new(), format!("{seconds} s")]
    };
    first.iter().for_each(|one| table.push(bars(one)));
    let (_, stalled) = timeline.counts();
    if stalled > 0 {
        table.push(lane("stalls", &timeline.stalled(), stalled));
    }
    for activity in timeline.activities.iter().filter(|activity| activity.is_work) {
        table.push(lane(&activity.label, &activity.held, activity.seconds));
    }
    others.iter().filter(|one| !is_zero(one)).for_each(|one| table.push(bars(one)));
    let zero: Vec<String> = others.iter().filter(is_zero).map(full_label).collect();
    let zero = (!zero.is_empty()).then(|| format!("0 throughout: {}.", zero.join(", ")));
    (table, zero)
}

/// Returns a series' label with its table.
pub(crate) fn full_label(series: &TimeSeries) -> String {
    match &series.table {
        Some(table) => format!("{} of {table}", series.label),
        None => series.label.clone(),
    }
}

/// Returns a mark at each of at most `width` places in which something ran or stalled.
fn marks(held: &[bool], width: usize) -> String {
    let width = width.min(held.len()).max(1);
    let edge = |place: usize| place * held.len() / width;
    let mark = |place: usize| match held[edge(place)..edge(place + 1)].contains(&true) {
        true => MARK,
        false => ' ',
    };
    (0..width).map(mark).collect()
}

/// Returns how often each activity ran in stalls; nothing without stalls or activities.
pub(super) fn activities(timeline: &Timeline) -> Vec<Part> {
    let (counted, stalled) = timeline.counts();
    let mut table = Table::new(["", "stalls", "seconds of stalls", "all seconds"]);
    for one in timeline.activities.iter().filter(|one| one.stalls > 0) {
        table.push([
            one.label.clone(),
            format!("{} of {}", one.stalls, timeline.stalls.len()),
            of(one.stalled_seconds, stalled),
            of(one.seconds, counted),
        ]);
    }
    let counts = Part::Text(COUNTS.to_owned()).above([Part::Table(table)]);
    Part::title("What ran in stalls").above(counts)
}

/// Returns a count with its share: `9 of 11 (82 %)`.
fn of(count: usize, all: usize) -> String {
    let share = float(count) / float(all.max(1));
    format!("{count} of {all} ({})", percent(share))
}
