//! One client's recorder: its tally, its intervals and its heartbeat.

use model::record::SpanningOp;
use model::{Nanos, OpKind};

use crate::client::{ClientEnd, Role};
use crate::handoff::{ClientExit, ClientSender, Delivery, Message};
use crate::stop::Heartbeat;
use crate::tally::{ClientTally, Times};
use crate::timeline::Timeline;
use crate::usage::{Usage, queued_so_far};

/// Longest time between two publications of the number of operations ended.
const HEARTBEAT_EVERY: Nanos = Nanos::from_millis(100);

/// Operations in a tally from which its hand-over cannot be postponed: half a counter's range.
const TALLY_FULL: u64 = 1 << 31;

/// One client's recorder: its tally, and when its next hand-over or heartbeat is due.
pub(crate) struct Meter<'r> {
    client: usize,
    pub(crate) timeline: Timeline,
    /// When the client ends; the end of time when nothing but its work or a halt ends it.
    pub(crate) deadline: Nanos,
    pub(crate) tally: Box<ClientTally>,
    /// The interval the tally was begun in.
    from: u64,
    /// The interval the client is in.
    index: u64,
    /// Operations ended, failures included.
    pub(crate) ended: u64,
    ended_before_tally: u64,
    usage: Usage,
    /// When [`Meter::mark`] is next due.
    pub(crate) next_mark: Nanos,
    next_close: Nanos,
    /// The arrival taken last, until it is served.
    pub(crate) unserved_taken: Option<Nanos>,
    idle: Option<Nanos>,
    heartbeat: &'r Heartbeat,
    sender: ClientSender,
}

impl<'r> Meter<'r> {
    /// Returns a meter that counts from the timeline's start; called on the client's thread.
    pub(crate) fn new(
        client: usize,
        (timeline, role): (Timeline, Role),
        (sender, tally): (ClientSender, Box<ClientTally>),
        heartbeat: &'r Heartbeat,
    ) -> Self {
        let mut meter = Self {
            client,
            timeline,
            deadline: match role {
                Role::Measured => timeline.deadline.unwrap_or(Nanos(u64::MAX)),
                Role::Background => Nanos(u64::MAX),
            },
            tally,
            from: 0,
            index: 0,
            ended: 0,
            ended_before_tally: 0,
            usage: Usage::of_thread(),
            next_mark: Nanos(0),
            next_close: timeline.closes_at(0),
            unserved_taken: None,
            idle: None,
            heartbeat,
            sender,
        };
        meter.mark_after(timeline.start);
        meter
    }

    /// Counts the time the client waits with nothing due from now on.
    pub(crate) const fn count_idle(&mut self) {
        self.idle = Some(Nanos(0));
    }

    /// Notes that the client waited `span` with nothing due.
    #[inline(always)]
    pub(crate) fn note_idle(&mut self, span: Nanos) {
        if let Some(idle) = &mut self.idle {
            *idle = idle.after(span);
        }
    }

    /// Publishes the heartbeat and ends a due interval; returns whether the deadline has passed.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark(&mut self, at: Nanos) -> bool {
        self.heartbeat.publish(self.ended);
        if at >= self.next_close {
            self.hand_over(at);
        }
        self.mark_after(at);
        at >= self.deadline
    }

    /// Hands over the rest, with how and when the client ended.
    pub(crate) fn finish(mut self, at: Nanos, end: ClientEnd) {
        self.heartbeat.publish(self.ended);
        let rest = self.take(Box::default(), u64::MAX);
        let unserved_taken = self.unserved_taken.map(|due| due.since(self.timeline.start));
        let exit = ClientExit { rest, at, end, unserved_taken, queued: queued_so_far() };
        self.sender.send(Message::Ended(Box::new(exit)));
    }

    /// Notes an operation that ended at `at`, if it began in an earlier interval.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_ended(&mut self, kind: OpKind, at: Nanos, times: Times, moved: (u64, u64)) {
        let [service_ns, response_ns] = [times.service_ns, times.response_ns].map(Nanos);
        if at.since(response_ns) < self.timeline.start_of(self.index) {
            let ended_ns = at.since(self.timeline.start);
            let (rows, bytes) = moved;
            let op = SpanningOp { kind, ended_ns, service_ns, response_ns, rows, bytes };
            self.tally.note_spanning(op);
        }
    }

    fn mark_after(&mut self, at: Nanos) {
        let beat = at.after(HEARTBEAT_EVERY);
        self.next_mark = beat.min(self.next_close).min(self.deadline);
    }

    /// Ends the interval: the tally goes to the coordinator.
    ///
    /// Without a spare the tally goes on into the next interval, and nothing is lost; except
    /// where it must not: a tally never spans the start of the measured span, or too much.
    fn hand_over(&mut self, at: Nanos) {
        let next = self.timeline.index_at(at, self.index);
        let must = self.timeline.is_warmup(self.from) && !self.timeline.is_warmup(next)
            || self.ended - self.ended_before_tally > TALLY_FULL;
        let spare = match self.sender.spare() {
            None if must => self.sender.wait_for_spare(),
            found => found,
        };
        if let Some(spare) = spare {
            let delivery = self.take(spare, next);
            self.sender.send(Message::Interval(delivery));
            self.from = next;
            self.ended_before_tally = self.ended;
        }
        self.index = next;
        self.next_close = self.timeline.closes_at(next);
    }

    fn take(&mut self, spare: Box<ClientTally>, next: u64) -> Delivery {
        let usage = Usage::of_thread();
        let growth = usage.since(&self.usage);
        self.usage = usage;
        let tally = std::mem::replace(&mut self.tally, spare);
        let idle = self.idle.as_mut().map(std::mem::take);
        Delivery { client: self.client, from: self.from, next, tally, usage: growth, idle }
    }
}
