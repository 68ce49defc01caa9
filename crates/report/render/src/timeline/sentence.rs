//! Sentences about stalls: when, how far, and what ran.

use analysis::{Activity, Timeline, TimelineStall};
use model::{Unit, float};

use crate::document::Part;
use crate::figure::{digits, figure, percent};
use model::units::many;

/// Stalls listed one by one.
const STALLS_MAX: usize = 12;
/// A p99 is named from this multiple of the median second's on.
const NAMED_P99: f64 = 2.0;
/// Spans of an activity listed one by one.
const SPANS_MAX: usize = 6;

/// Returns the stalls with what ran in each; nothing without any.
pub(super) fn stalls(timeline: &Timeline) -> Vec<Part> {
    let mut lines: Vec<String> =
        timeline.stalls.iter().take(STALLS_MAX).map(|one| stall_phrase(timeline, one)).collect();
    let more = timeline.stalls.len().saturating_sub(STALLS_MAX);
    lines.extend((more > 0).then(|| format!("and {} more", many(more, "stall"))));
    Part::title("Stalls").above([Part::Sentences(lines)])
}

/// Returns a stall: `12 s to 14 s: throughput 0.03x the median second; checkpoint`.
pub(crate) fn stall_phrase(timeline: &Timeline, stall: &TimelineStall) -> String {
    let ran = timeline.ran_in(stall);
    let ran = ran.map(|it| format!("{}{}", it.label, bytes(it.bytes_in(stall.intervals))));
    let ran: Vec<String> = ran.collect();
    let ran = match ran.is_empty() {
        true => "nothing known ran".to_owned(),
        false => ran.join(", "),
    };
    format!("{}: {}; {ran}", span(timeline, stall.intervals), extent(std::iter::once(stall)))
}

/// Returns how far stalls go: the slowest second, and the highest p99 where it is far higher.
fn extent<'a>(stalls: impl Iterator<Item = &'a TimelineStall> + Clone) -> String {
    let slowest = stalls.clone().filter_map(|stall| stall.throughput_share).reduce(f64::min);
    let rate = slowest.map(|share| format!("throughput {}x", digits(share)));
    let latest = stalls.filter_map(|stall| stall.p99_times).reduce(f64::max);
    let p99 = latest.filter(|times| *times >= NAMED_P99);
    let p99 = p99.map(|times| format!("p99 {}x", digits(times)));
    let both: Vec<String> = rate.into_iter().chain(p99).collect();
    if both.is_empty() { String::new() } else { format!("{} the median second", both.join(", ")) }
}

/// Returns the beginning and the end of some intervals: `12 s to 14 s`.
fn span(timeline: &Timeline, intervals: (usize, usize)) -> String {
    let (from, to) = timeline.span_s(intervals);
    format!("{from:.0} s to {to:.0} s")
}

/// Returns bytes in brackets after a space; nothing where none are known.
fn bytes(written: Option<f64>) -> String {
    let written = written.filter(|bytes| *bytes > 0.0);
    written.map(|bytes| format!(" ({})", figure(Unit::Bytes, bytes))).unwrap_or_default()
}

/// Returns the associations that stand out: at least half of the stalls, and more often than else.
pub(crate) fn associations(timeline: &Timeline) -> Vec<String> {
    let (counted, _) = timeline.counts();
    let all = timeline.stalls.len();
    let sentence = |one: &Activity| {
        let own = || timeline.stalls.iter().filter(|stall| one.is_in(stall));
        let wrote = bytes(own().map(|stall| one.bytes_in(stall.intervals)).sum());
        format!(
            "{}{wrote}: in {} of {}, and in {} of all {counted} seconds; {} in these stalls",
            one.label,
            one.stalls,
            many(all, "stall"),
            percent(float(one.seconds) / float(counted.max(1))),
            extent(own()),
        )
    };
    let stands_out = |one: &&Activity| timeline.stands_out(one);
    timeline.activities.iter().filter(stands_out).map(sentence).collect()
}

/// Returns when each work ran.
pub(super) fn spans(timeline: &Timeline) -> Vec<Part> {
    let line = |activity: &Activity| {
        let spans = activity.spans();
        let shown = spans
            .iter()
            .take(SPANS_MAX)
            .map(|it| format!("{}{}", span(timeline, *it), bytes(activity.bytes_in(*it))));
        let more = spans.len().saturating_sub(SPANS_MAX);
        let more = (more > 0).then(|| format!("and {more} more"));
        let all: Vec<String> = shown.chain(more).collect();
        format!("{}: {}", activity.label, all.join(", "))
    };
    let work = timeline.activities.iter().filter(|activity| activity.is_work);
    Part::title("What ran").above([Part::Sentences(work.map(line).collect())])
}
