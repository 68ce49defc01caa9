//! The coordinator: opens the gate, collects what the clients hand over, and tells.

use engine::EngineError;
use hdrhistogram::Histogram;
use model::{Nanos, OpKind, Pace, StopRule};
use nix::unistd::Pid;

use super::collector::Collector;
use super::evidence::Evidence;
use super::step::{ArrivalTotals, Event, StepEnd, StepTotals};
use super::team::Team;
use crate::client::ClientEnd;
use crate::error::LoadError;
use crate::handoff::{Farewell, Inlet, Message};
use crate::schedule::{Census, Due, Unserved};
use crate::stop::StopFlag;
use crate::sync::receive_within;
use crate::tally::censor;
use crate::timeline::Timeline;
use crate::traits::Clock;

/// Longest the coordinator sleeps: how late a stop is heeded, and what may be missing of the time
/// for which the process stood still.
const POLL: Nanos = Nanos::from_millis(25);

/// Distance of two signs of life: twice as often as a watchdog looks.
const HEARTBEAT: Nanos = Nanos::from_millis(500);

/// From the opening of the gate to the step's start: every client is awake by then.
const LEAD: Nanos = Nanos::from_millis(1);

/// When the step's parts begin and end, as asked for.
pub(super) struct Span {
    pub(super) stop: StopRule,
    pub(super) warmup: Nanos,
    pub(super) interval: Nanos,
    /// The first kind of operation announced, for arrivals where no operation was done.
    pub(super) kind: Option<OpKind>,
    pub(super) stop_flag: StopFlag,
}

/// The state of a running step.
pub(super) struct Conductor<'r, C> {
    clock: &'r C,
    team: &'r Team,
    inlet: Inlet,
    stop_flag: StopFlag,
    on_event: &'r mut dyn FnMut(Event<'_>),
    timeline: Timeline,
    collector: Collector,
    /// The interval that is not closed yet.
    open: u64,
    evidence: Evidence,
    arrivals: Option<Arrivals<'r>>,
    kind: Option<OpKind>,
    next_heartbeat: Nanos,
    has_begun: bool,
    clients_running: usize,
    writers_running: usize,
    /// When the last measured client ended, of those that have.
    ended_at: Nanos,
    was_stopped: bool,
    failure: Option<String>,
}

/// The measured clients' arrivals in an open loop.
struct Arrivals<'r> {
    pace: Pace,
    census: Census<'r>,
    /// Those that clients had taken and not served when they ended.
    kept: Vec<Nanos>,
    /// How it ended, when it has.
    last: Option<(Due, Unserved)>,
}

