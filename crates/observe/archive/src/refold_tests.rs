//! Steps that are folded again from files.

use std::ops::Range;

use fold::{Counts, GroupTally, empty_histogram, percentiles, summaries, within_limit};
use hdrhistogram::Histogram;
use model::record::{RunEnd, SCHEMA};
use model::validity::{ArrivalsRecord, InvalidCause, InvalidReason};
use model::{
    Cell, Limit, Load, OpenLoad, Options, Pace, Rate, Settings, Step, TableReadings, Variant,
    metric,
};
use proptest::prelude::*;

use super::*;
use crate::run::{HistogramPlace, RunWriter};

const TAG: &str = "1.readwhilewriting";
/// One step, counted again without a difference.
const SOUND: Recount = Recount { steps: 1, differing: Vec::new() };

#[derive(Debug, Clone, Copy)]
struct Second {
    gets: u64,
    /// Puts of a background writer.
    puts: u64,
    /// Microseconds of each operation.
    us: u64,
    is_invalid: bool,
}

/// Seconds of a step, one after the other.
struct Measured {
    is_open: bool,
    seconds: Vec<Second>,
}

fn seconds(of: &[(u64, u64, u64)]) -> Vec<Second> {
    let one = |(gets, puts, us): &(u64, u64, u64)| Second {
        gets: *gets,
        puts: *puts,
        us: *us,
        is_invalid: false,
    };
    of.iter().map(one).collect()
}

fn tally(kind: OpKind, done: u64, us: u64) -> GroupTally {
    let mut tally = KindTally::default();
    tally.response.record_n(us * 1_000, done).unwrap();
    tally.service.record_n(us * 500, done).unwrap();
    (tally.counts.done, tally.counts.bytes) = (done, 100 * done);
    [(kind, tally)].into()
}

/// Two arrivals not served.
fn censored() -> Histogram<u64> {
    let mut ages = empty_histogram();
    ages.record_n(70_000_000, 2).unwrap();
    ages
}

impl Measured {
    fn step(&self) -> Step {
        let open = OpenLoad { rate: Rate::constant(100.0), pace: Pace::default() };
        let length = Nanos::from_secs(self.seconds.len() as u64);
        Step {
            clients: 2,
            warmup: Nanos::SECOND,
            load: if self.is_open { Load::Open(open) } else { Load::Closed },
            limit: Limit::parse("p99 < 2ms").ok(),
            ..Step::new("readwhilewriting", StopRule::Duration(length))
        }
    }

    fn interval(&self, at: usize) -> IntervalData {
        let second = self.seconds[at];
        let clients = tally(OpKind::Get, second.gets, second.us);
        let writers = tally(OpKind::Put, second.puts, second.us);
        let invalid = InvalidReason { cause: InvalidCause::Steal, evidence: "stolen".to_owned() };
        let start_lag = self.is_open.then(|| {
            let mut lag = empty_histogram();
            lag.record_n(second.us, second.gets).unwrap();
            lag
        });
        let backlog_us = if self.is_open { at as f64 } else { 0.0 };
        let record = IntervalRecord {
            step_index: 1,
            step: "readwhilewriting".to_owned(),
            is_warmup: false,
            start_ns: Nanos::from_secs(at as u64 + 1),
            length_ns: Nanos::SECOND,
            clients: summaries(&clients),
            writers: summaries(&writers),
            probe: None,
            invalid: second.is_invalid.then_some(invalid),
            start_lag: start_lag.as_ref().map(percentiles),
            within_limit: Some(within_limit(&clients, Nanos::from_millis(2))),
            spanning: Vec::new(),
            readings: [
                (metric::CLIENT_IDLE_US, 5.0),
                (metric::OFFERED_OPS, second.gets as f64),
                (metric::BACKLOG_US, backlog_us),
                (metric::RSS_BYTES, (100 - at) as f64),
            ]
            .into(),
            tables: TableReadings::new(),
        };
        IntervalData { record, groups: Groups { clients, writers }, start_lag }
    }

