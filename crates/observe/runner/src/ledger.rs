//! What the parent knows of the step in hand: from messages and readings to records.
//!
//! Nothing is written here, and nobody is told: the supervisor does both.

use hdrhistogram::Histogram;
use load::{Clock, SteadyClock};
use model::honesty::{ArrivalsRecord, Calibration, SearchRecord};
use model::{EngineState, IntervalRecord, Nanos, Readings, Step, StepRecord};

use crate::account::growth;
use crate::doubt::{busy_host, busy_threads, doubts, is_usable};
use crate::evidence::{Evidence, Outside, Own, Setting, StartLag};
use crate::innocence::{Judge, lag_allowed};
use crate::keeping::{Served, keeping};
use crate::message::{ArrivalsTold, IntervalMessage, OpenInterval, ProbeBegins, StepEnds};
use crate::span::{Judged, Span, void_of};
use crate::stamp::now_utc;
use crate::tally::{self, Told, bytes_per_s, done_of, ended_of, longest_of};

/// The step in hand.
pub(crate) struct Ledger<'a> {
    clock: &'a SteadyClock,
    samplers: Vec<Box<dyn sampler::Sampler>>,
    cpus: u32,
    pub(crate) index: usize,
    pub(crate) step: Step,
    /// The probe in hand, in a search.
    pub(crate) probe: Option<ProbeBegins>,
    setting: Setting,
    judge: Judge,
    span: Span,
    /// What the parent read when the last interval was told, and when that was.
    ///
    /// Not the start of the span: the last intervals of a warm-up are told after it.
    seen: (Readings, Nanos),
    /// The last probe's measured span.
    last: Option<Closed>,
    /// The measured span of the probe that confirmed what was found so far.
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

/// An interval, and the histograms it was told with.
pub(crate) struct Kept {
    pub(crate) record: IntervalRecord,
    pub(crate) clients: Vec<Told>,
    pub(crate) writers: Vec<Told>,
    pub(crate) start_lag: Option<Histogram<u64>>,
}

