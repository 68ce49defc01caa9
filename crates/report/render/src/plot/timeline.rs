//! Open loops and searches by second: response times above throughput.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::record::IntervalRecord;
use model::validity::{InvalidCause, ProbeRecord};
use model::{RunRecord, StepRecord, Unit};
use stats::time_profile::StallSpan;

use super::axis::{Linear, Log};
use super::matrix::{Area, Matrix, Row, float};
use super::palette::INK;
use super::picture::{Labels, Picture, line, px, text};
use super::plane::{LEFT, Stroke, path, polyline, round, sample};
use super::stall::{left_out, marks, shade, stalls};
use super::subject::Subject;
use crate::figure::{figure, float as count};
use crate::label::run_name;

const ROW: f64 = 156.0;
/// Room above a panel for the numbers of probes.
const ABOVE: f64 = 16.0;
/// Height of the response times.
const TIMES: f64 = 72.0;
/// Space between response times and throughput.
const BETWEEN: f64 = 16.0;
/// Height of the throughput.
const RATE: f64 = 26.0;
/// Narrowest probe that is given its number.
const NUMBERED: f64 = 13.0;
/// Intervals shorter than this are the ragged end of a step: their rate is unreliable.
const SHORTEST_S: f64 = 0.5;

/// The lines of the upper panel.
const LINES: [(&str, Stroke); 3] =
    [("p50", Stroke::Solid), ("p99", Stroke::Dashed), ("longest", Stroke::Dotted)];

/// One measured second.
struct Second<'a> {
    /// Start on the common axis, s.
    from: f64,
    /// Length, s.
    length: f64,
    interval: &'a IntervalRecord,
    /// Whether it belongs to the step's own measured span.
    is_own: bool,
}

impl Second<'_> {
    /// Returns p50, p99 and the longest response time, ns, as far as known.
    ///
    /// Percentiles of several kinds of operation cannot be merged.
    fn times(&self) -> [Option<f64>; 3] {
        let clients = &self.interval.clients;
        let timed: Vec<_> =
            clients.values().map(|one| &one.response).filter(|times| times.count > 0).collect();
        let longest = timed.iter().map(|times| times.max_ns).max().map(count);
        match timed[..] {
            [only] => [Some(count(only.p50_ns)), Some(count(only.p99_ns)), longest],
            _ => [None, None, longest],
        }
    }

    fn throughput(&self) -> Option<f64> {
        let done: u64 = self.interval.clients.values().map(|one| one.counts.done).sum();
        (self.length >= SHORTEST_S).then(|| count(done) / self.length)
    }

    fn middle(&self) -> f64 {
        self.from + self.length / 2.0
    }
}

/// One run's seconds in one step.
struct Track<'a> {
    step: &'a StepRecord,
    seconds: Vec<Second<'a>>,
    /// Stalls of an open loop; none of a search's probes.
    stalls: Vec<StallSpan>,
}

impl<'a> Track<'a> {
    /// Returns the track of an open loop or a search; `None` without stored seconds.
    fn in_run(run: &'a RunRecord, intervals: &'a [IntervalRecord], index: u32) -> Option<Self> {
        let step = run.steps.iter().find(|step| step.index == index).filter(has_track)?;
        Some(Self::of(step, intervals)).filter(|track| !track.seconds.is_empty())
    }

    /// Lays the measured seconds of a step end to end, probe after probe.
    fn of(step: &'a StepRecord, intervals: &'a [IntervalRecord]) -> Self {
        let measured = intervals
            .iter()
            .filter(|interval| interval.step_index == step.index && !interval.is_warmup);
        let mut from = 0.0;
        let mut seconds = Vec::new();
        for interval in measured {
            let length = interval.length_ns.as_secs_f64();
            let is_own = step.has_measured(interval);
            seconds.push(Second { from, length, interval, is_own });
            from += length;
        }
        let own = seconds.iter().filter(|second| second.is_own).map(|second| second.interval);
        let stalls = if step.search.is_none() { stalls(step, own) } else { Vec::new() };
        Self { step, seconds, stalls }
    }

    fn length(&self) -> f64 {
        self.seconds.last().map_or(0.0, |last| last.from + last.length)
    }

    /// Returns the spans of neighbouring seconds with an equal `key`.
    fn spans<K: PartialEq>(&self, key: impl Fn(&Second<'a>) -> K) -> Vec<(f64, f64, &Second<'a>)> {
        let groups = self.seconds.chunk_by(|one, next| key(one) == key(next));
        let ends =
            |group: &'_ [Second<'a>]| group.last().map_or(0.0, |last| last.from + last.length);
        groups.map(|group| (group[0].from, ends(group), &group[0])).collect()
    }

