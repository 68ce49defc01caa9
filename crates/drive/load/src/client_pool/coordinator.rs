//! The coordinator: opens the barrier, closes intervals, emits events.

use std::collections::BTreeSet;

use engine::EngineError;
use hdrhistogram::Histogram;
use model::{Bytes, Nanos, OpKind, Pace};
use nix::unistd::Pid;

use super::accounts::{Accounts, IntervalUsage};
use super::emission::Emission;
use super::pool::ClientPool;
use super::step::{AgreeStart, ArrivalTotals, Event, StepEnd, StepTotals};
use crate::availability::{Gap, outages};
use crate::collector::Collector;
use crate::error::LoadError;
use crate::handoff::{ClientEnd, ClientExit, CoordinatorInbox, Message};
use crate::schedule::{ArrivalCounter, Due, Unserved};
use crate::stop::StopFlag;
use crate::sync::receive_within;
use crate::tally::censor;
use crate::timeline::Timeline;
use crate::traits::Clock;

/// Longest sleep of the coordinator: the delay of a stop, and the error of a measured pause.
const POLL: Nanos = Nanos::from_millis(25);

/// Time between two heartbeats: half the period of a watchdog.
const HEARTBEAT: Nanos = Nanos::from_millis(500);

/// From the opening of the barrier to the step's start: every client is awake by then.
const LEAD: Nanos = Nanos::from_millis(1);

/// Requested intervals and end of the step.
pub(super) struct Span<'s> {
    /// The step's grid, from 0 on.
    pub(super) timeline: Timeline,
    /// Kinds of operation announced for the clients, and for the writers.
    pub(super) clients: BTreeSet<OpKind>,
    pub(super) writers: BTreeSet<OpKind>,
    pub(super) stop_flag: StopFlag,
    pub(super) agree_start: Option<&'s AgreeStart<'s>>,
}

/// The state of a running step.
pub(super) struct Coordinator<'r, C> {
    clock: &'r C,
    pool: &'r ClientPool,
    inbox: CoordinatorInbox,
    stop_flag: StopFlag,
    on_event: &'r mut dyn FnMut(Event<'_>),
    timeline: Timeline,
    emission: Emission,
    /// The interval that is not closed yet.
    open: u64,
    accounts: Accounts,
    arrivals: Option<Arrivals<'r>>,
    /// The first kind announced, for arrivals where no operation was done.
    kind: Option<OpKind>,
    next_heartbeat: Nanos,
    has_begun: bool,
    clients_running: usize,
    writers_running: usize,
    /// When the last measured client ended, of those that have.
    ended_at: Nanos,
    was_stopped: bool,
    failure: Option<StepEnd>,
    /// Gaps of the measured clients that have ended.
    gaps: Vec<Vec<Gap>>,
}

/// The measured clients' arrivals in an open loop.
struct Arrivals<'r> {
    pace: Pace,
    counter: ArrivalCounter<'r>,
    /// Those that clients had taken and not served when they ended.
    unserved_taken: Vec<Nanos>,
    /// The final counts, once it has ended.
    last: Option<(Due, Unserved)>,
}

