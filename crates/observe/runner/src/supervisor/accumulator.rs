//! Accumulates the current step: from messages and readings to records.
//!
//! The supervisor archives and shows them.

use std::collections::VecDeque;
use std::path::Path;

use fold::{Censored, Facts, IntervalData, Unequal, check_interval, summaries, within_limit};
use load::Clock;
use model::record::{OpSummaries, SettleSpan, total_counts};
use model::validity::{Calibration, SearchRecord};
use model::{
    CpuCount, EngineState, EventRecord, IntervalRecord, Nanos, Placement, Readings,
    ReconnectPolicy, Step, StepRecord, TableReadings, metric,
};

use super::attribution::{Pauses, attribute};
use super::file_sync::sync_files;
use super::warning::{BusySpan, busy_host, busy_threads, paused, slow_clock, warnings};
use super::workbench::Interrupt;
use crate::account::{Account, Span, growth, step_tables};
use crate::message::{DecodedTimes, IntervalMessage, ProbeBegins, StepEnds};
use crate::stamp::now_utc;
use crate::tally;
use crate::validity::classify::{Classification, IntervalClassifier, lag_allowed};
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
    stage: Stage,
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
    /// The executed events of the step.
    pub(crate) events: Vec<EventRecord>,
}

/// What the current span belongs to.
#[derive(Default)]
enum Stage {
    /// The step, or its warm-up.
    #[default]
    Step,
    /// A search, and the waits between its probes.
    Search(Box<SearchSpans>),
    /// The settle after the step, whose measured span is over.
    Settle(Box<Closed>),
}

