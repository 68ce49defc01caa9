//! Merges the clients' parts into intervals, and intervals into the step's totals.

use std::collections::VecDeque;

use model::{Nanos, metric};

use super::accounts::IntervalUsage;
use super::step::Interval;
use crate::handoff::Delivery;
use crate::tally::{ClientTally, absorb, absorb_lags, merge, reset};
use crate::timeline::Timeline;

/// Closed intervals that wait for a client that is stuck in one operation.
///
/// A limit on memory. Operations of a client before one of more than this many intervals are
/// counted in a later interval than they ended in; they are never lost.
const HELD_MAX: usize = 4;

/// Intervals being merged; without threads or a clock of its own.
pub(super) struct Collector {
    timeline: Timeline,
    /// Position of the first writer in the client pool.
    measured_clients: usize,
    /// By client: the first interval of which more may come.
    next: Vec<u64>,
    held: VecDeque<Held>,
    /// Index of the first held interval: all before it are emitted.
    first: u64,
    /// The step's last interval, once it is known.
    last: Option<u64>,
    /// Emitted intervals, for reuse of their memory.
    spare: Vec<Interval>,
    /// Sums over the measured intervals emitted so far.
    totals: Interval,
}

#[derive(Default)]
struct Held {
    interval: Interval,
    /// Whether its end has passed and the process's usage is in it.
    is_closed: bool,
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
            totals: Interval::default(),
        }
    }

    /// Adds a client's part to the interval it belongs to, or the oldest not yet emitted;
    /// returns the tally for its client.
    pub(super) fn deliver(&mut self, delivery: Delivery) -> (usize, Box<ClientTally>) {
        let Delivery { client, from, next, tally, usage, idle } = delivery;
        self.next[client] = next;
        let target = from.max(self.first).min(self.last.unwrap_or(u64::MAX));
        // A part of the warm-up that comes too late must not count as measured. Nothing measured
        // is lost: a client's tally never spans the start of the measured span.
        if !self.timeline.is_warmup(from) || self.timeline.is_warmup(target) {
            let is_writer = client >= self.measured_clients;
            let interval = &mut self.held(target).interval;
            let group = if is_writer { &mut interval.writers } else { &mut interval.clients };
            absorb(group, &tally);
            absorb_lags(&mut interval.start_lag, &tally);
            usage.add_as_client(&mut interval.readings);
            if is_writer {
                usage.add_as_writer(&mut interval.readings);
            } else {
                interval.spanning.extend(tally.spanning);
            }
            if let Some(idle) = idle {
                interval.readings.add(metric::CLIENT_IDLE_US, idle.as_micros_f64());
            }
        }
        (client, tally)
    }

    /// Expects nothing more of a client that never began.
    pub(super) fn give_up(&mut self, client: usize) {
        self.next[client] = u64::MAX;
    }

    /// Closes interval `index` with its usage and arrivals.
    pub(super) fn close(&mut self, index: u64, usage: &IntervalUsage) {
        let held = self.held(index);
        held.is_closed = true;
        usage.add_to(&mut held.interval);
    }

    /// Ends the measured span: no interval begins any more, and the last one gets its length.
    ///
    /// Later intervals have parts of writers only, which go to the last one.
    pub(super) fn finish(&mut self, end: Nanos, usage: &IntervalUsage) {
        let last = self.timeline.index_at(end, 0).max(self.first);
        self.last = Some(last);
        self.held(last);
        while self.first + (self.held.len() as u64) > last + 1 {
            let Some(later) = self.held.pop_back() else { break };
            add(&mut self.held(last).interval, &later.interval);
        }
        self.close(last, usage);
        let start = self.timeline.start_of(last);
        self.held(last).interval.length = end.since(start);
        for held in &mut self.held {
            held.is_closed = true;
        }
    }

    /// Emits complete intervals, oldest first, and those beyond the limit of held ones.
    pub(super) fn emit(&mut self, emit: &mut dyn FnMut(&Interval)) {
        while self.held.front().is_some_and(|held| held.is_closed) {
            // Late parts belong to the last one: it waits until all clients have ended.
            let is_last = self.last == Some(self.first);
            let wanted = if is_last { u64::MAX } else { self.first + 1 };
            let is_complete = self.next.iter().all(|next| *next >= wanted);
            let closed = self.held.iter().filter(|held| held.is_closed).count();
            if !is_complete && (is_last || closed <= HELD_MAX) {
                return;
            }
            let Some(Held { interval, .. }) = self.held.pop_front() else { return };
            self.first += 1;
            emit(&interval);
            if !interval.is_warmup {
                add(&mut self.totals, &interval);
            }
            self.spare.push(interval);
        }
    }

    /// Returns the sums over all measured intervals.
    pub(super) fn into_totals(self) -> Interval {
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
            interval.start_lag.reset();
            interval.spanning.clear();
            interval.backlog = Nanos(0);
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

/// Adds an interval's counts, times and usage to a sum.
fn add(sum: &mut Interval, interval: &Interval) {
    merge(&mut sum.clients, &interval.clients);
    merge(&mut sum.writers, &interval.writers);
    // Where there are none, at no cost.
    if !interval.start_lag.is_empty() {
        sum.start_lag.add(&interval.start_lag).expect("all histograms have one layout");
    }
    sum.readings.merge(&interval.readings);
}

#[cfg(test)]
mod tests {
    use model::operation::Outcome;
    use model::{Nanos, OpKind};
    use proptest::prelude::*;

    use super::*;
    use crate::tally::{GroupTally, Times};
    use crate::usage::Usage;

    const CLIENTS: usize = 2;
    const WARMUP: u64 = 2;

    /// A grid of 1 s: two intervals of warm-up, then measured ones without an end.
    fn collector() -> Collector {
        let timeline = Timeline {
            start: Nanos(0),
            measured_from: Nanos::from_secs(WARMUP),
            interval: Nanos::SECOND,
            deadline: None,
        };
        Collector::new(timeline, CLIENTS, 1)
    }

    /// A part of `operations` gets.
    fn part(client: usize, from: u64, next: u64, operations: u64) -> Delivery {
        let mut tally = Box::new(ClientTally::default());
        for _ in 0..operations {
            let times = Times { service_ns: 100, response_ns: 200 };
            tally.record(OpKind::Get, Outcome::Done, times, (1, 1));
        }
        Delivery { client, from, next, tally, usage: Usage::default(), idle: None }
    }

    fn done(group: &GroupTally) -> u64 {
        group.get(&OpKind::Get).map_or(0, |tally| tally.counts.done)
    }

    fn emitted(collector: &mut Collector) -> Vec<Interval> {
        let mut all = Vec::new();
        collector.emit(&mut |interval| all.push(interval.clone()));
        all
    }

    #[test]
    fn an_interval_waits_for_all_clients_and_is_emitted_once() {
        let mut collector = collector();
        for client in 0..=CLIENTS {
            assert!(emitted(&mut collector).is_empty());
            collector.deliver(part(client, 0, 1, 5));
        }
        // All clients have delivered, but the interval is still open.
        assert!(emitted(&mut collector).is_empty());
        collector.close(0, &IntervalUsage::default());
        let all = emitted(&mut collector);
        assert_eq!((done(&all[0].clients), done(&all[0].writers)), (10, 5));
        assert!(all[0].is_warmup && emitted(&mut collector).is_empty());
    }

    #[test]
    fn a_stuck_client_delays_four_intervals_and_is_counted_later() {
        let mut collector = collector();
        for index in 0..20 {
            for client in [0, CLIENTS] {
                collector.deliver(part(client, index, index + 1, 1));
            }
            if index < WARMUP {
                collector.deliver(part(1, index, index + 1, 1));
            }
            collector.close(index, &IntervalUsage::default());
            emitted(&mut collector);
        }
        let held = u64::try_from(HELD_MAX).unwrap();
        assert_eq!(collector.first, 20 - held);
        // Its first second comes after 18 s: into the oldest interval that is still open.
        collector.deliver(part(1, WARMUP, 20, 7));
        let all = emitted(&mut collector);
        let counts: Vec<u64> = all.iter().map(|interval| done(&interval.clients)).collect();
        assert_eq!(counts, [8, 1, 1, 1]);
    }

    #[test]
    fn a_late_part_of_the_warmup_is_never_measured() {
        let mut collector = collector();
        for index in 0..10 {
            collector.close(index, &IntervalUsage::default());
        }
        emitted(&mut collector);
        collector.deliver(part(0, 1, 10, 1_000));
        collector.finish(Nanos::from_millis(10_500), &IntervalUsage::default());
        for client in 0..=CLIENTS {
            collector.deliver(part(client, 10, u64::MAX, 1));
        }
        let all = emitted(&mut collector);
        assert_eq!(all.last().unwrap().length, Nanos::from_millis(500));
        let totals = collector.into_totals();
        assert_eq!((done(&totals.clients), done(&totals.writers)), (2, 1));
    }

    /// Emits, and collects start, length and counts of each interval.
    fn emit_to(all: &mut Vec<(Nanos, Nanos, u64, u64)>, collector: &mut Collector) {
        collector.emit(&mut |interval| {
            let (clients, writers) = (done(&interval.clients), done(&interval.writers));
            all.push((interval.start, interval.length, clients, writers));
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_count_is_lost_whatever_the_order(
            moves in prop::collection::vec((0usize..5, 1u64..4, 0u64..4), 0..60),
        ) {
            // Goal: each part lands in exactly one emitted interval.
            // Method: clients deliver and the coordinator emits in any order; clients may
            // lag or skip; at last all deliver a rest.
            let mut collector = collector();
            for index in 0..WARMUP {
                collector.close(index, &IntervalUsage::default());
            }
            let (mut at, mut open) = ([WARMUP; CLIENTS + 1], WARMUP);
            let (mut clients, mut writers, mut all) = (0, 0, Vec::new());
            let mut count = |client, operations| {
                if client < CLIENTS { clients += operations } else { writers += operations }
            };
            for (who, intervals, operations) in moves {
                if who <= CLIENTS {
                    collector.deliver(part(who, at[who], at[who] + intervals, operations));
                    at[who] += intervals;
                    count(who, operations);
                } else {
                    collector.close(open, &IntervalUsage::default());
                    open += 1;
                    emit_to(&mut all, &mut collector);
                }
            }
            let end = at[0].max(at[1]).max(open);
            collector.deliver(part(0, at[0], u64::MAX, 1));
            collector.deliver(part(1, at[1], u64::MAX, 1));
            let end = Nanos::from_millis(end * 1000 + 300);
            collector.finish(end, &IntervalUsage::default());
            emit_to(&mut all, &mut collector);
            collector.deliver(part(CLIENTS, at[CLIENTS], u64::MAX, 1));
            emit_to(&mut all, &mut collector);
            count(0, 2);
            count(CLIENTS, 1);

            prop_assert!(collector.held.is_empty());
            prop_assert_eq!(all.iter().map(|of| of.2).sum::<u64>(), clients);
            prop_assert_eq!(all.iter().map(|of| of.3).sum::<u64>(), writers);
            let mut next = Nanos(0);
            for (start, length, ..) in all {
                prop_assert_eq!(start, next);
                next = start.after(length);
            }
            prop_assert_eq!(next, end);
            let totals = collector.into_totals();
            prop_assert_eq!((done(&totals.clients), done(&totals.writers)), (clients, writers));
        }
    }
}
