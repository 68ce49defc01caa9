//! Recomputes step records with a longer warm-up trimmed off.
//!
//! Recorded intervals go through the same accounts as in the run; values known of the whole step
//! only are absent, or unchanged.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{ArchiveError, HistogramLog, Log, LogLine, read_intervals};
use hdrhistogram::Histogram;
use load::{GroupTally, KindTally, empty_histogram};
use model::buckets::{BUCKET_BOUNDS, FINE_BOUNDS};
use model::record::OpSummary;
use model::validity::{ArrivalsRecord, Calibration};
use model::{
    IntervalRecord, Kind, Nanos, OpKind, OpUnit, Readings, RunRecord, StepRecord, metric, whole,
};

use super::span::{Classified, Span};
use super::step_record::complete;
use crate::account::{gauges, of_kind, raise};
use crate::tally;
use crate::validity::classify::Classification;

/// Returns a run with `warmup_trims` removed from its steps, by index.
///
/// `dir` is the run's directory. Counts, times, seconds, counters, arrivals and invalid intervals
/// are of the remaining seconds alone, as exact as those of the whole. The engine's state before
/// the step, its beginning and its findings stay those of the step; a counter that is not known
/// second by second is absent. Steps that end by count and searches are never trimmed. Nothing is
/// read when there is nothing to trim; each remaining second takes about 0.1 ms per kind of
/// operation.
///
/// # Errors
/// When the run's intervals or histogram logs are absent or damaged.
pub fn trim_warmup(
    dir: &Path,
    mut run: RunRecord,
    warmup_trims: &BTreeMap<u32, Nanos>,
) -> Result<RunRecord, ArchiveError> {
    let trim_of = |step: &StepRecord| {
        let is_timed = matches!(step.step.stop, model::StopRule::Duration(_));
        let trim = warmup_trims.get(&step.index).copied().filter(|trim| *trim > Nanos(0));
        trim.filter(|_| is_timed && step.search.is_none())
    };
    if run.steps.iter().all(|step| trim_of(step).is_none()) {
        return Ok(run);
    }
    let archive = Archive::read(dir)?;
    for step in &mut run.steps {
        if let Some(trim) = trim_of(step) {
            *step = archive.step(step, trim, run.calibration.as_ref())?;
        }
    }
    Ok(run)
}

/// A run's recorded intervals and histograms.
pub(super) struct Archive {
    intervals: Vec<IntervalRecord>,
    response: HistogramLog,
    service: HistogramLog,
    start_lag: HistogramLog,
    censored: HistogramLog,
}

impl Archive {
    pub(super) fn read(dir: &Path) -> Result<Self, ArchiveError> {
        Ok(Self {
            intervals: read_intervals(dir)?,
            response: HistogramLog::read(dir, Log::Response)?,
            service: HistogramLog::read(dir, Log::Service)?,
            start_lag: HistogramLog::read(dir, Log::StartLag)?,
            censored: HistogramLog::read(dir, Log::Censored)?,
        })
    }

    /// Returns a step that begins with the first interval whose middle is at `trim` or later.
    pub(super) fn step(
        &self,
        step: &StepRecord,
        trim: Nanos,
        calibration: Option<&Calibration>,
    ) -> Result<StepRecord, ArchiveError> {
        let measured = || self.intervals.iter().filter(|interval| step.has_measured(interval));
        let begun = measured().next().map_or(Nanos(0), |first| first.start_ns);
        let is_within = |interval: &IntervalRecord| {
            let half = Nanos(interval.length_ns.0 / 2);
            step.has_measured(interval) && interval.start_ns.since(begun).after(half) >= trim
        };
        let Some(first) = measured().find(|interval| is_within(interval)) else {
            return Ok(step.clone());
        };
        let has_invalid =
            measured().any(|interval| is_within(interval) && interval.invalid.is_some());
        let mut trimmed =
            TrimmedStep { has_invalid, unit: step.step.unit, ..TrimmedStep::default() };
        trimmed.span.part.limit = step.step.limit.map(|limit| limit.within);
        self.replay(&is_within, &mut trimmed)?;
        let tag = format!("{}.{}", step.index, step.step.name);
        for line in self.censored.lines() {
            let line = line?;
            if line.tag() == tag {
                trimmed.end(&line.histogram()?);
            }
        }
        let left_out: Vec<_> = measured().filter(|interval| !is_within(interval)).collect();
        Ok(trimmed.record(step, first.start_ns.since(begun), &left_out, calibration))
    }