    fn probe(&self, number: u32) -> Option<&ProbeRecord> {
        let probes = &self.step.search.as_ref()?.probes;
        probes.iter().find(|probe| probe.number == number)
    }

    /// Returns what was offered in a second, if an open loop offered it.
    fn offered(&self, second: &Second<'_>) -> Option<f64> {
        let counted = second.interval.readings.get("offered_ops").map(|due| due / second.length);
        let probe = second.interval.probe.and_then(|number| self.probe(number));
        counted.or_else(|| probe.and_then(|probe| probe.offered_ops_per_s))
    }
}

/// Draws the seconds of open loops and searches; `None` when there are none.
pub(crate) fn timeline(subject: &Subject<'_>) -> Option<Picture> {
    let input = &subject.input;
    let runs: Vec<(&RunRecord, &Vec<IntervalRecord>)> =
        input.runs.iter().zip(input.intervals).collect();
    let keys: BTreeSet<u32> = runs
        .iter()
        .flat_map(|(run, _)| run.steps.iter().filter(has_track).map(|step| step.index))
        .collect();
    let (rows, runs) = rows(subject, &runs);
    let headings: Vec<String> = keys.iter().map(|index| heading(subject, *index)).collect();
    let matrix = Matrix {
        rows: &rows,
        columns: &headings,
        row_height: ROW,
        foot: 2.0,
        legend: Some((26.0, legend(&runs))),
    };
    let width = matrix.panel_width() - LEFT;
    let keys: Vec<u32> = keys.into_iter().collect();
    let tracks = |index: &u32| -> Vec<Option<Track<'_>>> {
        runs.iter().map(|(run, intervals)| Track::in_run(run, intervals, *index)).collect()
    };
    let columns: Vec<Column<'_>> =
        keys.iter().map(|index| Column::of(tracks(index), width)).collect();
    if !columns.iter().any(|column| column.tracks.iter().any(Option::is_some)) {
        return None;
    }
    let back = |_: &Area| html! {};
    let cell = |area: &Area, row: usize| columns[area.column].panel(area, row, rows[row].colour);
    let caption = "A panel per run. Above: response times of each second, logarithmic, the same \
                   for all runs of a step. Below: operations done per second, from zero; the thin \
                   line is what was offered. Shaded and called invalid: seconds in which the client \
                   and not the engine was late; they do not count. Upright lines divide the probes \
                   of a search, by number; grey is the step's own measured span. Warm-ups and \
                   backlogs served between probes are left out. Shaded from the left: not counted, because \
                   not every run was steady yet; orange bars at the foot: stalls.";
    let labels = Labels::new("timeline", "Open loops and searches, second by second", caption);
    Some(matrix.picture(labels, &back, &cell))
}

fn has_track(step: &&StepRecord) -> bool {
    step.arrivals.is_some() || step.search.is_some()
}

type Runs<'a> = Vec<(&'a RunRecord, &'a Vec<IntervalRecord>)>;

/// Returns a row per run that has a track, by variant and repetition.
fn rows<'a>(
    subject: &Subject<'a>,
    runs: &[(&'a RunRecord, &'a Vec<IntervalRecord>)],
) -> (Vec<Row>, Runs<'a>) {
    let comparison = subject.compared.comparison;
    let (mut rows, mut own) = (Vec::new(), Vec::new());
    for (variant, row) in comparison.variants.iter().zip(&subject.rows) {
        let mut of_variant: Runs<'a> =
            runs.iter().copied().filter(|(run, _)| run.cell.variant == variant.name).collect();
        of_variant.sort_by_key(|(run, _)| (run.cell.clients, run.cell.repetition));
        for (run, intervals) in of_variant {
            let mark = if run.invalid.is_some() { " INVALID" } else { "" };
            let label = format!("{}{mark}", run_name(&run.id));
            rows.push(Row { label, ..row.clone() });
            own.push((run, intervals));
        }
    }
    (rows, own)
}

fn heading(subject: &Subject<'_>, index: u32) -> String {
    let step = subject.input.runs.iter().flat_map(|run| &run.steps).find(|it| it.index == index);
    step.map_or_else(String::new, |step| format!("{}\n{}", step.step.name, step.step.load))
}

/// One step's tracks, one per run.
struct Column<'a> {
    tracks: Vec<Option<Track<'a>>>,
    up: Option<Log>,
    rate: Linear,
    width: f64,
}

