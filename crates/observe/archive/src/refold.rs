//! Folds recorded steps again: whole to verify them, or without a trimmed warm-up.

use std::collections::BTreeMap;
use std::path::Path;

use fold::{Censored, Facts, Fold, Groups, IntervalData, KindTally, differences};
use hdrhistogram::Histogram;
use model::record::OpSummary;
use model::validity::{Calibration, SearchRecord};
use model::{IntervalRecord, Nanos, OpKind, RunRecord, StepRecord, StopRule};

use crate::error::ArchiveError;
use crate::log::{HistogramLog, Log, LogLine};
use crate::run::{read_intervals, step_tag};

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
        let is_timed = matches!(step.step.stop, StopRule::Duration(_));
        let trim = warmup_trims.get(&step.index).copied().filter(|trim| *trim > Nanos(0));
        trim.filter(|_| is_timed && step.search.is_none())
    };
    if run.steps.iter().all(|step| trim_of(step).is_none()) {
        return Ok(run);
    }
    let logs = RunLogs::read(dir)?;
    for step in &mut run.steps {
        if let Some(trim) = trim_of(step) {
            *step = logs.trimmed(step, trim, run.calibration.as_ref())?;
        }
    }
    Ok(run)
}

/// Latency of the measured clients in one interval of a step, all kinds of operations together.
#[derive(Debug, Clone)]
pub struct IntervalLatency {
    /// Begin of the interval, since that of the step's first interval.
    pub start: Nanos,
    /// Length of the interval.
    pub length: Nanos,
    /// Times, ns: response times of an open loop, else service times.
    pub times: Histogram<u64>,
}

/// Returns the latency of a step, interval by interval: without the warm-up and without what is
/// trimmed of it or invalid, as in the percentiles of its record.
///
/// `dir` is the run's directory. Each second takes about 0.1 ms per kind of operation.
///
/// # Errors
/// When the run's intervals or histogram logs are absent or damaged.
///
/// # Panics
/// Never: all histograms of an archive have the same bounds.
pub fn latency(dir: &Path, step: &StepRecord) -> Result<Vec<IntervalLatency>, ArchiveError> {
    let logs = RunLogs::read(dir)?;
    let measured = logs.intervals.iter().find(|interval| step.has_measured(interval));
    let begun = measured.map_or(Nanos(0), |first| first.start_ns);
    let trim = step.warmup_trim_ns.unwrap_or(Nanos(0));
    let counts = |interval: &IntervalRecord| {
        let half = Nanos(interval.length_ns.0 / 2);
        let is_steady = interval.start_ns.since(begun).after(half) >= trim;
        step.has_measured(interval) && interval.invalid.is_none() && is_steady
    };
    let mut found = Vec::new();
    logs.each(&counts, &mut |data| {
        let tallies = data.groups.clients.values();
        let is_open = step.arrivals.is_some();
        let mut own = tallies.map(|tally| if is_open { &tally.response } else { &tally.service });
        if let Some(first) = own.next() {
            let mut times = first.clone();
            own.for_each(|other| times.add(other).expect("all histograms have the same bounds"));
            let start = data.record.start_ns.since(begun);
            found.push(IntervalLatency { start, length: data.record.length_ns, times });
        }
        Ok(())
    })?;
    Ok(found)
}

/// What counting a run's steps again found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recount {
    /// Steps that were counted: those with intervals.
    pub steps: usize,
    /// One text for each step that differs.
    pub differing: Vec<String>,
}

/// Returns the figures of a run's steps that its intervals and histogram logs do not give.
///
/// `dir` is the run's directory. Each second takes about
/// 0.1 ms per kind of operation.
///
/// # Errors
/// When the run's intervals or histogram logs are absent or damaged.
pub fn recount(dir: &Path, run: &RunRecord) -> Result<Recount, ArchiveError> {
    let logs = RunLogs::read(dir)?;
    let mut found = Recount::default();
    // A step of storage has its figures from fio, and no intervals.
    let has_intervals =
        |step: &&StepRecord| logs.intervals.iter().any(|interval| step.has_measured(interval));
    for step in run.steps.iter().filter(has_intervals) {
        let facts = logs.facts(step, run.calibration.as_ref())?;
        let ages = facts.censored.as_ref().map_or(0, |censored| censored.ages.len());
        // Older archives lack the ages of arrivals that a search had not served.
        let has_times = step.arrivals.as_ref().is_none_or(|arrivals| arrivals.censored == ages);
        let folded = logs.fold(&|interval| step.has_measured(interval), facts)?;
        let figures = differences(step, &folded, has_times);
        found.steps += 1;
        if !figures.is_empty() {
            let (index, name, figures) = (step.index, &step.step.name, figures.join(", "));
            found.differing.push(format!("step {index} {name} has other {figures}"));
        }
    }
    Ok(found)
}

/// A run's recorded intervals and histograms.
struct RunLogs {
    intervals: Vec<IntervalRecord>,
    response: HistogramLog,
    service: HistogramLog,
    start_lag: HistogramLog,
    censored: HistogramLog,
}