    /// Adds the intervals for which `is_within`, with their histograms.
    ///
    /// The logs have their lines in the order of the intervals. What comes after the last of these
    /// is not read: a run that ended early may have an interval without its lines.
    fn replay(
        &self,
        is_within: &dyn Fn(&IntervalRecord) -> bool,
        trimmed: &mut TrimmedStep,
    ) -> Result<(), ArchiveError> {
        let mut lines = self.response.lines().zip(self.service.lines());
        let mut lags = self.start_lag.lines();
        let read = self.intervals.iter().rposition(is_within).map_or(0, |last| last + 1);
        for interval in &self.intervals[..read] {
            let is_within = is_within(interval);
            let (mut clients, mut writers) = (GroupTally::new(), GroupTally::new());
            let kinds = interval.clients.iter().map(|one| (one, true));
            for ((kind, summary), is_client) in
                kinds.chain(interval.writers.iter().map(|one| (one, false)))
            {
                let short = || self.response.damaged("it ends before the intervals do");
                let (response, service) = lines.next().ok_or_else(short)?;
                if is_within {
                    let tally = self.decode_line(*kind, summary, (response?, service?))?;
                    let group = if is_client { &mut clients } else { &mut writers };
                    group.insert(*kind, tally);
                }
            }
            let lag = if interval.start_lag.is_some() { lags.next().transpose()? } else { None };
            if is_within {
                let lag = lag.map(|line| line.histogram()).transpose()?;
                trimmed.add(interval, (&clients, &writers), lag.as_ref());
            }
        }
        Ok(())
    }

    fn decode_line(
        &self,
        kind: OpKind,
        summary: &OpSummary,
        (response, service): (LogLine<'_>, LogLine<'_>),
    ) -> Result<KindTally, ArchiveError> {
        let (tag, of_service) = (response.tag(), service.tag());
        if response.is_warmup() || !tag.ends_with(&format!(".{kind}")) || of_service != tag {
            let what = format!("the line of a measured {kind}");
            let reason = format!("{what} is tagged {tag}, and its service times {of_service}");
            return Err(self.response.damaged(&reason));
        }
        let (response, service) = (response.histogram()?, service.histogram()?);
        Ok(KindTally { counts: summary.counts, response, service })
    }
}

/// The remaining seconds of a step.
#[derive(Default)]
struct TrimmedStep {
    /// Whether some of them are invalid: the valid ones are then summed separately.
    has_invalid: bool,
    /// Unit of the throughput.
    unit: OpUnit,
    span: Span,
    clients: GroupTally,
    writers: GroupTally,
    start_lag: Option<Histogram<u64>>,
    gauges_max: Readings,
}

impl TrimmedStep {
    fn add(
        &mut self,
        record: &IntervalRecord,
        (clients, writers): (&GroupTally, &GroupTally),
        start_lag: Option<&Histogram<u64>>,
    ) {
        tally::add(&mut self.clients, clients);
        tally::add(&mut self.writers, writers);
        if let Some(lag) = start_lag {
            let sum = self.start_lag.get_or_insert_with(empty_histogram);
            sum.add(lag).expect("ours reaches as far as the worker's, which is of one layout");
        }
        raise(&mut self.gauges_max, gauges(&record.readings));
        let classification =
            record.invalid.clone().map_or(Classification::InTime, Classification::Invalid);
        let backlog = record.readings.value(metric::BACKLOG_US).unwrap_or_default();
        let backlog = Nanos(whole(backlog * 1e3));
        let none = GroupTally::new();
        let clients = if self.has_invalid { clients } else { &none };
        let unit = self.unit;
        self.span.add(&Classified {
            record,
            clients,
            backlog,
            classification: &classification,
            unit,
        });
    }