impl<'r, C: Clock> Conductor<'r, C> {
    /// Waits until every client has its session, and opens the gate.
    pub(super) fn begin(
        clock: &'r C,
        team: &'r Team,
        inlet: Inlet,
        span: Span,
        on_event: &'r mut dyn FnMut(Event<'_>),
    ) -> Result<Self, LoadError> {
        let threads = wait_for_all(team, &inlet, &span.stop_flag)?;
        let has_begun = span.warmup == Nanos(0);
        if has_begun {
            on_event(Event::MeasuringBegins);
        }
        let mut evidence = Evidence::begin(&threads[..team.clients]);
        let start = clock.now().after(LEAD);
        // Who waits for an arrival waits for nothing of the engine's.
        if team.client_arrivals.is_none() {
            evidence.look_from(start, &threads[..team.clients]);
        }
        let measured_from = start.after(span.warmup);
        let deadline = match span.stop {
            StopRule::Operations(_) => None,
            StopRule::Duration(duration) => Some(measured_from.after(duration)),
        };
        let timeline = Timeline { start, measured_from, interval: span.interval, deadline };
        team.gate.open(timeline);
        Ok(Self {
            clock,
            team,
            inlet,
            stop_flag: span.stop_flag,
            on_event,
            timeline,
            collector: Collector::new(timeline, team.clients, team.writers),
            open: 0,
            evidence,
            arrivals: Arrivals::begin(team, &timeline),
            kind: span.kind,
            next_heartbeat: start.after(HEARTBEAT),
            has_begun,
            clients_running: team.clients,
            writers_running: team.writers,
            ended_at: start,
            was_stopped: false,
            failure: None,
        })
    }

    /// Runs the step to its end.
    pub(super) fn conduct(mut self) -> StepTotals {
        while self.clients_running + self.writers_running > 0 {
            let now = self.clock.now();
            if self.stop_flag.is_set() {
                self.team.halt_clients();
            }
            if self.clients_running > 0 {
                self.close_until(now);
            }
            self.emit();
            self.tell_alive(now);
            let cut = self.timeline.cut_of(self.open);
            let wake = if self.clients_running > 0 { cut } else { now.after(POLL) };
            let wake = wake.min(self.next_heartbeat).min(now.after(POLL));
            if let Some(message) = self.listen(now, wake) {
                self.hear(message);
            }
        }
        self.emit();
        let end = self.end();
        let mut totals = self.collector.into_totals();
        let arrivals = self.arrivals.and_then(|arrivals| arrivals.end(totals.start_lag));
        if let Some(arrivals) = &arrivals {
            censor(&mut totals.clients, self.kind, &arrivals.censored);
        }
        StepTotals {
            started_after: self.timeline.measured_from.since(self.timeline.start),
            duration: self.ended_at.since(self.timeline.measured_from),
            clients: totals.clients,
            writers: totals.writers,
            readings: totals.readings,
            arrivals,
            end,
        }
    }

    /// Waits for a message until `wake`, and looks at the clients meanwhile.
    ///
    /// The looks are no waits of their own: how late they are says nothing of the process.
    fn listen(&mut self, mut now: Nanos, wake: Nanos) -> Option<Message> {
        loop {
            let until = wake.min(self.evidence.next_look());
            let message = receive_within(&self.inlet.messages, until.since(now));
            now = self.clock.now();
            if message.is_none() {
                self.evidence.look(now);
            }
            if message.is_some() || until == wake {
                self.evidence.note_wait(wake, now);
                return message;
            }
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Ready(..) => {}
            Message::Cut(delivery) => {
                let (client, tally) = self.collector.deliver(delivery);
                self.inlet.give_back(client, tally);
            }
            Message::Ended(farewell) => {
                let Farewell { rest, at, end, kept, queued } = *farewell;
                let client = rest.client;
                self.collector.deliver(rest);
                self.evidence.note_end(client, queued);
                if let Some(arrivals) = &mut self.arrivals
                    && client < self.team.clients
                {
                    arrivals.kept.extend(kept);
                }
                self.note_end(client, at, end);
            }
            // Only a panic between the gate and the first operation leads here.
            Message::Absent(client, end) => {
                self.collector.give_up(client);
                self.note_end(client, self.clock.now(), end);
            }
        }
    }

    /// Takes note that a client has ended; the last measured one ends the measured span.
    fn note_end(&mut self, client: usize, at: Nanos, end: ClientEnd) {
        let is_measured = client < self.team.clients;
        let reason = match end {
            ClientEnd::Finished => None,
            ClientEnd::Stopped => {
                self.was_stopped |= is_measured;
                None
            }
            ClientEnd::Refused(error) => Some(error.to_string()),
            ClientEnd::Failed(reason) => Some(reason),
        };
        if let Some(reason) = reason {
            self.failure.get_or_insert_with(|| format!("{}: {reason}", self.team.name(client)));
            self.team.halt_all();
        }
        if is_measured {
            self.clients_running -= 1;
            self.ended_at = self.ended_at.max(at);
            if self.clients_running == 0 {
                self.finish();
            }
        } else {
            self.writers_running -= 1;
        }
    }

    /// Ends the measured span.
    fn finish(&mut self) {
        self.close_until(self.ended_at);
        let end = self.ended_at.since(self.timeline.start);
        let due = self.arrivals.as_mut().map(|arrivals| arrivals.finish(end));
        let cut = self.evidence.cut(due);
        self.collector.finish(self.ended_at, &cut);
        if self.has_begun {
            (self.on_event)(Event::MeasuringEnds);
        }
        self.team.halt_all();
    }

    /// Closes every interval that has been cut off by `at`.
    fn close_until(&mut self, at: Nanos) {
        while at >= self.timeline.cut_of(self.open) {
            let due = self.arrivals.as_mut().map(|arrivals| arrivals.census.close(self.open));
            let cut = self.evidence.cut(due);
            self.collector.close(self.open, &cut);
            self.open += 1;
            if !self.has_begun && !self.timeline.is_warmup(self.open) {
                self.has_begun = true;
                (self.on_event)(Event::MeasuringBegins);
            }
        }
    }

    fn emit(&mut self) {
        let on_event = &mut *self.on_event;
        self.collector.emit(&mut |interval| on_event(Event::Interval(interval)));
    }

    fn tell_alive(&mut self, now: Nanos) {
        if now < self.next_heartbeat {
            return;
        }
        self.next_heartbeat = now.after(HEARTBEAT);
        let (clients, writers) = self.team.pulses.split_at(self.team.clients);
        (self.on_event)(Event::Heartbeat {
            client_operations: clients.iter().map(|pulse| pulse.read()).sum(),
            writer_operations: writers.iter().map(|pulse| pulse.read()).sum(),
        });
    }

    fn end(&mut self) -> StepEnd {
        if let Some(reason) = self.failure.take() {
            return StepEnd::Failed { reason };
        }
        match (self.was_stopped, self.has_begun) {
            (true, _) => StepEnd::Stopped,
            (false, true) => StepEnd::Finished,
            (false, false) => {
                let reason = "the clients ended within the warm-up: nothing was measured";
                StepEnd::Failed { reason: reason.to_owned() }
            }
        }
    }
}

