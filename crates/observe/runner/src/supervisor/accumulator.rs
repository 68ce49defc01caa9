//! Accumulates the current step: from messages and readings to records.
//!
//! The supervisor archives and shows them.

use std::collections::VecDeque;
use std::path::Path;

use hdrhistogram::Histogram;
use load::{Clock, GroupTally};
use model::buckets::{BUCKET_BOUNDS, FINE_BOUNDS};
use model::record::{SettleSpan, total_counts};
use model::validity::{Calibration, SearchRecord};
use model::{
    EngineState, IntervalRecord, Nanos, Placement, Readings, Step, StepRecord, TableReadings,
    WaitProfile, metric,
};

use super::attribution::{Pauses, attribute};
use super::conservation::check_interval;
use super::file_sync::sync_files;
use super::span::{Classified, Span, reason_of};
use super::step_record::complete;
use super::warning::{busy_host, busy_threads, paused, slow_clock, warnings};
use super::workbench::Interrupt;
use crate::account::{Account, growth, step_tables};
use crate::message::{IntervalMessage, ProbeBegins, StepEnds};
use crate::stamp::now_utc;
use crate::tally::{self, longest_of};
use crate::validity::classify::{IntervalClassifier, lag_allowed};
use crate::validity::evidence::{ClientReadings, Evidence, Outside, Setting, StartLag};

/// Most intervals that have ended and are not complete: one a second, of a stall of hours. Our
/// choice, for a library may send such messages too.
const ENDS_MAX: usize = 10_000;

/// The accumulated state of the current step.
pub(crate) struct StepAccumulator<'a> {
    clock: &'a dyn Clock,
    samplers: Vec<sampler::Sampler>,
    pub(crate) index: usize,
    pub(crate) step: Step,
    /// The current probe, in a search.
    pub(crate) probe: Option<ProbeBegins>,
    setting: Setting,
    calibration: Option<Calibration>,
    classifier: IntervalClassifier,
    /// The step's pauses, of Assay, worker and machine.
    pauses: Pauses,
    span: Span,
    /// The parent's readings at the last interval's message, and when that was.
    ///
    /// The last intervals of a warm-up arrive after the start of the span.
    last_readings: (Readings, Nanos),
    /// The engine's last readings of single tables.
    last_tables: TableReadings,
    /// The parent's readings at the ends of intervals that are not complete, and when that was.
    ends: VecDeque<(Readings, Nanos)>,
    /// The last probe's measured span.
    last: Option<Closed>,
    /// The measured span of the last confirming probe.
    confirmed: Option<Closed>,
    /// The step's measured span, while it settles.
    settling: Option<Closed>,
}

/// A measured span that is over.
#[derive(Default)]
struct Closed {
    span: Span,
    /// The parent's counters' growth over it.
    counters: Readings,
    /// The engine's state at its end.
    after: EngineState,
}

/// An interval with its decoded histograms.
pub(crate) struct RecordedInterval {
    pub(crate) record: IntervalRecord,
    pub(crate) clients: GroupTally,
    pub(crate) writers: GroupTally,
    pub(crate) start_lag: Option<Histogram<u64>>,
}

impl<'a> StepAccumulator<'a> {
    /// Opens the accumulator of a run; `step` is its first.
    pub(crate) fn open(
        clock: &'a dyn Clock,
        samplers: Vec<sampler::Sampler>,
        step: Step,
        placement: Placement,
    ) -> Self {
        let cpus = sampler::usable_cpus();
        let (clients, limit) = (step.threads(step.clients), step.limit);
        let setting = Setting { clients, cpus, placement, limit, calibrated_lag: None };
        Self {
            clock,
            samplers,
            index: 0,
            step,
            probe: None,
            setting,
            calibration: None,
            classifier: IntervalClassifier::new(setting),
            pauses: Pauses::default(),
            span: Span::default(),
            last_readings: (Readings::new(), clock.now()),
            last_tables: TableReadings::new(),
            ends: VecDeque::new(),
            last: None,
            confirmed: None,
            settling: None,
        }
    }

    /// Sets the client's calibration on this host.
    pub(crate) fn calibrate(&mut self, calibration: &Calibration) {
        self.setting.calibrated_lag = calibration.start_lag.map(|lag| Nanos(lag.p99_ns));
        self.calibration = Some(calibration.clone());
    }

    /// Begins a step.
    pub(crate) fn begin_step(&mut self, index: usize, step: Step) {
        (self.index, self.step) = (index, step);
        (self.probe, self.last, self.confirmed, self.settling) = (None, None, None, None);
        self.pauses = Pauses::default();
        self.begin(self.step.clients);
    }

    /// Notes that Assay was stopped for so long.
    pub(crate) fn note_pause(&mut self, pause: Nanos) {
        self.pauses.note_assay(pause);
    }

    /// Begins a probe of the step's search.
    pub(crate) fn begin_probe(&mut self, probe: ProbeBegins) {
        self.probe = Some(probe);
        self.begin(probe.clients);
    }