    /// Adds the ages of the arrivals that waited at the end.
    fn end(&mut self, ages: &Histogram<u64>) {
        tally::add_censored(&mut self.clients, ages);
        self.span.part.add_censored(ages);
    }

    /// Returns the step without the intervals of `left_out`.
    fn record(
        self,
        whole: &StepRecord,
        trim: Nanos,
        left_out: &[&IntervalRecord],
        calibration: Option<&Calibration>,
    ) -> StepRecord {
        let arrivals = whole.arrivals.as_ref().map(|whole| ArrivalsRecord {
            offered: whole.offered.saturating_sub(offered(left_out)),
            start_lag: self.start_lag.as_ref().map(load::percentiles).unwrap_or_default(),
            ..whole.clone()
        });
        let mut gauges_max = self.gauges_max;
        raise(&mut gauges_max, whole.gauges_end.clone());
        let record = StepRecord {
            warmup_trim_ns: Some(trim),
            duration_ns: whole.duration_ns.since(trim),
            clients: tally::summaries(&self.clients),
            writers: tally::summaries(&self.writers),
            buckets: tally::buckets([&self.clients, &self.writers], &BUCKET_BOUNDS),
            fine_buckets: tally::buckets([&self.clients, &self.writers], &FINE_BOUNDS),
            counters: less(&whole.counters, left_out),
            gauges_max,
            arrivals,
            ..whole.clone()
        };
        complete(record, &self.span, calibration).0
    }
}

/// Returns the counters' growth outside of the intervals left out.
fn less(whole: &Readings, left_out: &[&IntervalRecord]) -> Readings {
    let rest = |(name, value): (&String, &f64)| {
        let before: Option<f64> =
            left_out.iter().map(|interval| interval.readings.get(name).copied()).sum();
        Some((name.clone(), (value - before?).max(0.0)))
    };
    of_kind(whole, Kind::Counter).filter_map(rest).collect()
}

/// Returns the arrivals due in some intervals.
fn offered(intervals: &[&IntervalRecord]) -> u64 {
    let due = intervals.iter().filter_map(|interval| interval.readings.value(metric::OFFERED_OPS));
    whole(due.sum::<f64>().round())
}