    /// The record of a part of the seconds, as a run would have it.
    fn record(&self, part: Range<usize>) -> StepRecord {
        let length = part.len() as u64;
        let offered = self.seconds[part.clone()].iter().map(|second| second.gets).sum();
        let arrivals = self.is_open.then(|| ArrivalsRecord {
            pace: Pace::default(),
            offered,
            censored: censored().len(),
            start_lag: model::record::Percentiles::default(),
            backlog_ns: Nanos(9),
        });
        let counters =
            [(metric::CLIENT_IDLE_US, 5.0 * length as f64), (metric::OFFERED_OPS, offered as f64)];
        let known = StepRecord {
            duration_ns: Nanos::from_secs(length),
            counters: counters.into(),
            gauges_end: [(metric::RSS_BYTES, 9.0)].into(),
            gauges_max: [(metric::RSS_BYTES, (100 - part.start) as f64)].into(),
            arrivals,
            ..StepRecord::new(1, self.step())
        };
        let mut fold = Fold::new(&known.step);
        let mut groups = Groups::default();
        for interval in part.map(|at| self.interval(at)) {
            fold.add(&interval).unwrap();
            fold::merge(&mut groups.clients, &interval.groups.clients);
            fold::merge(&mut groups.writers, &interval.groups.writers);
        }
        let facts = Facts {
            counts: Some(Counts::of(&groups)),
            censored: self.is_open.then(|| Censored { kind: None, ages: censored() }),
            calibration: None,
            known,
        };
        fold.finish(facts).unwrap()
    }

    /// Archives a run of the seconds.
    fn archived(&self) -> Archived {
        let root = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(root.path().join("run")).unwrap();
        for at in 0..self.seconds.len() {
            let IntervalData { record, groups, start_lag } = self.interval(at);
            writer.append_interval(&record).unwrap();
            let (start, length) = (record.start_ns, record.length_ns);
            for (group, kinds) in [("", &groups.clients), ("writer.", &groups.writers)] {
                for (kind, tally) in kinds {
                    let tag = format!("{TAG}.{group}{kind}");
                    let place = HistogramPlace { tag: &tag, is_warmup: false, start, length };
                    writer.append(Log::Response, &place, &tally.response).unwrap();
                    writer.append(Log::Service, &place, &tally.service).unwrap();
                }
            }
            if let Some(lag) = &start_lag {
                let place = HistogramPlace { tag: TAG, is_warmup: false, start, length };
                writer.append(Log::StartLag, &place, lag).unwrap();
            }
        }
        if self.is_open {
            let (start, length) = (Nanos(0), Nanos(0));
            let place = HistogramPlace { tag: TAG, is_warmup: false, start, length };
            writer.append(Log::Censored, &place, &censored()).unwrap();
        }
        Archived { run: run(self.record(0..self.seconds.len())), root }
    }
}

struct Archived {
    root: tempfile::TempDir,
    run: RunRecord,
}

impl Archived {
    fn dir(&self) -> std::path::PathBuf {
        self.root.path().join("run")
    }

    fn trimmed_at(&self, seconds: u64) -> StepRecord {
        let trims = [(1, Nanos::from_secs(seconds))].into();
        trim_warmup(&self.dir(), self.run.clone(), &trims).unwrap().steps.remove(0)
    }
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
        machine: None,
        client_hosts: Vec::new(),
        started_at: String::new(),
        ended_at: None,
        steps: vec![step],
        end: RunEnd::Complete,
    }
}