impl<'a> Column<'a> {
    fn of(tracks: Vec<Option<Track<'a>>>, width: f64) -> Self {
        let seconds = || tracks.iter().flatten().flat_map(|track| &track.seconds);
        let times = seconds().flat_map(|second| second.times().into_iter().flatten());
        let up = Log::holding(times, TIMES);
        let rate = Linear::holding(seconds().filter_map(Second::throughput), RATE);
        Self { up, rate, width, tracks }
    }

    fn panel(&self, area: &Area, row: usize, colour: &str) -> Markup {
        let Some(track) = &self.tracks[row] else {
            let middle = area.y + area.height / 2.0;
            return text(area.x + area.width, middle, "none end", "not measured");
        };
        let frame = Frame {
            left: area.x + LEFT,
            top: area.y + ABOVE,
            across: Linear::holding([track.length()], self.width),
        };
        html! {
            (self.axes(&frame))
            (frame.spans(track))
            (self.lines(&frame, track, colour))
            (text(frame.left, frame.bottom() + 12.0, "axis", "0 s"))
            (text(frame.right(), frame.bottom() + 12.0, "axis end", &length_label(track.length())))
        }
    }

    fn axes(&self, frame: &Frame) -> Markup {
        let decades: Vec<f64> = self.up.map(|up| up.decades().collect()).unwrap_or_default();
        let every = if decades.len() > 5 { 2 } else { 1 };
        let at = |value: f64| frame.times() - self.up.map_or(0.0, |up| up.at(value));
        let most = round(Unit::OpsPerSecond, self.rate.max());
        html! {
            @for (index, decade) in decades.iter().enumerate() {
                (line((frame.left, at(*decade)), (frame.right(), at(*decade)), "grid"))
                @if index % every == 0 {
                    (text(frame.left - 5.0, at(*decade) + 3.5, "axis end", &round(Unit::Nanos, *decade)))
                }
            }
            (line((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "rule"))
            (text(frame.left - 5.0, frame.bottom() + 2.0, "axis end", "0"))
            (text(frame.left - 5.0, frame.bottom() - RATE + 5.0, "axis end", &most))
        }
    }

    fn lines(&self, frame: &Frame, track: &Track<'_>, colour: &str) -> Markup {
        let times = |which: usize| -> Vec<(f64, f64)> {
            let known = track.seconds.iter().filter_map(|second| {
                let y = self.up?.at(second.times()[which]?);
                Some((frame.x(second.middle()), frame.times() - y))
            });
            known.collect()
        };
        let rate = |value: f64| frame.bottom() - self.rate.at(value);
        let done: Vec<(f64, f64)> = track
            .seconds
            .iter()
            .filter_map(|second| Some((frame.x(second.middle()), rate(second.throughput()?))))
            .collect();
        let offered: Vec<(f64, f64)> = track
            .seconds
            .iter()
            .filter_map(|second| track.offered(second).map(|due| (second, rate(due))))
            .flat_map(|(second, y)| {
                [(frame.x(second.from), y), (frame.x(second.from + second.length), y)]
            })
            .collect();
        html! {
            @for (which, (_, stroke)) in LINES.iter().enumerate() {
                (path(&times(which), *stroke, colour))
            }
            @if offered.len() > 1 { (polyline(&offered, "offered", None)) }
            (path(&done, Stroke::Solid, colour))
        }
    }
}

/// Where a panel lies.
struct Frame {
    left: f64,
    top: f64,
    across: Linear,
}

impl Frame {
    fn x(&self, second: f64) -> f64 {
        self.left + self.across.at(second)
    }

    fn right(&self) -> f64 {
        self.x(self.across.max())
    }

    /// Returns the foot of the response times.
    fn times(&self) -> f64 {
        self.top + TIMES
    }

    fn bottom(&self) -> f64 {
        self.times() + BETWEEN + RATE
    }

    /// Returns invalid spans, probes and the step's own span.
    fn spans(&self, track: &Track<'_>) -> Markup {
        let is_search = track.step.search.is_some();
        let of_probes = track.spans(|second| second.interval.probe);
        let own = track.spans(|second| second.is_own);
        let own = own.iter().filter(|(_, _, second)| is_search && second.is_own);
        let cause =
            |second: &Second<'_>| second.interval.invalid.as_ref().map(|invalid| invalid.cause);
        let spans = track.spans(cause);
        let invalid = spans.iter().filter(|(_, _, second)| second.interval.invalid.is_some());
        html! {
            @if let Some((warmup_trim_s, why)) = left_out(track.step) {
                (shade((self.left, self.x(warmup_trim_s)), (self.top, self.bottom()), &why))
            }
            (marks(&track.stalls, |second| self.x(second), self.bottom() + 1.0))
            @for (from, to, _) in own { (self.block((*from, *to), "own", None)) }
            @for (from, to, second) in invalid {
                (self.block((*from, *to), "invalid", Some(&invalid_about(second))))
                @if self.x(*to) - self.x(*from) >= NUMBERED {
                    (text(self.x(*from) + 2.0, self.times() + BETWEEN - 4.0, "tiny alarm", "invalid"))
                }
            }
            @if is_search { @for (from, to, second) in &of_probes {
                (self.probe(track, (*from, *to), second))
            } }
        }
    }

