//! One client's recorder: its tally, its intervals and its heartbeat.

use model::record::SpanningOp;
use model::{Nanos, OpKind};

use crate::availability::GapWatch;
use crate::collector::Delivery;
use crate::handoff::{ClientBuffers, ClientEnd, ClientExit, ClientSender, Message};
use crate::stop::Heartbeat;
use crate::tally::{ClientTally, Times, Volume};
use crate::timeline::Timeline;
use crate::usage::{Usage, thread_run_queue};

/// Role of a client in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is measured, and ends at the deadline.
    Measured,
    /// It writes in the background, and runs until it is halted.
    Background,
}

/// Longest time between two publications of the number of operations ended.
const HEARTBEAT_EVERY: Nanos = Nanos::from_millis(100);

/// Bytes of a tally from which a client hands it over before the interval ends, and frees what was
/// not used since.
///
/// Our choice: with what it may grow by between two heartbeats, a client takes less than 100 kB.
const TALLY_BYTES_MAX: u64 = 56_000;

/// One client's recorder: its tally, and when its next hand-over or heartbeat is due.
pub(crate) struct Meter<'r> {
    client: usize,
    pub(crate) timeline: Timeline,
    /// When the client ends; the end of time when nothing but its work or a halt ends it.
    pub(crate) deadline: Nanos,
    pub(crate) tally: Box<ClientTally>,
    /// The interval the client is in, which the tally is of.
    index: u64,
    /// Operations ended, failures included.
    pub(crate) ended: u64,
    usage: Usage,
    /// The longest operation that began in an earlier interval.
    spanning: Option<SpanningOp>,
    /// When [`Meter::mark`] is next due.
    pub(crate) next_mark: Nanos,
    next_close: Nanos,
    /// The arrival taken last, until it is served.
    pub(crate) unserved_taken: Option<Nanos>,
    idle: Option<Nanos>,
    /// Gaps of a measured client in a step with events.
    pub(crate) gaps: Option<GapWatch>,
    /// No failure of the engine ends the client.
    pub(crate) has_disk_faults: bool,
    /// When the engine is opened again, the last first.
    pauses: Vec<Nanos>,
    /// Pauses so far, of which the client has left the loop for the last if so.
    paused: usize,
    pub(crate) is_paused: bool,
    /// Since when arrivals find the client at work or free, and not away.
    pub(crate) here_since: Nanos,
    heartbeat: &'r Heartbeat,
    sender: ClientSender,
}

impl<'r> Meter<'r> {
    /// Returns a meter that counts from the timeline's start; called on the client's thread.
    pub(crate) fn new(
        client: usize,
        timeline: Timeline,
        role: Role,
        buffers: ClientBuffers,
        heartbeat: &'r Heartbeat,
    ) -> Self {
        let ClientBuffers { sender, tally } = buffers;
        let mut meter = Self {
            client,
            timeline,
            deadline: match role {
                Role::Measured => timeline.deadline.unwrap_or(Nanos(u64::MAX)),
                Role::Background => Nanos(u64::MAX),
            },
            tally,
            index: 0,
            ended: 0,
            usage: Usage::of_thread(),
            spanning: None,
            next_mark: Nanos(0),
            next_close: timeline.closes_at(0),
            unserved_taken: None,
            idle: None,
            gaps: None,
            has_disk_faults: false,
            pauses: Vec::new(),
            paused: 0,
            is_paused: false,
            here_since: timeline.start,
            heartbeat,
            sender,
        };
        meter.mark_after(timeline.start);
        meter
    }

    /// Notes gaps from now on, and pauses for each time at which the engine is opened again.
    ///
    /// These are times since the begin of the measured span.
    pub(crate) fn expect_faults(&mut self, role: Role, pauses: &[Nanos]) {
        let Timeline { start, measured_from, .. } = self.timeline;
        self.gaps = (role == Role::Measured).then(|| GapWatch::begin(start));
        self.pauses = pauses.iter().rev().map(|at| measured_from.after(*at)).collect();
        self.mark_after(start);
    }

    /// Goes on after a pause.
    pub(crate) fn go_on(&mut self, now: Nanos) {
        (self.is_paused, self.here_since) = (false, now);
        self.mark_after(now);
    }

    /// Returns how many pauses there have been.
    pub(crate) const fn paused(&self) -> usize {
        self.paused
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

    /// Publishes the heartbeat and ends a due interval; returns whether the client leaves its loop.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark(&mut self, at: Nanos) -> bool {
        self.heartbeat.publish(self.ended);
        if at >= self.next_close {
            self.hand_over(at);
        } else if self.tally.bytes() > TALLY_BYTES_MAX {
            self.deliver(self.index);
        }
        while self.pauses.pop_if(|pause| at >= *pause).is_some() {
            (self.paused, self.is_paused) = (self.paused + 1, true);
        }
        self.mark_after(at);
        self.is_paused || at >= self.deadline
    }