    fn begin(&mut self, clients: u32) {
        self.setting.clients = self.step.threads(clients);
        self.setting.limit = self.step.limit;
        self.classifier = IntervalClassifier::new(self.setting);
        self.ends.clear();
        self.begin_span(EngineState::default());
        self.last_readings = (self.span.account.last().clone(), self.clock.now());
    }

    /// Begins the measured span.
    pub(crate) fn begin_span(&mut self, before: EngineState) {
        let mut now = self.sample(true);
        // Intervals of the warm-up that are not complete must not reach back before the span.
        let read_at = self.clock.now();
        self.ends.iter_mut().for_each(|end| *end = (now.clone(), read_at));
        now.extend(before.readings.clone());
        self.last_tables.clone_from(&before.tables);
        self.span = Span::begin(now, before, now_utc());
        self.span.part.limit = self.step.limit.map(|limit| limit.within);
    }

    /// Takes the parent's readings at the end of an interval.
    ///
    /// An interval is complete once no client is in an operation that began before its end: in a
    /// stall that is seconds later, and a reading taken then would be of other seconds.
    ///
    /// # Errors
    /// When there are more than operations can keep open.
    pub(crate) fn end_interval(&mut self) -> Result<(), String> {
        if self.ends.len() >= ENDS_MAX {
            return Err(format!("{ENDS_MAX} intervals have ended, and none of them is complete"));
        }
        let now = self.sample(false);
        self.ends.push_back((now, self.clock.now()));
        Ok(())
    }

    /// Adds one interval.
    ///
    /// # Errors
    /// A text when a histogram does not decode, or has not the interval's operations.
    pub(crate) fn interval(
        &mut self,
        message: &IntervalMessage,
    ) -> Result<RecordedInterval, String> {
        let (clients, writers) =
            (tally::decode_times(&message.clients)?, tally::decode_times(&message.writers)?);
        check_interval(&clients, &writers)?;
        let start_lag = message.start_lag.as_deref().map(tally::decode).transpose()?;
        let (mut now, now_at) = match self.ends.pop_front() {
            Some(end) => end,
            None => (self.sample(false), self.clock.now()),
        };
        let (before, read_at) = std::mem::replace(&mut self.last_readings, (now.clone(), now_at));
        let outside = Outside::of(&growth(&before, &now), self.last_readings.1.since(read_at));
        now.extend(message.engine.clone());
        let mut readings = self.span.account.step(&now);
        readings.extend(message.growth.clone());
        let is_left_out = attribute(&mut readings, &message.growth, message.length);
        let tables = step_tables(&mut self.last_tables, &message.tables);
        let tables = if is_left_out { TableReadings::new() } else { tables };
        self.pauses.note_interval(&readings, message.length, is_left_out && !message.is_warmup);
        let limit = self.step.limit;
        let mut record = IntervalRecord {
            step_index: u32::try_from(self.index).expect("plans are short"),
            step: self.step.name.clone(),
            is_warmup: message.is_warmup,
            start_ns: message.start,
            length_ns: message.length,
            clients: tally::summaries(&clients),
            writers: tally::summaries(&writers),
            probe: message.probe,
            invalid: None,
            start_lag: start_lag.as_ref().map(load::percentiles),
            within_limit: limit.map(|limit| tally::within(&clients, limit.within)),
            spanning: Vec::new(),
            readings,
            tables,
        };
        let backlog = message.backlog;
        if start_lag.is_some() {
            record.readings.set(metric::BACKLOG_US, (backlog.0 / 1000) as f64);
        }
        let limit_or_default = self.setting.limit();
        let allowed = lag_allowed(&self.setting);
        let done = total_counts(&record.clients).done;
        let evidence = Evidence {
            start: message.start,
            length: message.length,
            start_lag: start_lag.as_ref().map(|lag| StartLag::of(lag, allowed, &limit_or_default)),
            backlog,
            response_max: longest_of(&record.clients),
            done,
            over_limit: done.saturating_sub(tally::within(&clients, limit_or_default.within)),
            own: ClientReadings::of(&message.growth),
            outside,
        };
        let classification = self.classifier.classify(&evidence);
        record.invalid = reason_of(&classification).cloned();
        if !message.is_warmup {
            if record.invalid.is_some() {
                record.spanning = self.span.part.countable(message.start, &message.spanning);
            }
            self.span.operations.add(&clients, &writers);
            self.span.add(&Classified {
                record: &record,
                clients: &clients,
                backlog,
                classification: &classification,
                unit: self.step.unit,
            });
        }
        Ok(RecordedInterval { record, clients, writers, start_lag })
    }

    /// Ends a probe's measured span; returns which of its intervals are invalid.
    pub(crate) fn end_probe(&mut self, after: EngineState) -> Vec<bool> {
        let closed = self.close(after);
        let is_invalid = closed.span.part.is_invalid.clone();
        self.last = Some(closed);
        is_invalid
    }