/// The current probe of a search, and the spans of earlier ones.
struct SearchSpans {
    probe: ProbeBegins,
    /// The last probe's measured span, until its outcome is known.
    last: Option<Closed>,
    /// The measured span of the last confirming probe.
    confirmed: Option<Closed>,
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
        let is_elsewhere = false;
        let setting =
            Setting { clients, cpus, is_elsewhere, placement, limit, calibrated_lag: None };
        Self {
            clock,
            samplers,
            index: 0,
            step,
            stage: Stage::Step,
            setting,
            calibration: None,
            classifier: IntervalClassifier::new(setting),
            pauses: Pauses::default(),
            span: Span::default(),
            last_readings: (Readings::new(), clock.now()),
            last_tables: TableReadings::new(),
            ends: VecDeque::new(),
            events: Vec::new(),
        }
    }

    /// Sets the client's calibration on this host.
    pub(crate) fn calibrate(&mut self, calibration: &Calibration) {
        self.setting.calibrated_lag = calibration.start_lag.map(|lag| Nanos(lag.p99_ns));
        self.calibration = Some(calibration.clone());
    }

    /// Notes that the clients run on other hosts, which have so many CPUs together.
    pub(crate) const fn set_elsewhere(&mut self, cpus: CpuCount) {
        (self.setting.cpus, self.setting.is_elsewhere) = (cpus, true);
    }

    /// Begins a step.
    pub(crate) fn begin_step(&mut self, index: usize, step: Step) {
        (self.index, self.step) = (index, step);
        self.stage = Stage::Step;
        self.pauses = Pauses::default();
        self.begin(self.step.clients);
    }

    /// Notes that Assay was stopped for so long.
    pub(crate) fn note_pause(&mut self, pause: Nanos) {
        self.pauses.note_assay(pause);
    }

    /// Begins a probe of the step's search.
    pub(crate) fn begin_probe(&mut self, probe: ProbeBegins) {
        let confirmed = match std::mem::take(&mut self.stage) {
            Stage::Search(search) => search.confirmed,
            Stage::Step | Stage::Settle(_) => None,
        };
        self.stage = Stage::Search(Box::new(SearchSpans { probe, last: None, confirmed }));
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
        self.span = Span::begin(&self.step, now, before, now_utc());
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
        message: &mut IntervalMessage,
    ) -> Result<IntervalData, String> {
        let DecodedTimes { groups, start_lag } = tally::take_times(message)?;
        let (mut now, now_at) = match self.ends.pop_front() {
            Some(end) => end,
            None => (self.sample(false), self.clock.now()),
        };
        let (before, read_at) = std::mem::replace(&mut self.last_readings, (now.clone(), now_at));
        let span = self.last_readings.1.since(read_at);
        let outside = match self.setting.is_elsewhere {
            // The accounts of this host do not describe the clients' hosts.
            true => Outside { span, ..Outside::default() },
            false => Outside::of(&growth(&before, &now), span),
        };
        now.extend(message.engine.clone());
        let mut readings = self.span.account.step(&now);
        readings.extend(message.growth.clone());
        let is_left_out = attribute(&mut readings, &message.growth, message.length);
        let tables = step_tables(&mut self.last_tables, &message.tables);
        let tables = if is_left_out { TableReadings::new() } else { tables };
        self.pauses.note_interval(&readings, message.length, is_left_out && !message.is_warmup);
        if start_lag.is_some() {
            readings.set(metric::BACKLOG_US, (message.backlog.0 / 1000) as f64);
        }
        let within = self.step.limit.map(|limit| within_limit(&groups.clients, limit.within));
        let record = IntervalRecord {
            step_index: u32::try_from(self.index).expect("plans are short"),
            step: self.step.name.clone(),
            is_warmup: message.is_warmup,
            start_ns: message.start,
            length_ns: message.length,
            clients: summaries(&groups.clients),
            writers: summaries(&groups.writers),
            probe: message.probe,
            invalid: None,
            start_lag: start_lag.as_ref().map(fold::percentiles),
            within_limit: within,
            spanning: Vec::new(),
            readings,
            tables,
        };
        let mut interval = IntervalData { record, groups, start_lag };
        let classification = self.classify(&interval, message, outside);
        if !message.is_warmup {
            let is_late = classification == Classification::EngineHadTheCpus;
            self.span.engine_had_the_cpus += u32::from(is_late);
        }
        if let Classification::Invalid(reason) = classification {
            interval.record.invalid = Some(reason);
            if !message.is_warmup {
                let validity = self.span.fold.validity();
                interval.record.spanning = validity.countable(message.start, &message.spanning);
            }
        }
        let added = match message.is_warmup {
            true => check_interval(&interval.groups),
            false => self.span.fold.add(&interval),
        };
        added.map_err(|Unequal(reason)| reason)?;
        Ok(interval)
    }

    /// Classifies an interval by the accounts of the client and of the host.
    fn classify(
        &mut self,
        interval: &IntervalData,
        message: &IntervalMessage,
        outside: Outside,
    ) -> Classification {
        let IntervalData { record, groups, start_lag } = interval;
        let limit = self.setting.limit();
        let allowed = lag_allowed(&self.setting);
        let done = total_counts(&record.clients).done;
        self.classifier.classify(&Evidence {
            start: message.start,
            length: message.length,
            start_lag: start_lag.as_ref().map(|lag| StartLag::of(lag, allowed, &limit)),
            backlog: message.backlog,
            response_max: longest_of(&record.clients),
            done,
            over_limit: done.saturating_sub(within_limit(&groups.clients, limit.within)),
            own: ClientReadings::of(&message.growth),
            outside,
        })
    }

    /// Returns the current probe, in a search.
    pub(crate) fn probe(&self) -> Option<ProbeBegins> {
        match &self.stage {
            Stage::Search(search) => Some(search.probe),
            Stage::Step | Stage::Settle(_) => None,
        }
    }

    /// Ends a probe's measured span; returns which of its intervals are invalid.
    pub(crate) fn end_probe(&mut self, after: EngineState) -> Vec<bool> {
        let closed = self.close(after);
        let is_invalid = closed.span.fold.validity().is_invalid.clone();
        if let Stage::Search(search) = &mut self.stage {
            search.last = Some(closed);
        }
        is_invalid
    }

    /// Takes the search after its last probe; returns whether that confirmed what was found.
    pub(crate) fn take_search(&mut self, search: &SearchRecord) -> bool {
        let Stage::Search(spans) = &mut self.stage else { return false };
        let is_confirmed =
            search.confirmed().is_some_and(|found| found.number == spans.probe.number);
        if is_confirmed {
            spans.confirmed = spans.last.take();
        }
        is_confirmed
    }

    /// Ends the step's measured span: what follows is its settle.
    pub(crate) fn begin_settle(&mut self, after: EngineState) {
        let last = self.close(after);
        self.span.account = Account::begin(last.span.account.last().clone());
        self.stage = Stage::Settle(Box::new(self.measured_span(|_| last)));
    }

    /// Takes the step's measured span; `close` ends the current one.
    ///
    /// A search that confirmed nothing has none of its own.
    fn measured_span(&mut self, close: impl FnOnce(&mut Self) -> Closed) -> Closed {
        match std::mem::take(&mut self.stage) {
            Stage::Step => close(self),
            Stage::Search(search) => search.confirmed.unwrap_or_default(),
            Stage::Settle(measured) => *measured,
        }
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
        let settle = ends.settle.map(|mut settle| {
            settle.span = settle.span.map(|own| Box::new(self.end_settle(*own)));
            settle
        });
        let Closed { span, mut counters, after } =
            self.measured_span(|this| this.close(ends.after));
        counters.extend(ends.growth);
        let Span { account, before, since, fold, engine_had_the_cpus } = span;
        let known = StepRecord {
            started_at: since,
            duration_ns: ends.duration,
            counters,
            gauges_max: account.gauges_max,
            gauges_end: account.gauges_last,
            arrivals: ends.arrivals,
            before,
            after,
            settle,
            malloc: ends.malloc,
            procedures: ends.procedures,
            search: ends.search,
            waits: ends.waits.map(Box::new),
            holds: ends.holds,
            reconnect: reconnects(&self.events).then_some(ReconnectPolicy::STANDARD),
            events: std::mem::take(&mut self.events),
            writes: ends.writes,
            ..StepRecord::new(ends.index, self.step.clone())
        };
        let censored = ends.censored.map(|censored| {
            let ages = tally::decode(&censored.ages)?;
            Ok::<_, String>(Censored { kind: censored.kind, ages })
        });
        let facts = Facts {
            counts: Some(ends.counts),
            censored: censored.transpose()?,
            calibration: self.calibration.as_ref(),
            known,
        };
        let is_closed = facts.known.arrivals.is_none();
        let counted_anyway = fold.validity().counted_anyway().filter(|_| is_closed);
        let busy = BusySpan::of(fold.validity(), engine_had_the_cpus);
        let mut record = fold.finish(facts).map_err(|Unequal(reason)| reason)?;
        record.findings = warnings(&record);
        record.findings.extend(counted_anyway.as_ref().map(busy_host));
        record.findings.extend(ends.findings);
        record.findings.extend(paused(&self.pauses));
        record.findings.extend(slow_clock(&account.clocks_mhz));
        record.findings.extend(busy_threads(&record, &busy, &self.setting));
        Ok(record)
    }

    /// Replaces the samplers, when the server has other processes.
    pub(crate) fn sample_with(&mut self, samplers: Vec<sampler::Sampler>) {
        self.samplers = samplers;
    }

    /// Discards the engine's counters so far: another server counts from now on.
    pub(super) fn forget_engine(&mut self) {
        self.span.forget_engine();
        self.last_tables.clear();
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

/// Returns whether sessions had to connect again.
fn reconnects(events: &[EventRecord]) -> bool {
    events.iter().any(|event| !event.planned.kind.is_of_embedded())
}

/// Returns the longest response time, all kinds together.
fn longest_of(summaries: &OpSummaries) -> Nanos {
    Nanos(summaries.values().map(|summary| summary.response.max_ns).max().unwrap_or(0))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