impl RunLogs {
    fn read(dir: &Path) -> Result<Self, ArchiveError> {
        Ok(Self {
            intervals: read_intervals(dir)?,
            response: HistogramLog::read(dir, Log::Response)?,
            service: HistogramLog::read(dir, Log::Service)?,
            start_lag: HistogramLog::read(dir, Log::StartLag)?,
            censored: HistogramLog::read(dir, Log::Censored)?,
        })
    }

    /// Returns a step that begins with the first interval whose middle is at `trim` or later.
    fn trimmed(
        &self,
        step: &StepRecord,
        trim: Nanos,
        calibration: Option<&Calibration>,
    ) -> Result<StepRecord, ArchiveError> {
        let measured = || self.intervals.iter().filter(|interval| step.has_measured(interval));
        let begun = measured().next().map_or(Nanos(0), |first| first.start_ns);
        let is_left = |interval: &IntervalRecord| {
            let half = Nanos(interval.length_ns.0 / 2);
            step.has_measured(interval) && interval.start_ns.since(begun).after(half) >= trim
        };
        let Some(first) = measured().find(|interval| is_left(interval)) else {
            return Ok(step.clone());
        };
        let left_out: Vec<_> = measured().filter(|interval| !is_left(interval)).collect();
        let facts = self.facts(step, calibration)?;
        self.fold(&is_left, facts.without(&left_out, first.start_ns.since(begun)))
    }

    /// Returns what the record and the log of arrivals not served have of a step.
    fn facts<'a>(
        &self,
        step: &StepRecord,
        calibration: Option<&'a Calibration>,
    ) -> Result<Facts<'a>, ArchiveError> {
        let confirmed = step.search.as_ref().and_then(SearchRecord::confirmed);
        let tag = step_tag(step.index, &step.step.name, confirmed.map(|probe| probe.number));
        let mut censored = None;
        for line in self.censored.lines() {
            let line = line?;
            if line.tag() == tag {
                censored = Some(Censored { kind: None, ages: line.histogram()? });
            }
        }
        Ok(Facts { known: step.clone(), censored, calibration, counts: None })
    }

    /// Folds the intervals for which `is_measured`.
    fn fold(
        &self,
        is_measured: &dyn Fn(&IntervalRecord) -> bool,
        facts: Facts<'_>,
    ) -> Result<StepRecord, ArchiveError> {
        let damaged = |reason: fold::Unequal| self.response.damaged(&reason.to_string());
        let mut fold = Fold::new(&facts.known.step);
        self.each(is_measured, &mut |data| fold.add(data).map_err(damaged))?;
        fold.finish(facts).map_err(damaged)
    }

    /// Visits the intervals for which `is_measured`, with their histograms.
    ///
    /// The logs have their lines in the order of the intervals. What comes after the last of these
    /// is not read: a run that ended early may have an interval without its lines.
    fn each(
        &self,
        is_measured: &dyn Fn(&IntervalRecord) -> bool,
        visit: &mut dyn FnMut(&IntervalData) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let mut lines = self.response.lines().zip(self.service.lines());
        let mut lags = self.start_lag.lines();
        let read = self.intervals.iter().rposition(is_measured).map_or(0, |last| last + 1);
        for record in &self.intervals[..read] {
            let is_measured = is_measured(record);
            let mut groups = Groups::default();
            for (summaries, group) in
                [(&record.clients, &mut groups.clients), (&record.writers, &mut groups.writers)]
            {
                for (kind, summary) in summaries {
                    let short = || self.response.damaged("it ends before the last interval");
                    let (response, service) = lines.next().ok_or_else(short)?;
                    if is_measured {
                        let tally = self.decode_line(*kind, summary, response?, service?)?;
                        group.insert(*kind, tally);
                    }
                }
            }
            let lag = if record.start_lag.is_some() { lags.next().transpose()? } else { None };
            if is_measured {
                let start_lag = lag.map(|line| line.histogram()).transpose()?;
                let record = record.clone();
                visit(&IntervalData { record, groups, start_lag })?;
            }
        }
        Ok(())
    }

    fn decode_line(
        &self,
        kind: OpKind,
        summary: &OpSummary,
        response: LogLine<'_>,
        service: LogLine<'_>,
    ) -> Result<KindTally, ArchiveError> {
        let (tag, of_service) = (response.tag(), service.tag());
        if response.is_warmup() || !tag.ends_with(&format!(".{kind}")) || of_service != tag {
            let what = format!("the line of a measured {kind}");
            let reason = format!("{what} has tag {tag}, but its service times have {of_service}");
            return Err(self.response.damaged(&reason));
        }
        let (response, service) = (response.histogram()?, service.histogram()?);
        Ok(KindTally { counts: summary.counts, response, service })
    }
}

#[cfg(test)]
#[path = "refold_tests.rs"]
mod tests;