    /// Takes the search after its last probe.
    pub(crate) fn take_search(&mut self, search: &SearchRecord) {
        let is_confirmed = |probe: ProbeBegins| {
            search.confirmed().is_some_and(|confirmed| confirmed.number == probe.number)
        };
        if self.probe.is_some_and(is_confirmed) {
            self.confirmed = self.last.take();
        }
    }

    /// Ends the step's measured span: what follows is its settle.
    pub(crate) fn begin_settle(&mut self, after: EngineState) {
        let measured = self.close(after);
        self.span.account = Account::begin(measured.span.account.last().clone());
        self.settling = Some(measured);
    }

    /// Ends the settle's span; `own` has the worker's counters and the engine's state.
    fn end_settle(&mut self, own: SettleSpan) -> SettleSpan {
        let Closed { span, mut counters, after } = self.close(own.after);
        counters.extend(own.counters);
        SettleSpan { counters, gauges_end: span.account.gauges_last, after }
    }

    /// Ends the step; returns its record.
    ///
    /// A search that confirmed nothing has no measured span of its own: its record has no
    /// operations, and no time.
    ///
    /// # Errors
    /// A text when a histogram does not decode, or operations are not those of the intervals.
    pub(crate) fn end_step(&mut self, ends: StepEnds) -> Result<StepRecord, String> {
        let (clients, writers) =
            (tally::decode_times(&ends.clients)?, tally::decode_times(&ends.writers)?);
        let findings_of_worker = ends.findings;
        let settle = ends.settle.map(|mut settle| {
            settle.span = settle.span.map(|own| Box::new(self.end_settle(*own)));
            settle
        });
        let measured = self.settling.take();
        let mut closed = match &ends.search {
            Some(_) => self.confirmed.take().unwrap_or_default(),
            None => measured.unwrap_or_else(|| self.close(ends.after)),
        };
        let ages = ends.censored.as_deref().map(tally::decode).transpose()?;
        let censored = ages.as_ref().map_or(0, Histogram::len);
        closed.span.operations.check((&clients, &writers), censored)?;
        if let Some(ages) = &ages {
            closed.span.part.add_censored(ages);
        }
        let mut counters = closed.counters;
        counters.extend(ends.growth);
        let Span { account, part, time_profile, .. } = &closed.span;
        let waits = ends
            .waits
            .map(|waits| Box::new(WaitProfile { effect: time_profile.sampling_effect(), ..waits }));
        let record = StepRecord {
            started_at: closed.span.since.clone(),
            duration_ns: ends.duration,
            buckets: tally::buckets([&clients, &writers], &BUCKET_BOUNDS),
            fine_buckets: tally::buckets([&clients, &writers], &FINE_BOUNDS),
            clients: tally::summaries(&clients),
            writers: tally::summaries(&writers),
            counters,
            gauges_max: account.gauges_max.clone(),
            gauges_end: account.gauges_last.clone(),
            arrivals: ends.arrivals,
            before: closed.span.before.clone(),
            after: closed.after,
            settle,
            malloc: ends.malloc,
            procedures: ends.procedures,
            search: ends.search,
            waits,
            holds: ends.holds,
            ..StepRecord::new(ends.index, self.step.clone())
        };
        let (mut record, counted_anyway) =
            complete(record, &closed.span, self.calibration.as_ref());
        record.time_profile = time_profile.time_profile(&self.step, counted_anyway.is_some());
        record.findings = warnings(&record);
        record.findings.extend(counted_anyway.as_ref().map(busy_host));
        record.findings.extend(findings_of_worker);
        record.findings.extend(paused(&self.pauses));
        record.findings.extend(slow_clock(&account.clocks_mhz));
        record.findings.extend(busy_threads(&record, part, &self.setting));
        Ok(record)
    }

    /// Syncs the files below `data`; returns the counters' growth meanwhile.
    ///
    /// `None` where they cannot be synced, or the user stops Assay meanwhile.
    pub(crate) fn sync(&mut self, data: &Path, interrupt: &Interrupt) -> Option<Readings> {
        let before = self.sample(true);
        sync_files(data, &|| interrupt.level() > 0).ok()?;
        Some(growth(&before, &self.sample(true)))
    }

    /// Ends the measured span.
    fn close(&mut self, after: EngineState) -> Closed {
        let mut now = self.sample(true);
        now.extend(after.readings.clone());
        let mut span = std::mem::take(&mut self.span);
        span.account.step(&now);
        let counters = span.account.growth(&now);
        Closed { span, counters, after }
    }

    /// Takes the parent's readings; their stamp is one of them.
    fn sample(&mut self, is_boundary: bool) -> Readings {
        let mut now: Readings =
            self.samplers.iter_mut().flat_map(|sampler| sampler(is_boundary)).collect();
        now.set(metric::HOST_SAMPLED_US, self.clock.now().as_micros_f64());
        now
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
