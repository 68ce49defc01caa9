//! Runs the load of a step or probe on the open engine.

use std::collections::VecDeque;
use std::io::Write;

use load::{
    AgreeStart, Clock as _, Event, GroupRun, HolderRun, Interval, LoadError, Share, StepEnd,
    StepRun, StepTotals, run_step,
};
use model::{EngineState, Load, Nanos, OpKind, Readings, Step, StopRule, WaitProfile, metric};
use sql_run::with_waits;
use workload::{Group, Request};

use super::operations::StepContext;
use super::parent_link::Worker;
use crate::message::{IntervalMessage, Message, StepEnds};
use crate::tally;

/// Length of an interval.
const INTERVAL: Nanos = Nanos::SECOND;

/// A load, and its duration.
pub(crate) struct Trial {
    /// A closed loop or an open one.
    pub(crate) load: Load,
    pub(crate) clients: u32,
    pub(crate) stop: StopRule,
    pub(crate) warmup: Nanos,
    pub(crate) seed: u64,
    /// The probe's number, if it is one.
    pub(crate) probe: Option<u32>,
}

/// What a load measured.
pub(crate) struct Tried {
    pub(crate) totals: StepTotals,
    /// What the server's sessions waited for.
    pub(crate) waits: Option<WaitProfile>,
    /// The first kind of operation of its clients.
    pub(crate) kind: Option<OpKind>,
}

/// The last operation that ended, among those of all clients.
struct LastProgress {
    operations: u64,
    at: Nanos,
    /// None has ended since for long, and the server does not work on one.
    is_silent: bool,
}

impl LastProgress {
    const fn begin(at: Nanos) -> Self {
        Self { operations: 0, at, is_silent: false }
    }

    /// Returns whether no operation has ended for `limit`; once for each such span.
    fn is_older_than(&mut self, limit: Nanos, operations: u64, now: Nanos) -> bool {
        let is_old = operations == self.operations && now.since(self.at) >= limit;
        if is_old || operations != self.operations {
            *self = Self { operations, at: now, is_silent: false };
        }
        is_old
    }
}

impl Tried {
    /// Returns it as a finished step; settle and state are added by the caller.
    pub(crate) fn step_ends(self, index: u32) -> StepEnds {
        StepEnds { waits: self.waits, ..tally::step_ends(index, &self.totals, self.kind) }
    }
}