impl<'r> Arrivals<'r> {
    /// Returns the arrivals of the measured clients; `None` in a closed loop.
    fn begin(team: &'r Team, timeline: &Timeline) -> Option<Self> {
        let (arrivals, pace) = (team.client_arrivals.as_ref()?, team.pace?);
        let census = Census::new(arrivals, timeline.since_start());
        Some(Self { pace, census, kept: Vec::new(), last: None })
    }

    /// Counts what was not served when the last client ended.
    fn finish(&mut self, end: Nanos) -> Due {
        let (due, unserved) = self.census.finish(end, &self.kept);
        self.last = Some((due, unserved));
        due
    }

    fn end(self, start_lag: Histogram<u64>) -> Option<ArrivalTotals> {
        let (due, Unserved { offered, ages }) = self.last?;
        let (pace, censored, backlog) = (self.pace, ages, due.backlog);
        Some(ArrivalTotals { pace, offered, censored, start_lag, backlog })
    }
}

/// Waits until every client has its session; returns the threads by position among the crew.
fn wait_for_all(team: &Team, inlet: &Inlet, stop_flag: &StopFlag) -> Result<Vec<Pid>, LoadError> {
    let mut ready = 0;
    let mut threads = vec![Pid::from_raw(0); team.clients + team.writers];
    while ready < threads.len() {
        if stop_flag.is_set() {
            return Err(LoadError::Stopped);
        }
        match receive_within(&inlet.messages, POLL) {
            Some(Message::Ready(client, thread)) => {
                threads[client] = thread;
                ready += 1;
            }
            Some(Message::Absent(client, end)) => {
                let source = match end {
                    ClientEnd::Refused(error) => error,
                    ClientEnd::Failed(reason) => EngineError::Fatal(reason),
                    ClientEnd::Finished | ClientEnd::Stopped => continue,
                };
                return Err(LoadError::Session { who: team.name(client), source });
            }
            Some(Message::Cut(_) | Message::Ended(..)) | None => {}
        }
    }
    Ok(threads)
}