#[cfg(test)]
mod tests {
    use archive::{HistogramPlace, RunWriter};
    use load::{ManualClock, StepEnd};
    use model::record::{RunEnd, SCHEMA};
    use model::validity::{InvalidCause, InvalidReason};
    use model::{
        Cell, EngineState, Limit, Load, OpenLoad, Options, Pace, Placement, Rate, Settings, Step,
        StopRule, Variant,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::message::{IntervalMessage, StepEnds};
    use crate::supervisor::accumulator::StepAccumulator;

    /// A second: gets, puts of a background writer, and microseconds per operation.
    type Second = (u64, u64, u64);

    fn step(is_open: bool, length: usize) -> Step {
        let open = OpenLoad { rate: Rate::constant(100.0), pace: Pace::default() };
        Step {
            clients: 2,
            warmup: Nanos::SECOND,
            load: if is_open { Load::Open(open) } else { Load::Closed },
            limit: Limit::parse("p99 < 2ms").ok(),
            ..Step::new("readwhilewriting", StopRule::Duration(Nanos::from_secs(length as u64)))
        }
    }

    fn tally(kind: OpKind, seconds: &[Second]) -> GroupTally {
        let mut tally = KindTally::default();
        for (gets, puts, us) in seconds {
            let done = if kind == OpKind::Get { *gets } else { *puts };
            tally.response.record_n(us * 1_000, done).unwrap();
            tally.service.record_n(us * 500, done).unwrap();
            tally.counts.done += done;
            tally.counts.bytes += 100 * done;
        }
        [(kind, tally)].into()
    }

    /// Two arrivals not served.
    fn censored() -> Histogram<u64> {
        let mut ages = empty_histogram();
        ages.record_n(70_000_000, 2).unwrap();
        ages
    }

    /// The accumulator's record of a step of these seconds; `keep` gets each interval.
    fn measured(
        is_open: bool,
        seconds: &[Second],
        mut keep: impl FnMut(&crate::supervisor::accumulator::RecordedInterval),
    ) -> StepRecord {
        let clock = ManualClock::new(Nanos(0));
        let step = step(is_open, seconds.len());
        let mut accumulator =
            StepAccumulator::open(&clock, Vec::new(), step.clone(), Placement::Free);
        accumulator.begin_step(1, step);
        accumulator.begin_span(EngineState::default());
        for (at, second) in (0..).zip(seconds) {
            let growth = [(metric::CLIENT_IDLE_US, 5.0), (metric::OFFERED_OPS, second.0 as f64)];
            let mut lag = empty_histogram();
            lag.record_n(second.2, second.0).unwrap();
            let message = IntervalMessage {
                probe: None,
                is_warmup: false,
                start: Nanos::from_secs(at + 1),
                length: Nanos::SECOND,
                clients: tally::times(&tally(OpKind::Get, &[*second])),
                writers: tally::times(&tally(OpKind::Put, &[*second])),
                start_lag: is_open.then(|| tally::encode(&lag)),
                backlog: Nanos(if is_open { 1_000 * at } else { 0 }),
                growth: growth.map(|(name, value)| (name.to_owned(), value)).into(),
                spanning: Vec::new(),
                engine: [(metric::RSS_BYTES.name.to_owned(), (100 - at) as f64)].into(),
                tables: model::TableReadings::new(),
            };
            clock.advance(message.length);
            keep(&accumulator.interval(&message).unwrap());
        }
        let sum = |of: fn(&Second) -> u64| seconds.iter().map(of).sum::<u64>();
        let mut clients = tally(OpKind::Get, seconds);
        let mut lags = empty_histogram();
        // None of a value would still be its maximum.
        let lagging = seconds.iter().filter(|one| one.0 > 0);
        lagging.for_each(|one| lags.record_n(one.2, one.0).unwrap());
        let arrivals = is_open.then(|| {
            let own = clients.get_mut(&OpKind::Get).unwrap();
            own.response.add(censored()).unwrap();
            ArrivalsRecord {
                pace: Pace::default(),
                offered: sum(|one| one.0),
                censored: censored().len(),
                start_lag: load::percentiles(&lags),
                backlog_ns: Nanos(9),
            }
        });
        let idle = 5.0 * seconds.len() as f64;
        let growth =
            [(metric::CLIENT_IDLE_US, idle), (metric::OFFERED_OPS, sum(|one| one.0) as f64)];
        let ends = StepEnds {
            index: 1,
            duration: Nanos::from_secs(seconds.len() as u64),
            clients: tally::times(&clients),
            writers: tally::times(&tally(OpKind::Put, seconds)),
            growth: growth.map(|(name, value)| (name.to_owned(), value)).into(),
            arrivals,
            censored: is_open.then(|| tally::encode(&censored())),
            end: StepEnd::Finished,
            ..StepEnds::default()
        };
        accumulator.end_step(ends).unwrap()
    }

    fn run(step: StepRecord) -> RunRecord {
        let cell = Cell {
            id: "null.c2.r1".to_owned(),
            variant: "null".to_owned(),
            clients: 2,
            repetition: 1,
            seed: 1,
        };
        RunRecord {
            schema: SCHEMA,
            id: "test/null.c2.r1".to_owned(),
            cell,
            variant: Variant {
                dsn: None,
                name: "null".to_owned(),
                build: "null".parse().unwrap(),
                profile: None,
                options: Options::new(),
                settings: Settings::default(),
                is_control: false,
            },
            identity: None,
            effective_options: Options::new(),
            clock: None,
            calibration: None,
            invalid: None,
            load: None,
            durability: None,
            drive: None,
            started_at: String::new(),
            ended_at: None,
            steps: vec![step],
            end: RunEnd::Complete,
        }
    }

    /// Archives a run of these seconds in a directory; returns it with its record.
    fn archived(is_open: bool, seconds: &[Second]) -> (tempfile::TempDir, RunRecord) {
        archived_with_invalid(is_open, seconds, &[])
    }

    /// The same, with some of the seconds invalid.
    fn archived_with_invalid(
        is_open: bool,
        seconds: &[Second],
        invalid: &[u64],
    ) -> (tempfile::TempDir, RunRecord) {
        let root = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(root.path().join("run")).unwrap();
        let record = measured(is_open, seconds, |trimmed| {
            let mut interval = trimmed.record.clone();
            let is_invalid = invalid.contains(&(interval.start_ns.0 / 1_000_000_000 - 1));
            let invalid =
                InvalidReason { cause: InvalidCause::Steal, evidence: "stolen".to_owned() };
            interval.invalid = is_invalid.then_some(invalid);
            writer.append_interval(&interval).unwrap();
            let (start, length) = (trimmed.record.start_ns, trimmed.record.length_ns);
            for (group, kinds) in [("", &trimmed.clients), ("writer.", &trimmed.writers)] {
                for (kind, tally) in kinds {
                    let tag = format!("1.readwhilewriting.{group}{kind}");
                    let place = HistogramPlace { tag: &tag, is_warmup: false, start, length };
                    writer.append(Log::Response, &place, &tally.response).unwrap();
                    writer.append(Log::Service, &place, &tally.service).unwrap();
                }
            }
            let tag = "1.readwhilewriting";
            let place = HistogramPlace { tag, is_warmup: false, start, length };
            if let Some(lag) = &trimmed.start_lag {
                writer.append(Log::StartLag, &place, lag).unwrap();
            }
        });
        if is_open {
            let (start, length) = (Nanos(0), Nanos(0));
            let tag = "1.readwhilewriting";
            let place = HistogramPlace { tag, is_warmup: false, start, length };
            writer.append(Log::Censored, &place, &censored()).unwrap();
        }
        (root, run(record))
    }

    fn trimmed_at(root: &tempfile::TempDir, run: &RunRecord, warmup_trim_s: u64) -> StepRecord {
        let warmup_trims = [(1, Nanos::from_secs(warmup_trim_s))].into();
        trim_warmup(&root.path().join("run"), run.clone(), &warmup_trims).unwrap().steps.remove(0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Goal: a trimmed step equals a step measured from there on.
        /// Method: the accumulator gets the remaining seconds alone.
        #[test]
        fn a_trimmed_step_is_the_step_of_its_remaining_seconds(
            seconds in prop::collection::vec((0_u64..90, 0_u64..9, 1_u64..9_000), 2..9),
            warmup_trim_s in 1_usize..8,
            is_open: bool,
        ) {
            let warmup_trim_s = warmup_trim_s.min(seconds.len() - 1);
            let (root, whole) = archived(is_open, &seconds);
            let found = trimmed_at(&root, &whole, warmup_trim_s as u64);
            let mut wanted = measured(is_open, &seconds[warmup_trim_s..], |_| {});
            wanted.warmup_trim_ns = Some(Nanos::from_secs(warmup_trim_s as u64));
            // The backlogs and gauges of the remaining seconds are those of later seconds.
            wanted.gauges_max = found.gauges_max.clone();
            wanted.gauges_end = found.gauges_end.clone();
            wanted.started_at.clone_from(&found.started_at);
            wanted.time_profile.clone_from(&found.time_profile);
            wanted.findings.clone_from(&found.findings);
            wanted.step.clone_from(&found.step);
            prop_assert_eq!(&found, &wanted);
            prop_assert!((found.gauges_max[metric::RSS_BYTES] - (100 - warmup_trim_s) as f64).abs() < 1e-9);
        }
    }

    #[test]
    fn only_remaining_seconds_count_as_invalid() {
        let seconds: Vec<Second> = (1..=10).map(|at| (10 * at, 1, at)).collect();
        for is_open in [false, true] {
            let (root, whole) = archived_with_invalid(is_open, &seconds, &[1, 5]);
            let found = trimmed_at(&root, &whole, 2);
            let invalid_intervals = found.invalid_intervals.clone().unwrap();
            assert_eq!((invalid_intervals.intervals, invalid_intervals.of_intervals), (1, 8));
            assert_eq!(invalid_intervals.causes, [(InvalidCause::Steal, 1)]);
            assert_eq!(invalid_intervals.valid_ns, Nanos::from_secs(7));
            let (all, valid) =
                (&found.clients[&OpKind::Get], &invalid_intervals.valid[&OpKind::Get]);
            // 30 to 100, and without the 60.
            assert_eq!((all.counts.done, valid.counts.done), (520, 460));
            let left = 2 * u64::from(is_open);
            assert_eq!((all.response.count, valid.response.count), (520 + left, 460 + left));
            assert_eq!(
                (found.within_limit, invalid_intervals.within_limit),
                (Some(520), Some(460))
            );
            assert_eq!(found.seconds.seconds, 7);
            assert_eq!(trimmed_at(&root, &whole, 6).invalid_intervals, None);
        }
    }

    #[test]
    fn nothing_is_read_when_there_is_nothing_to_trim() {
        let (_root, whole) = archived(false, &[(50, 1, 9); 3]);
        let nowhere = Path::new("/nonexistent");
        for warmup_trims in [BTreeMap::new(), [(1, Nanos(0))].into(), [(7, Nanos::SECOND)].into()] {
            assert_eq!(trim_warmup(nowhere, whole.clone(), &warmup_trims).unwrap(), whole);
        }
        let mut by_count = whole.clone();
        by_count.steps[0].step.stop = StopRule::Operations(150);
        let warmup_trims = [(1, Nanos::SECOND)].into();
        assert_eq!(trim_warmup(nowhere, by_count.clone(), &warmup_trims).unwrap(), by_count);
        assert!(trim_warmup(nowhere, whole, &warmup_trims).is_err());
    }

    #[test]
    fn a_log_that_lacks_lines_is_named() {
        let (root, whole) = archived(false, &[(50, 1, 9); 3]);
        let path = root.path().join("run/response.hlog");
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        std::fs::write(&path, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
        let warmup_trims = [(1, Nanos::SECOND)].into();
        let error =
            trim_warmup(&root.path().join("run"), whole, &warmup_trims).unwrap_err().to_string();
        assert!(error.ends_with("is damaged: it ends before the intervals do"), "{error}");
    }

    /// Goal: a step that was recorded is counted again, whatever ended the run in the next one.
    #[test]
    fn an_interval_of_an_unfinished_step_needs_no_lines() {
        let (root, whole) = archived(false, &[(50, 1, 9); 3]);
        let run = root.path().join("run");
        let path = run.join("intervals.jsonl");
        let mut text = std::fs::read_to_string(&path).unwrap();
        let mut next: IntervalRecord =
            serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
        next.step_index += 1;
        text += &(serde_json::to_string(&next).unwrap() + "\n");
        std::fs::write(&path, text).unwrap();
        let warmup_trims = [(1, Nanos::SECOND)].into();
        let trimmed = trim_warmup(&run, whole.clone(), &warmup_trims).unwrap();
        assert!(trimmed.steps[0].duration_ns < whole.steps[0].duration_ns);
        assert_eq!(crate::recount(&run, &whole).unwrap(), Vec::<String>::new());
    }
}