/// Up to nine seconds, some of them invalid.
fn drawn() -> impl Strategy<Value = Vec<Second>> {
    let one = (0_u64..90, 0_u64..9, 1_u64..9_000, prop::bool::weighted(0.1));
    let one = one.prop_map(|(gets, puts, us, is_invalid)| Second { gets, puts, us, is_invalid });
    prop::collection::vec(one, 2..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Goal: a trimmed step equals a step measured from there on, and a whole one its record.
    /// Method: the record is folded from the seconds; the trimmed one from the files.
    #[test]
    fn a_trimmed_step_is_the_step_of_its_remaining_seconds(
        seconds in drawn(),
        trim_s in 1_usize..8,
        is_open: bool,
    ) {
        let trim_s = trim_s.min(seconds.len() - 1);
        let measured = Measured { is_open, seconds };
        let archived = measured.archived();
        prop_assert_eq!(recount(&archived.dir(), &archived.run).unwrap(), SOUND);
        let found = archived.trimmed_at(trim_s as u64);
        let mut wanted = measured.record(trim_s..measured.seconds.len());
        wanted.warmup_trim_ns = Some(Nanos::from_secs(trim_s as u64));
        // Of what was trimmed, the whole step's profile stays; an interval has one gauge more.
        wanted.time_profile.clone_from(&found.time_profile);
        let rss = wanted.gauges_max[metric::RSS_BYTES];
        prop_assert!((found.gauges_max[metric::RSS_BYTES] - rss).abs() < 1e-9);
        wanted.gauges_max.clone_from(&found.gauges_max);
        wanted.step.clone_from(&found.step);
        prop_assert_eq!(&found, &wanted);
    }
}

#[test]
fn only_remaining_seconds_count_as_invalid() {
    for is_open in [false, true] {
        let second = |at| Second { gets: 10 * at, puts: 1, us: at, is_invalid: at == 2 || at == 6 };
        let measured = Measured { is_open, seconds: (1..=10).map(second).collect() };
        let archived = measured.archived();
        let found = archived.trimmed_at(2);
        let invalid_intervals = found.invalid_intervals.clone().unwrap();
        assert_eq!((invalid_intervals.intervals, invalid_intervals.of_intervals), (1, 8));
        assert_eq!(invalid_intervals.causes, [(InvalidCause::Steal, 1)]);
        assert_eq!(invalid_intervals.valid_ns, Nanos::from_secs(7));
        let (all, valid) = (&found.clients[&OpKind::Get], &invalid_intervals.valid[&OpKind::Get]);
        // 30 to 100, and without the 60.
        assert_eq!((all.counts.done, valid.counts.done), (520, 460));
        let left = 2 * u64::from(is_open);
        assert_eq!((all.response.count, valid.response.count), (520 + left, 460 + left));
        assert_eq!((found.within_limit, invalid_intervals.within_limit), (Some(520), Some(460)));
        assert_eq!(found.seconds.seconds, 7);
        assert_eq!(archived.trimmed_at(6).invalid_intervals, None);
    }
}

/// Three seconds of a closed loop.
fn three_seconds() -> Archived {
    Measured { is_open: false, seconds: seconds(&[(50, 1, 9); 3]) }.archived()
}

#[test]
fn nothing_is_read_when_there_is_nothing_to_trim() {
    let whole = three_seconds().run;
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
    let archived = three_seconds();
    let path = archived.dir().join("response.hlog");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&path, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    let trims = [(1, Nanos::SECOND)].into();
    let trimmed = trim_warmup(&archived.dir(), archived.run, &trims);
    let error = trimmed.unwrap_err().to_string();
    assert!(error.ends_with("is damaged: it ends before the last interval"), "{error}");
}

/// Goal: a step that was recorded is counted again, whatever ended the run in the next one.
#[test]
fn an_interval_of_an_unfinished_step_needs_no_lines() {
    let archived = three_seconds();
    let path = archived.dir().join("intervals.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    let mut next: IntervalRecord = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
    next.step_index += 1;
    text += &(serde_json::to_string(&next).unwrap() + "\n");
    std::fs::write(&path, text).unwrap();
    let trimmed = archived.trimmed_at(1);
    assert!(trimmed.duration_ns < archived.run.steps[0].duration_ns);
    assert_eq!(recount(&archived.dir(), &archived.run).unwrap(), SOUND);
}