impl<'r, C: Clock> Coordinator<'r, C> {
    /// Waits until every client has its session, and opens the barrier.
    pub(super) fn begin(
        clock: &'r C,
        pool: &'r ClientPool,
        inbox: CoordinatorInbox,
        span: Span<'_>,
        on_event: &'r mut dyn FnMut(Event<'_>),
    ) -> Result<Self, LoadError> {
        let threads = wait_for_all(pool, &inbox, &span.stop_flag)?;
        let has_begun = span.timeline.measured_from == Nanos(0);
        if has_begun {
            on_event(Event::MeasuringBegins);
        }
        let start = match span.agree_start {
            Some(agree) => {
                let start = agree().map_err(LoadError::Start)?;
                // The accounts begin with the step.
                clock.rest_until(Nanos(start.0.saturating_sub(LEAD.0)));
                start
            }
            None => clock.now().after(LEAD),
        };
        let mut accounts = Accounts::begin(&threads[..pool.clients], start);
        // A client that waits for an arrival does not wait for the engine.
        if pool.client_arrivals.is_none() {
            accounts.sample_from(start, &threads[..pool.clients]);
        }
        let timeline = span.timeline.starting_at(start);
        pool.barrier.open(timeline);
        Ok(Self {
            clock,
            pool,
            inbox,
            stop_flag: span.stop_flag,
            on_event,
            timeline,
            emission: Emission::new(&span.clients, &span.writers),
            open: 0,
            accounts,
            arrivals: Arrivals::begin(pool, span.timeline),
            kind: span.clients.first().copied(),
            next_heartbeat: start.after(HEARTBEAT),
            has_begun,
            clients_running: pool.clients,
            writers_running: pool.writers,
            ended_at: start,
            was_stopped: false,
            failure: None,
            gaps: Vec::new(),
        })
    }

    /// Runs the step to its end.
    pub(super) fn run(mut self) -> StepTotals {
        while self.clients_running + self.writers_running > 0 {
            self.accounts.begin_wait();
            let now = self.clock.now();
            if self.stop_flag.is_set() {
                self.pool.halt_clients();
            }
            if self.clients_running > 0 {
                self.close_until(now);
            }
            self.emit();
            self.send_heartbeat(now);
            let closes_at = self.timeline.closes_at(self.open);
            let wake = if self.clients_running > 0 { closes_at } else { now.after(POLL) };
            let wake = wake.min(self.next_heartbeat).min(now.after(POLL));
            if let Some(message) = self.receive(wake) {
                self.handle(message);
            }
        }
        self.emit();
        let end = self.end();
        let mut totals = self.emission.totals;
        let arrivals = self.arrivals.and_then(|arrivals| arrivals.end(totals.start_lag));
        if let Some(arrivals) = &arrivals {
            censor(&mut totals.clients, self.kind, &arrivals.censored);
        }
        let begun = self.timeline.measured_from;
        StepTotals {
            begun,
            outages: outages(self.gaps, begun, self.ended_at),
            duration: self.ended_at.since(self.timeline.measured_from),
            clients: totals.clients,
            writers: totals.writers,
            readings: totals.readings,
            arrivals,
            holds: None,
            end,
        }
    }

    /// Waits for a message until `wake`, and samples the clients' states meanwhile.
    ///
    /// Waits for a sample are not timed: their lateness is no pause of the process.
    fn receive(&mut self, wake: Nanos) -> Option<Message> {
        let begun = self.clock.now();
        let mut now = begun;
        loop {
            let until = wake.min(self.accounts.next_sample());
            let message = receive_within(&self.inbox.messages, until.since(now));
            now = self.clock.now();
            if message.is_none() {
                self.accounts.sample(now);
            }
            if message.is_some() || until == wake {
                self.accounts.note_wait(wake, begun, now);
                return message;
            }
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Ready(..) => {}
            Message::Ended(ClientExit { client, at, end, unserved_taken, queued, gaps }) => {
                self.accounts.note_end(client, queued);
                self.gaps.extend(gaps);
                if let Some(arrivals) = &mut self.arrivals
                    && client < self.pool.clients
                {
                    arrivals.unserved_taken.extend(unserved_taken);
                }
                self.note_end(client, at, end);
            }
            // Reached only by a panic between the barrier and the first operation.
            Message::NotStarted(client, end) => {
                self.inbox.collector(|collector| collector.give_up(client));
                self.note_end(client, self.clock.now(), end);
            }
        }
    }

    /// Takes note that a client has ended; the last measured one ends the measured span.
    fn note_end(&mut self, client: usize, at: Nanos, end: ClientEnd) {
        let is_measured = client < self.pool.clients;
        let of_client = |reason: String| format!("{}: {reason}", self.pool.name(client));
        let failure = match end {
            ClientEnd::Finished => None,
            ClientEnd::Stopped => {
                self.was_stopped |= is_measured;
                None
            }
            ClientEnd::Refused(error) => {
                Some(StepEnd::Failed { reason: of_client(error.to_string()) })
            }
            ClientEnd::Failed(reason) => Some(StepEnd::Failed { reason: of_client(reason) }),
            ClientEnd::Wrong(reason) => Some(StepEnd::Wrong { reason: of_client(reason) }),
        };
        if let Some(failure) = failure {
            self.failure.get_or_insert(failure);
            self.pool.halt_all();
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
        let IntervalUsage { readings, backlog } = self.accounts.since_last(self.clock.now(), due);
        self.inbox.collector(|collector| collector.finish(end, &readings, backlog));
        self.pool.halt_all();
    }

    /// Closes every interval that ends by `at`.
    fn close_until(&mut self, at: Nanos) {
        while at >= self.timeline.closes_at(self.open) {
            let due = self.arrivals.as_mut().map(|arrivals| arrivals.counter.close(self.open));
            let IntervalUsage { readings, backlog } =
                self.accounts.since_last(self.clock.now(), due);
            let client_memory = self.inbox.collector(|collector| {
                collector.close(self.open, &readings, backlog);
                Bytes(collector.bytes())
            });
            self.open += 1;
            (self.on_event)(Event::IntervalEnds { client_memory });
            if !self.has_begun && !self.timeline.is_warmup(self.open) {
                self.has_begun = true;
                (self.on_event)(Event::MeasuringBegins);
            }
        }
    }

    /// Emits the intervals that are complete; the clients deliver meanwhile.
    fn emit(&mut self) {
        while let Some(held) = self.inbox.collector(Collector::take) {
            self.emission.emit(held, &mut *self.on_event);
        }
    }

    fn send_heartbeat(&mut self, now: Nanos) {
        if now < self.next_heartbeat {
            return;
        }
        self.next_heartbeat = now.after(HEARTBEAT);
        let clients = &self.pool.heartbeats[..self.pool.clients];
        let operations = clients.iter().map(|heartbeat| heartbeat.read()).sum();
        (self.on_event)(Event::Heartbeat(operations));
    }

    fn end(&mut self) -> StepEnd {
        if let Some(failure) = self.failure.take() {
            return failure;
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
    fn begin(pool: &'r ClientPool, timeline: Timeline) -> Option<Self> {
        let (arrivals, pace) = (pool.client_arrivals.as_ref()?, pool.pace?);
        let counter = ArrivalCounter::new(arrivals, timeline);
        Some(Self { pace, counter, unserved_taken: Vec::new(), last: None })
    }

    /// Counts the unserved arrivals when the last client ended.
    fn finish(&mut self, end: Nanos) -> Due {
        let (due, unserved) = self.counter.finish(end, &self.unserved_taken);
        self.last = Some((due, unserved));
        due
    }

    fn end(self, start_lag: Histogram<u64>) -> Option<ArrivalTotals> {
        let (due, Unserved { offered, ages }) = self.last?;
        let (pace, censored, backlog) = (self.pace, ages, due.backlog);
        Some(ArrivalTotals { pace, offered, censored, start_lag, backlog })
    }
}

/// Waits until every client has its session; returns the threads by position in the pool.
fn wait_for_all(
    pool: &ClientPool,
    inbox: &CoordinatorInbox,
    stop_flag: &StopFlag,
) -> Result<Vec<Pid>, LoadError> {
    let mut ready = 0;
    let mut threads = vec![Pid::from_raw(0); pool.clients + pool.writers];
    while ready < threads.len() {
        if stop_flag.is_set() {
            return Err(LoadError::Stopped);
        }
        match receive_within(&inbox.messages, POLL) {
            Some(Message::Ready(client, thread)) => {
                threads[client] = thread;
                ready += 1;
            }
            Some(Message::NotStarted(client, end)) => {
                let source = match end {
                    ClientEnd::Refused(error) => error,
                    ClientEnd::Failed(reason) | ClientEnd::Wrong(reason) => {
                        EngineError::Fatal(reason)
                    }
                    ClientEnd::Finished | ClientEnd::Stopped => continue,
                };
                return Err(LoadError::Session(pool.name(client), source));
            }
            Some(Message::Ended(_)) | None => {}
        }
    }
    Ok(threads)
}