    /// Hands over the rest, with how and when the client ended.
    pub(crate) fn finish(mut self, at: Nanos, end: ClientEnd) {
        self.heartbeat.publish(self.ended);
        self.deliver(u64::MAX);
        let unserved_taken = self.unserved_taken.map(|due| due.since(self.timeline.start));
        let (client, queued) = (self.client, thread_run_queue());
        let gaps = self.gaps.map(|gaps| gaps.end(self.unserved_taken));
        let exit = ClientExit { client, at, end, unserved_taken, queued, gaps };
        self.sender.send(Message::Ended(exit));
    }

    /// Notes an operation that ended at `at` and began in an earlier interval; the longest stays.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_ended(&mut self, kind: OpKind, at: Nanos, times: Times, moved: Volume) {
        let [service_ns, response_ns] = [times.service_ns, times.response_ns].map(Nanos);
        let is_longest = self.spanning.is_none_or(|longest| response_ns > longest.response_ns);
        if is_longest && at.since(response_ns) < self.timeline.start_of(self.index) {
            let ended_ns = at.since(self.timeline.start);
            let Volume { rows, bytes } = moved;
            let op = SpanningOp { kind, ended_ns, service_ns, response_ns, rows, bytes };
            self.spanning = Some(op);
        }
    }

    fn mark_after(&mut self, at: Nanos) {
        let beat = at.after(HEARTBEAT_EVERY);
        let pause = self.pauses.last().copied().unwrap_or(self.deadline);
        self.next_mark = beat.min(self.next_close).min(self.deadline).min(pause);
    }

    /// Ends the interval: what was counted goes to the collector.
    fn hand_over(&mut self, at: Nanos) {
        let next = self.timeline.index_at(at, self.index);
        self.deliver(next);
        self.index = next;
        self.next_close = self.timeline.closes_at(next);
    }

    /// Hands over the interval; more will come of `next` and later ones.
    fn deliver(&mut self, next: u64) {
        let now = Usage::of_thread();
        let usage = now.since(&std::mem::replace(&mut self.usage, now));
        let idle = self.idle.as_mut().map(std::mem::take);
        let (client, index, tally_bytes) = (self.client, self.index, self.tally.bytes());
        let spanning = self.spanning.take();
        let delivery = Delivery { client, index, next, tally_bytes, usage, idle, spanning };
        self.sender.hand_over(delivery, &mut self.tally);
    }
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use model::Outcome;

    use super::*;
    use crate::collector::Collector;
    use crate::handoff::connect;
    use crate::tally::GroupTally;

    const OPERATIONS: u64 = 20_000;

    /// Goal: a client of an open loop takes at most 100 kB, whatever its times are.
    /// Method: lags and times of any magnitude between 1 us and 17 min, 200 operations a second.
    #[test]
    fn a_client_with_times_of_every_magnitude_takes_less_than_100_kb() {
        let (start, measured_from, interval) = (Nanos(0), Nanos(0), Nanos::from_secs(60));
        let timeline = Timeline { start, measured_from, interval, deadline: None };
        let collector = Collector::new(timeline, 1, 0);
        let tally = |_| ClientTally::new([OpKind::Get]).with_lags();
        let (inbox, mut buffers) = connect(1, collector, tally);
        let heartbeat = Heartbeat::default();
        let buffers = buffers.remove(0);
        let mut meter = Meter::new(0, timeline, Role::Measured, buffers, &heartbeat);
        let (mut at, mut word, mut most) = (Nanos(0), 1_u64, 0);
        for number in 0..OPERATIONS {
            let mut any_ns = || {
                word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                1_u64 << (10 + (word >> 32) % 31)
            };
            let service_ns = any_ns();
            let times = Times { service_ns, response_ns: service_ns + any_ns() };
            meter.tally.record(OpKind::Get, Outcome::Done, times, Volume { rows: 1, bytes: 1 });
            meter.tally.record_lag(any_ns());
            most = most.max(meter.tally.bytes());
            at = Nanos(number * 5_000_000);
            if at >= meter.next_mark {
                meter.mark(at);
            }
        }
        assert!(most < 100_000, "{most} B");
        meter.finish(at, ClientEnd::Finished);
        let mut all = GroupTally::new();
        inbox.collector(|collector| {
            collector.finish(at, &model::Readings::new(), Nanos(0));
            while let Some(held) = collector.take() {
                held.clients.add_to(&mut all);
            }
        });
        assert_eq!(all[&OpKind::Get].counts.done, OPERATIONS);
        assert_eq!(all[&OpKind::Get].response.len(), OPERATIONS);
    }
}