impl<'a> Ledger<'a> {
    /// Opens the ledger of a run; `step` is its first.
    pub(crate) fn open(
        clock: &'a SteadyClock,
        samplers: Vec<Box<dyn sampler::Sampler>>,
        step: Step,
    ) -> Self {
        let cpus = std::thread::available_parallelism();
        let cpus = cpus.map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX));
        let setting = Setting { clients: step.clients, cpus, limit: step.limit };
        Self {
            clock,
            samplers,
            cpus,
            index: 0,
            step,
            probe: None,
            setting,
            judge: Judge::new(setting),
            span: Span::default(),
            seen: (Readings::new(), clock.now()),
            last: None,
            confirmed: None,
        }
    }

    /// Begins a step.
    pub(crate) fn begin_step(&mut self, index: usize, step: Step) {
        (self.index, self.step) = (index, step);
        (self.probe, self.last, self.confirmed) = (None, None, None);
        self.begin(self.step.clients);
    }

    /// Begins a probe of the step's search.
    pub(crate) fn begin_probe(&mut self, probe: ProbeBegins) {
        self.probe = Some(probe);
        self.begin(probe.clients);
    }

    fn begin(&mut self, clients: u32) {
        self.setting = Setting { clients, cpus: self.cpus, limit: self.step.limit };
        self.judge = Judge::new(self.setting);
        self.begin_span(EngineState::default());
        self.seen = (self.span.account.last().clone(), self.clock.now());
    }

    /// Begins the measured span.
    pub(crate) fn begin_span(&mut self, before: EngineState) {
        let mut now = self.sample(true);
        now.extend(before.readings.clone());
        self.span = Span::begin(now, before, now_utc());
    }

    /// Takes one interval.
    ///
    /// # Errors
    /// A text when a histogram does not decode.
    pub(crate) fn interval(&mut self, told: &IntervalMessage) -> Result<Kept, String> {
        let (clients, writers) = (tally::told(&told.clients)?, tally::told(&told.writers)?);
        let decode = |open: &OpenInterval| tally::decode(&open.start_lag);
        let start_lag = told.open.as_ref().map(decode).transpose()?;
        let mut now = self.sample(false);
        let (before, seen_at) = std::mem::replace(&mut self.seen, (now.clone(), self.clock.now()));
        let outside = Outside::of(&growth(&before, &now), self.seen.1.since(seen_at));
        now.extend(told.engine.clone());
        let mut readings = self.span.account.step(&now);
        readings.extend(told.growth.clone());
        let limit = self.step.limit;
        let mut record = IntervalRecord {
            step_index: u32::try_from(self.index).expect("plans are short"),
            step: self.step.name.clone(),
            is_warmup: told.is_warmup,
            start_ns: told.start,
            length_ns: told.length,
            clients: tally::summaries(&clients),
            writers: tally::summaries(&writers),
            probe: told.probe,
            void: None,
            start_lag: start_lag.as_ref().map(load::percentiles),
            within_limit: limit.map(|limit| tally::within(&clients, limit.within)),
            readings,
        };
        let backlog = told.open.as_ref().map_or(Nanos(0), |open| open.backlog);
        if told.open.is_some() {
            #[expect(clippy::cast_precision_loss, reason = "ages stay far below 2^53 us")]
            record.readings.insert("backlog_us".to_owned(), (backlog.0 / 1000) as f64);
        }
        let held = self.setting.limit();
        let allowed = lag_allowed(&self.setting);
        let done = done_of(&record.clients);
        let evidence = Evidence {
            start: told.start,
            length: told.length,
            start_lag: start_lag.as_ref().map(|lag| StartLag::of(lag, allowed, &held)),
            backlog,
            response_max: longest_of(&record.clients),
            done,
            over_limit: done.saturating_sub(tally::within(&clients, held.within)),
            own: Own::of(&told.growth),
            outside,
        };
        let judgement = self.judge.judge(&evidence);
        record.void = void_of(&judgement).cloned();
        if !told.is_warmup {
            let judged =
                Judged { record: &record, clients: &clients, backlog, judgement: &judgement };
            self.span.add(&judged);
        }
        Ok(Kept { record, clients, writers, start_lag })
    }

    /// Ends a probe's measured span; returns which of its intervals are void.
    pub(crate) fn end_probe(&mut self, after: EngineState) -> Vec<bool> {
        let closed = self.close(after);
        let is_void = closed.span.part.is_void.clone();
        self.last = Some(closed);
        is_void
    }

    /// Takes the search as it is after the last probe.
    pub(crate) fn take_search(&mut self, search: &SearchRecord) {
        let is_confirmed = |probe: ProbeBegins| {
            search.confirmed().is_some_and(|confirmed| confirmed.number == probe.number)
        };
        if self.probe.is_some_and(is_confirmed) {
            self.confirmed = self.last.take();
        }
    }

    /// Ends the step; returns its record.
    ///
    /// A search that confirmed nothing has no measured span of its own: its record has no
    /// operations, and no time.
    ///
    /// # Errors
    /// A text when a histogram does not decode.
    pub(crate) fn end_step(
        &mut self,
        ends: StepEnds,
        calibration: Option<&Calibration>,
    ) -> Result<StepRecord, String> {
        let (clients, writers) = (tally::told(&ends.clients)?, tally::told(&ends.writers)?);
        let mut closed = match &ends.search {
            Some(_) => self.confirmed.take().unwrap_or_default(),
            None => self.close(ends.after),
        };
        let arrivals = match &ends.arrivals {
            Some(told) => {
                closed.span.part.add_censored(&tally::decode(&told.censored)?);
                Some(arrivals_record(told)?)
            }
            None => None,
        };
        let (clients, writers) = (tally::summaries(&clients), tally::summaries(&writers));
        let Span { account, part, .. } = &closed.span;
        let served = |arrivals| Served {
            arrivals,
            clients: self.step.clients,
            ended: ended_of(&clients),
            duration: ends.duration,
            idle_us: ends.growth.get("client_idle_us").copied(),
            backlogs: &part.backlogs,
            is_void: &part.is_void,
            calibration,
        };
        let keeping = arrivals.as_ref().map(|arrivals| keeping(&served(arrivals)));
        let mut counters = closed.counters;
        counters.extend(ends.growth);
        let is_closed = arrivals.is_none();
        let (kept_anyway, voided) = match part.voided() {
            Some(voided) if is_closed && !is_usable(&voided) => (Some(voided), None),
            voided => (None, voided),
        };
        let mut record = StepRecord {
            index: ends.index,
            step: self.step.clone(),
            started_at: closed.span.since.clone(),
            duration_ns: ends.duration,
            writer_bytes_per_s: (!writers.is_empty()).then(|| bytes_per_s(&writers, ends.duration)),
            clients,
            writers,
            seconds: account.seconds(kept_anyway.is_some()),
            counters,
            gauges_max: account.gauges_max(),
            gauges_end: account.gauges_last(),
            before: closed.span.before.clone(),
            after: closed.after,
            settle: ends.settle,
            arrivals,
            keeping,
            within_limit: part.within_limit(),
            voided,
            search: ends.search,
            findings: Vec::new(),
        };
        record.findings = doubts(&record);
        record.findings.extend(kept_anyway.as_ref().map(busy_host));
        record.findings.extend(busy_threads(&record, part, self.cpus));
        Ok(record)
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

    /// Takes the parent's readings; one that fails is absent, as for a metric the host lacks.
    fn sample(&mut self, is_boundary: bool) -> Readings {
        let mut readings = Readings::new();
        for sampler in &mut self.samplers {
            let sampled = if is_boundary { sampler.sample_boundary() } else { sampler.sample() };
            readings.extend(sampled.unwrap_or_default());
        }
        readings
    }
}

fn arrivals_record(told: &ArrivalsTold) -> Result<ArrivalsRecord, String> {
    Ok(ArrivalsRecord {
        pace: told.pace,
        offered: told.offered,
        censored: tally::decode(&told.censored)?.len(),
        start_lag: load::percentiles(&tally::decode(&told.start_lag)?),
        backlog_ns: told.backlog,
    })
}