impl<W: Write + Send> Worker<'_, W> {
    /// Runs one load; `on_interval` gets each interval with the engine's readings at its end.
    ///
    /// # Errors
    /// The end of its step, when the load could not be run at all.
    pub(crate) fn try_load(
        &self,
        context: &StepContext<'_>,
        trial: &Trial,
        on_interval: &mut dyn FnMut(&Interval, &Readings),
    ) -> Result<Tried, StepEnd> {
        let failed = |error: &dyn ToString| StepEnd::Failed { reason: error.to_string() };
        let agree = || self.agree_start();
        let mut run = self.step_run(context, trial).map_err(|error| failed(&error))?;
        run.agree_start = context.share.map(|_| &agree as &AgreeStart<'_>);
        let inserts = run.clients.kinds.contains(&OpKind::Insert);
        let kind = run.clients.kinds.first().copied();
        let mut ends = VecDeque::new();
        let mut last = LastProgress::begin(self.clock.now());
        let mut load = |begin: &dyn Fn()| {
            run_step(self.clock, &mut run, &mut |event| match event {
                Event::MeasuringBegins => {
                    self.begin_measuring(context);
                    begin();
                }
                Event::IntervalEnds { client_memory } => {
                    let mut state = self.sample(context.engine);
                    state.readings.set(metric::CLIENT_MEMORY_BYTES, client_memory.0);
                    ends.push_back(state);
                    self.send(&Message::IntervalEnds);
                }
                Event::Heartbeat(operations) => {
                    self.note_progress(context, &mut last, operations);
                    if !last.is_silent {
                        self.send(&Message::Heartbeat { operations });
                    }
                }
                Event::Interval(interval) => {
                    let state = ends.pop_front().unwrap_or_else(|| self.sample(context.engine));
                    on_interval(interval, &state.readings);
                    self.report_interval(trial, interval, state);
                }
            })
        };
        context.engine.expect_outages(context.has_server_events());
        // Their connection would be lost with the server.
        let has_waits = context.is_first() && !context.has_server_events();
        let loaded = match has_waits {
            true => with_waits(context.engine, self.clock, load),
            false => Ok((load(&|| {}), Ok(None))),
        };
        if context.has_server_events() {
            self.send(&Message::EventsAwaited);
            self.wait_for_go();
            context.engine.expect_outages(false);
        }
        let (totals, sampled) = loaded.map_err(|error| failed(&error))?;
        let waits = sampled.unwrap_or_else(|error| {
            self.lock_waits.report(&format!("the lock waits of this step are not known: {error}"));
            None
        });
        let mut totals = totals.map_err(|error| {
            let is_stopped = matches!(error, LoadError::Stopped);
            if is_stopped { StepEnd::Stopped } else { failed(&error) }
        })?;
        if inserts {
            totals.clients.entry(OpKind::Insert).or_default();
        }
        Ok(Tried { totals, waits, kind })
    }

    /// Reports the lock that the clients wait for, when none of their operations ends; notes where
    /// the server does not even work on one that may take any time.
    fn note_progress(&self, context: &StepContext<'_>, last: &mut LastProgress, operations: u64) {
        let limit = Nanos(u64::try_from(self.lock_waits.limit.as_nanos()).unwrap_or(u64::MAX));
        if !last.is_older_than(limit, operations, self.clock.now()) {
            return;
        }
        if let Some(text) = context.engine.lock_wait() {
            self.lock_waits.report(&text);
        } else {
            last.is_silent =
                context.kinds.contains(&OpKind::Define) && !self.is_busy(context.engine);
        }
    }

    /// Prepares the clients.
    fn step_run<'a>(
        &self,
        context: &StepContext<'a>,
        trial: &Trial,
    ) -> Result<StepRun<'a>, workload::WorkloadError> {
        let step = Step { clients: trial.clients, ..context.step.clone() };
        let operations = context.operations;
        let request = |group| Request {
            step: &step,
            data: context.data,
            seed: trial.seed,
            presence: context.presence,
            group,
        };
        let group = |group: Group, load: Load| {
            let generators = operations.generators(&request(group))?;
            Ok(GroupRun { generators, load, kinds: operations.kinds(&request(group))? })
        };
        let writer_load = operations.writer_load(&step, context.data).unwrap_or(Load::Closed);
        let mut clients = group(Group::Clients, trial.load.clone())?;
        if let Some(Share { first, clients: own, .. }) = context.share {
            let own = clients.generators.into_iter().skip(first as usize).take(own as usize);
            clients.generators = own.collect();
        }
        let (writers, holders) = match context.is_first() {
            true => {
                (group(Group::Writers, writer_load)?, operations.holders(&request(Group::Clients))?)
            }
            false => (GroupRun::empty(), HolderRun::default()),
        };
        Ok(StepRun {
            engine: context.engine,
            clients,
            writers,
            holders,
            stop: operations.stop(trial.stop),
            warmup: trial.warmup,
            interval: INTERVAL,
            is_checking: context.is_checking,
            arrival_seed: trial.seed,
            share: context.share,
            agree_start: None,
            faults: context.faults(),
            stop_flag: self.stop.clone(),
        })
    }

    /// Reports an interval to the parent, with the state at its end.
    fn report_interval(&self, trial: &Trial, interval: &Interval, state: EngineState) {
        let is_open = matches!(trial.load, Load::Open(_));
        let message = IntervalMessage {
            probe: trial.probe,
            is_warmup: interval.is_warmup,
            start: interval.start,
            length: interval.length,
            clients: tally::times(&interval.clients),
            writers: tally::times(&interval.writers),
            spanning: interval.spanning.clone(),
            decoded: None,
            start_lag: is_open.then(|| tally::encode(&interval.start_lag)),
            backlog: interval.backlog,
            growth: interval.readings.clone(),
            engine: state.readings,
            tables: state.tables,
        };
        self.send(&Message::Interval(Box::new(message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_stops_is_noticed_once_for_each_limit() {
        let mut last = LastProgress::begin(Nanos(0));
        let mut found = Vec::new();
        for (second, operations) in
            [(1, 0), (2, 5), (4, 5), (5, 5), (6, 5), (8, 5), (9, 6), (11, 6)]
        {
            let now = Nanos::from_secs(second);
            if last.is_older_than(Nanos::from_secs(3), operations, now) {
                found.push(second);
            }
        }
        assert_eq!(found, [5, 8]);
    }
}
