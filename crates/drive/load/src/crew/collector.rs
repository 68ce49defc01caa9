//! Puts the clients' parts together into intervals, and the intervals into the step's totals.

use std::collections::VecDeque;

use model::{Nanos, Readings};

use super::step::Interval;
use crate::handoff::Delivery;
use crate::tally::{ClientTally, GroupTally, absorb, merge, reset};
use crate::timeline::Timeline;
use crate::usage::{self, ProcessUsage};

/// Closed intervals that are held for a client that has not delivered, stuck in one operation.
///
/// A limit on memory. What a client did before an operation of more than this many intervals is
/// counted in a later interval than it was done in; it is never lost.
const HELD_MAX: usize = 4;

/// Intervals in the making. Knows no thread and no clock: it is told everything.
pub(super) struct Collector {
    timeline: Timeline,
    /// Position of the first writer among the crew.
    measured_clients: usize,
    /// By client: the first interval of which more may come.
    next: Vec<u64>,
    held: VecDeque<Held>,
    /// Index of the first held interval: all before it are emitted.
    first: u64,
    /// The step's last interval, once it is known.
    last: Option<u64>,
    /// Emitted intervals, whose memory is used again.
    spare: Vec<Interval>,
    totals: Totals,
}

#[derive(Default)]
struct Held {
    interval: Interval,
    /// Whether its end has passed and the process's usage is in it.
    is_closed: bool,
}

/// Sums over the measured intervals emitted so far.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) clients: GroupTally,
    pub(super) writers: GroupTally,
    pub(super) readings: Readings,
}

impl Collector {
    pub(super) fn new(timeline: Timeline, measured_clients: usize, writers: usize) -> Self {
        Self {
            timeline,
            measured_clients,
            next: vec![0; measured_clients + writers],
            held: VecDeque::new(),
            first: 0,
            last: None,
            spare: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Adds a client's part to the interval it belongs to, or the oldest not yet emitted;
    /// returns the tally for its client.
    pub(super) fn deliver(&mut self, delivery: Delivery) -> (usize, Box<ClientTally>) {
        let Delivery { client, from, next, tally, usage } = delivery;
        self.next[client] = next;
        let target = from.max(self.first).min(self.last.unwrap_or(u64::MAX));
        // A part of the warm-up that comes too late must not count as measured. Nothing measured
        // is lost: a client's tally never spans the start of the measured span.
        if !self.timeline.is_warmup(from) || self.timeline.is_warmup(target) {
            let is_writer = client >= self.measured_clients;
            let interval = &mut self.held(target).interval;
            let group = if is_writer { &mut interval.writers } else { &mut interval.clients };
            absorb(group, &tally);
            usage.add_as_client(&mut interval.readings);
        }
        (client, tally)
    }

    /// Expects nothing more of a client that never began.
    pub(super) fn give_up(&mut self, client: usize) {
        self.next[client] = u64::MAX;
    }

    /// Closes interval `index`, in which the process used `growth`.
    pub(super) fn close(&mut self, index: u64, growth: &ProcessUsage) {
        let held = self.held(index);
        held.is_closed = true;
        growth.add_to(&mut held.interval.readings);
    }

    /// Ends the measured span: no interval begins any more, and the last one is cut to length.
    ///
    /// Intervals that were begun later hold nothing of the measured clients; what they hold of
    /// the writers goes to the last one.
    pub(super) fn finish(&mut self, end: Nanos, growth: &ProcessUsage) {
        let last = self.timeline.index_at(end, 0).max(self.first);
        self.last = Some(last);
        self.held(last);
        while self.first + (self.held.len() as u64) > last + 1 {
            let Some(later) = self.held.pop_back() else { break };
            let interval = &mut self.held(last).interval;
            merge(&mut interval.clients, &later.interval.clients);
            merge(&mut interval.writers, &later.interval.writers);
            usage::merge(&mut interval.readings, &later.interval.readings);
        }
        self.close(last, growth);
        let start = self.timeline.start_of(last);
        self.held(last).interval.length = end.since(start);
        for held in &mut self.held {
            held.is_closed = true;
        }
    }

    /// Emits what is complete, oldest first: each interval of which nothing more can come, and
    /// those that may be held no longer.
    pub(super) fn emit(&mut self, emit: &mut dyn FnMut(&Interval)) {
        while self.held.front().is_some_and(|held| held.is_closed) {
            let is_complete = self.next.iter().all(|next| *next > self.first);
            let closed = self.held.iter().filter(|held| held.is_closed).count();
            if !is_complete && closed <= HELD_MAX {
                return;
            }
            let Some(Held { interval, .. }) = self.held.pop_front() else { return };
            self.first += 1;
            emit(&interval);
            if !interval.is_warmup {
                merge(&mut self.totals.clients, &interval.clients);
                merge(&mut self.totals.writers, &interval.writers);
                usage::merge(&mut self.totals.readings, &interval.readings);
            }
            self.spare.push(interval);
        }
    }

    /// Returns the sums over all measured intervals.
    pub(super) fn into_totals(self) -> Totals {
        self.totals
    }

    /// Returns the held interval `index`, begun if need be.
    fn held(&mut self, index: u64) -> &mut Held {
        assert!(index >= self.first, "an emitted interval is not changed");
        let position = usize::try_from(index - self.first).expect("few intervals are held");
        while self.held.len() <= position {
            let index = self.first + self.held.len() as u64;
            let mut interval = self.spare.pop().unwrap_or_default();
            reset(&mut interval.clients);
            reset(&mut interval.writers);
            interval.readings.values_mut().for_each(|value| *value = 0.0);
            interval.is_warmup = self.timeline.is_warmup(index);
            let start = self.timeline.start_of(index);
            interval.start = start.since(self.timeline.start);
            interval.length = self.timeline.start_of(index + 1).since(start);
            self.held.push_back(Held { interval, is_closed: false });
        }
        &mut self.held[position]
    }
}