    fn block(&self, (from, to): (f64, f64), class: &str, about: Option<&str>) -> Markup {
        html! {
            rect x=(px(self.x(from))) y=(px(self.top)) width=(px(self.x(to) - self.x(from)))
                height=(px(self.bottom() - self.top)) class=(class) {
                @if let Some(about) = about { title { (about) } }
            }
        }
    }

    fn probe(&self, track: &Track<'_>, (from, to): (f64, f64), second: &Second<'_>) -> Markup {
        let probe = second.interval.probe.and_then(|number| track.probe(number));
        let is_wide = self.x(to) - self.x(from) >= NUMBERED;
        html! {
            (line((self.x(from), self.top - 3.0), (self.x(from), self.bottom()), "divide"))
            @if let Some(probe) = probe.filter(|_| is_wide) {
                text x=(px(self.x(from) + 2.0)) y=(px(self.top - 4.0)) class="tiny" {
                    (probe.number)
                    title {
                        "#" (probe.number) " " (probe.purpose.name()) ", "
                        (probe.outcome.name()) ": " (probe.reason)
                    }
                }
            }
        }
    }
}

fn invalid_about(second: &Second<'_>) -> String {
    let Some(invalid) = &second.interval.invalid else { return String::new() };
    format!(
        "invalid from {}: {}: {}",
        length_label(second.from),
        invalid.cause.phrase(),
        invalid.evidence
    )
}

/// Returns the lines and the causes of invalid seconds.
fn legend(runs: &Runs<'_>) -> Markup {
    let intervals = runs.iter().flat_map(|(_, intervals)| intervals.iter());
    let causes: BTreeSet<InvalidCause> =
        intervals.filter_map(|one| one.invalid.as_ref()).map(|invalid| invalid.cause).collect();
    let causes: Vec<&str> = causes.into_iter().map(InvalidCause::phrase).collect();
    let place = |index: usize| 6.0 + 80.0 * float(index);
    html! {
        @for (index, (name, stroke)) in LINES.iter().enumerate() {
            (sample(place(index), *stroke, INK, name))
        }
        @if !causes.is_empty() {
            rect x="266" y="2" width="14" height="11" class="invalid" {}
            (text(286.0, 12.0, "", &format!("invalid: {}", causes.join("; "))))
        }
    }
}

fn length_label(seconds: f64) -> String {
    if seconds == 0.0 { "0 s".to_owned() } else { figure(Unit::Seconds, seconds) }
}

#[cfg(test)]
mod tests {
    use model::{Load, Nanos, Step, StopRule};

    use super::*;

    fn interval(probe: u32, second: u64, is_warmup: bool) -> IntervalRecord {
        IntervalRecord {
            step_index: 1,
            step: "readrandom".to_owned(),
            is_warmup,
            start_ns: Nanos::from_secs(second),
            length_ns: Nanos::SECOND,
            clients: model::record::OpSummaries::new(),
            writers: model::record::OpSummaries::new(),
            probe: Some(probe),
            invalid: None,
            start_lag: None,
            within_limit: None,
            readings: model::Readings::new(),
        }
    }

    fn step() -> StepRecord {
        let step = Step {
            load: Load::FindClients,
            ..Step::new("readrandom", StopRule::Duration(Nanos::SECOND))
        };
        StepRecord { duration_ns: Nanos::SECOND, search: None, ..StepRecord::new(1, step) }
    }

    #[test]
    fn probes_are_laid_end_to_end_without_warm_ups() {
        let intervals = [
            interval(0, 0, true),
            interval(0, 1, false),
            interval(0, 2, false),
            interval(1, 0, true),
            interval(1, 1, false),
        ];
        let step = step();
        let track = Track::of(&step, &intervals);
        let starts: Vec<f64> = track.seconds.iter().map(|second| second.from).collect();
        assert_eq!(starts, [0.0, 1.0, 2.0]);
        let probes: Vec<(f64, f64)> = track
            .spans(|second| second.interval.probe)
            .iter()
            .map(|(from, to, _)| (*from, *to))
            .collect();
        assert_eq!(probes, [(0.0, 2.0), (2.0, 3.0)]);
    }
}
