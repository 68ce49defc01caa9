//! Merges the clients' parts into intervals.

use std::collections::VecDeque;

use model::record::SpanningOp;
use model::{Nanos, Readings, metric};

use crate::tally::GroupSum;
use crate::timeline::Timeline;
use crate::usage::Usage;

/// Most bytes of the intervals that wait for a client.
///
/// A limit on memory: minutes in which others go on while a client is stuck in one operation,
/// hours in which none does. Operations of a client before a longer one are counted in a later
/// interval than they ended in; they are never lost.
const HELD_BYTES_MAX: u64 = 64 << 20;
/// Bytes of an interval without its counters, mostly readings: our estimate.
const EMPTY_BYTES: u64 = 4096;

/// One client's part of an interval, but for its counts and times.
pub(crate) struct Delivery {
    /// Position in the client pool, clients before writers.
    pub(crate) client: usize,
    /// The interval that the operations ended in.
    pub(crate) index: u64,
    /// The first interval of which more may come; `u64::MAX` when none will.
    pub(crate) next: u64,
    /// Bytes of the client's tally.
    pub(crate) tally_bytes: u64,
    /// Usage of the client's thread meanwhile.
    pub(crate) usage: Usage,
    /// Time it waited with nothing due; `None` where that is not counted.
    pub(crate) idle: Option<Nanos>,
    /// The longest operation that began in an earlier interval.
    pub(crate) spanning: Option<SpanningOp>,
}

/// Intervals being merged; without threads or a clock of its own.
///
/// An operation is counted in the interval it ended in, however late its client delivers it: an
/// interval is complete when every client has delivered a later one. Which client is late, and
/// how late the coordinator is, moves no operation.
pub(crate) struct Collector {
    /// The step's grid, from 0 on.
    timeline: Timeline,
    /// Position of the first writer in the client pool.
    measured_clients: usize,
    /// By client: the first interval of which more may come.
    next: Vec<u64>,
    /// By client: bytes of its tally when it last delivered.
    tally_bytes: Vec<u64>,
    held: VecDeque<Held>,
    /// Index of the first held interval: all before it are taken.
    first: u64,
    /// The step's last interval, once it is known.
    last: Option<u64>,
}

/// One interval: held until it is complete.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) is_warmup: bool,
    /// Start, since the step's start.
    pub(crate) start: Nanos,
    pub(crate) length: Nanos,
    pub(crate) clients: GroupSum,
    pub(crate) writers: GroupSum,
    /// Age, at its end, of the oldest arrival not begun.
    pub(crate) backlog: Nanos,
    pub(crate) readings: Readings,
    pub(crate) spanning: Vec<SpanningOp>,
    /// Whether its end has passed and the process's usage is in it.
    is_closed: bool,
}

impl Collector {
    /// Returns a collector of the grid's intervals; `timeline` begins at 0.
    pub(crate) fn new(timeline: Timeline, measured_clients: usize, writers: usize) -> Self {
        Self {
            timeline,
            measured_clients,
            next: vec![0; measured_clients + writers],
            tally_bytes: vec![0; measured_clients + writers],
            held: VecDeque::new(),
            first: 0,
            last: None,
        }
    }

    /// Adds a client's part to the interval it belongs to, or the oldest not yet taken: `move_to`
    /// adds the counts and times.
    pub(crate) fn deliver(&mut self, delivery: Delivery, move_to: impl FnOnce(&mut GroupSum)) {
        let Delivery { client, index, next, tally_bytes, usage, idle, spanning } = delivery;
        (self.next[client], self.tally_bytes[client]) = (next, tally_bytes);
        let target = index.max(self.first).min(self.last.unwrap_or(u64::MAX));
        // A part of the warm-up that comes too late must not count as measured.
        if self.timeline.is_warmup(index) && !self.timeline.is_warmup(target) {
            move_to(&mut GroupSum::default());
            return;
        }
        let is_writer = client >= self.measured_clients;
        let held = self.held(target);
        move_to(if is_writer { &mut held.writers } else { &mut held.clients });
        usage.add_as_client(&mut held.readings);
        if is_writer {
            usage.add_as_writer(&mut held.readings);
        } else {
            held.spanning.extend(spanning);
        }
        if let Some(idle) = idle {
            held.readings.add(metric::CLIENT_IDLE_US, idle.as_micros_f64());
        }
    }

    /// Expects nothing more of a client that never began.
    pub(crate) fn give_up(&mut self, client: usize) {
        self.next[client] = u64::MAX;
    }

    /// Closes interval `index` with the process's readings, and the backlog of an open loop.
    pub(crate) fn close(&mut self, index: u64, readings: &Readings, backlog: Nanos) {
        let held = self.held(index);
        held.is_closed = true;
        held.readings.merge(readings);
        held.backlog = backlog;
    }

    /// Ends the measured span, at `end` since the step's start: no interval begins any more, and
    /// the last one gets its length.
    ///
    /// Later intervals have parts of writers only, which go to the last one.
    pub(crate) fn finish(&mut self, end: Nanos, readings: &Readings, backlog: Nanos) {
        let last = self.timeline.index_at(end, 0).max(self.first);
        self.last = Some(last);
        self.held(last);
        while self.first + (self.held.len() as u64) > last + 1 {
            let Some(later) = self.held.pop_back() else { break };
            self.held(last).merge(later);
        }
        self.close(last, readings, backlog);
        let start = self.timeline.start_of(last);
        self.held(last).length = end.since(start);
        for held in &mut self.held {
            held.is_closed = true;
        }
    }

    /// Takes the oldest interval, if it is complete or the held ones are too many.
    pub(crate) fn take(&mut self) -> Option<Held> {
        if !self.held.front()?.is_closed || self.is_about_to_finish() {
            return None;
        }
        // Late parts belong to the last one: it waits until all clients have ended.
        let is_last = self.last == Some(self.first);
        let wanted = if is_last { u64::MAX } else { self.first + 1 };
        let is_complete = self.next.iter().all(|next| *next >= wanted);
        if !is_complete && (is_last || self.held_bytes() <= HELD_BYTES_MAX) {
            return None;
        }
        self.first += 1;
        self.held.pop_front()
    }

    /// Returns whether all measured clients have ended, and the coordinator does not yet know when:
    /// the length of the last interval follows from it.
    fn is_about_to_finish(&self) -> bool {
        let mut clients = self.next[..self.measured_clients].iter();
        self.last.is_none() && clients.all(|next| *next == u64::MAX)
    }

    /// Returns the bytes of the clients' tallies and of the intervals that wait for them.
    pub(crate) fn bytes(&self) -> u64 {
        self.tally_bytes.iter().sum::<u64>() + self.held_bytes()
    }

    fn held_bytes(&self) -> u64 {
        self.held.iter().map(Held::bytes).sum()
    }

    /// Returns the held interval `index`, begun if need be.
    fn held(&mut self, index: u64) -> &mut Held {
        assert!(index >= self.first, "an interval that was taken is not changed");
        let position = usize::try_from(index - self.first).expect("few intervals are held");
        while self.held.len() <= position {
            let index = self.first + self.held.len() as u64;
            let start = self.timeline.start_of(index);
            self.held.push_back(Held {
                is_warmup: self.timeline.is_warmup(index),
                start,
                length: self.timeline.start_of(index + 1).since(start),
                ..Held::default()
            });
        }
        &mut self.held[position]
    }
}

impl Held {
    /// Adds the parts of a later interval.
    fn merge(&mut self, later: Self) {
        self.clients.merge(&later.clients);
        self.writers.merge(&later.writers);
        self.readings.merge(&later.readings);
    }

    fn bytes(&self) -> u64 {
        EMPTY_BYTES + self.clients.bytes() + self.writers.bytes()
    }
}

#[cfg(test)]
mod tests {
    use model::operation::Outcome;
    use model::{Nanos, OpKind};
    use proptest::prelude::*;

    use super::*;
    use crate::tally::{ClientTally, GroupTally, Times, Volume};

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

    /// Delivers a client's gets that each took so long.
    fn deliver_times(
        collector: &mut Collector,
        client: usize,
        (index, next): (u64, u64),
        times_ns: &[u64],
    ) {
        let mut tally = ClientTally::default();
        for ns in times_ns {
            let times = Times { service_ns: *ns, response_ns: 2 * ns };
            tally.record(OpKind::Get, Outcome::Done, times, Volume { rows: 1, bytes: 1 });
        }
        let (tally_bytes, usage) = (tally.bytes(), Usage::default());
        let (idle, spanning) = (None, None);
        let delivery = Delivery { client, index, next, tally_bytes, usage, idle, spanning };
        collector.deliver(delivery, |sum| tally.move_to(sum));
    }

    /// Delivers so many operations of a client.
    fn deliver(collector: &mut Collector, client: usize, span: (u64, u64), operations: usize) {
        deliver_times(collector, client, span, &vec![100; operations]);
    }

    fn done(group: &GroupSum) -> u64 {
        let mut tally = GroupTally::new();
        group.add_to(&mut tally);
        tally.get(&OpKind::Get).map_or(0, |tally| tally.counts.done)
    }

    fn close(collector: &mut Collector, index: u64) {
        collector.close(index, &Readings::new(), Nanos(0));
    }

    fn finish(collector: &mut Collector, end_ms: u64) {
        collector.finish(Nanos::from_millis(end_ms), &Readings::new(), Nanos(0));
    }

    fn taken(collector: &mut Collector) -> Vec<Held> {
        std::iter::from_fn(|| collector.take()).collect()
    }

    #[test]
    fn an_interval_waits_for_all_clients_and_is_taken_once() {
        let mut collector = collector();
        for client in 0..=CLIENTS {
            assert!(taken(&mut collector).is_empty());
            deliver(&mut collector, client, (0, 1), 5);
        }
        // All clients have delivered, but the interval is still open.
        assert!(taken(&mut collector).is_empty());
        close(&mut collector, 0);
        let all = taken(&mut collector);
        assert_eq!((done(&all[0].clients), done(&all[0].writers)), (10, 5));
        assert!(all[0].is_warmup && taken(&mut collector).is_empty());
    }

    /// Goal: a client that is stuck, or has no CPU, for minutes moves no operation.
    #[test]
    fn operations_delivered_minutes_late_are_in_their_own_second() {
        let mut collector = collector();
        for index in 0..300 {
            for client in [0, CLIENTS] {
                deliver(&mut collector, client, (index, index + 1), 1);
            }
            if index < WARMUP {
                deliver(&mut collector, 1, (index, index + 1), 1);
            }
            close(&mut collector, index);
            let is_complete = index < WARMUP;
            assert_eq!(taken(&mut collector).len(), usize::from(is_complete), "{index}");
        }
        // Its first measured second comes after five minutes.
        deliver(&mut collector, 1, (WARMUP, 300), 7);
        let all = taken(&mut collector);
        assert_eq!(all.len(), 298);
        assert_eq!(done(&all[0].clients), 8);
        assert!(all[1..].iter().all(|held| done(&held.clients) == 1));
    }

    /// Goal: the last interval is as long as its clients went on, whenever the coordinator knows.
    /// Method: it closes intervals after they have ended, before it reads that they have.
    #[test]
    fn a_late_coordinator_does_not_prolong_the_step() {
        let mut collector = collector();
        for client in 0..=CLIENTS {
            deliver(&mut collector, client, (WARMUP, u64::MAX), 3);
        }
        (0..WARMUP + 4).for_each(|index| close(&mut collector, index));
        assert!(taken(&mut collector).is_empty());
        finish(&mut collector, 1_000 * WARMUP + 360);
        let lengths = taken(&mut collector).into_iter().map(|held| held.length.0 / 1_000_000);
        assert_eq!(lengths.collect::<Vec<_>>(), [1_000, 1_000, 360]);
    }

    /// Goal: a client stuck beyond the limit on memory loses nothing, and holds no more.
    #[test]
    fn the_memory_of_intervals_that_wait_is_limited() {
        let mut collector = collector();
        // Every range of the layout, in each second of the client that goes on.
        let times: Vec<u64> =
            (0..41).flat_map(|power| [4, 5, 6, 7].map(|it| it << power)).collect();
        let (mut index, mut counts) = (WARMUP, Vec::new());
        collector.next = vec![WARMUP; CLIENTS + 1];
        collector.first = WARMUP;
        while counts.is_empty() {
            for client in [0, CLIENTS] {
                deliver_times(&mut collector, client, (index, index + 1), &times);
            }
            close(&mut collector, index);
            counts.extend(taken(&mut collector).iter().map(|held| done(&held.clients)));
            assert!(collector.held_bytes() <= HELD_BYTES_MAX);
            index += 1;
        }
        let operations = times.len() as u64;
        assert_eq!(counts, [operations], "the oldest one leaves without the stuck client");
        deliver(&mut collector, 1, (WARMUP, index), 9);
        assert_eq!(done(&taken(&mut collector)[0].clients), operations + 9);
    }

    #[test]
    fn a_late_part_of_the_warmup_is_never_measured() {
        let mut collector = collector();
        for index in 0..10 {
            close(&mut collector, index);
        }
        collector.first = WARMUP;
        (0..WARMUP).for_each(|_| drop(collector.held.pop_front()));
        deliver(&mut collector, 0, (1, 10), 1_000);
        finish(&mut collector, 10_500);
        for client in 0..=CLIENTS {
            deliver(&mut collector, client, (10, u64::MAX), 1);
        }
        let all = taken(&mut collector);
        assert_eq!(all.last().unwrap().length, Nanos::from_millis(500));
        let sum = |group: fn(&Held) -> &GroupSum| all.iter().map(|held| done(group(held))).sum();
        assert_eq!((sum(|held| &held.clients), sum(|held| &held.writers)), (2_u64, 1_u64));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_part_is_in_its_own_interval_whatever_the_order(
            moves in prop::collection::vec((0usize..5, 1u64..4, 0usize..4), 0..60),
        ) {
            // Goal: each part lands in the interval it was delivered for, and in no other.
            // Method: clients deliver and the coordinator closes and takes in any order; clients
            // may lag or skip; at last all deliver a rest.
            let mut collector = collector();
            for index in 0..WARMUP {
                close(&mut collector, index);
            }
            let (mut at, mut open) = ([WARMUP; CLIENTS + 1], WARMUP);
            let (mut expected, mut all) = (Vec::<[u64; 2]>::new(), Vec::new());
            let mut count = |client: usize, index: u64, operations: usize| {
                let index = usize::try_from(index).unwrap();
                expected.resize(expected.len().max(index + 1), [0; 2]);
                expected[index][usize::from(client >= CLIENTS)] += operations as u64;
            };
            for (who, intervals, operations) in moves {
                if who <= CLIENTS {
                    deliver(&mut collector, who, (at[who], at[who] + intervals), operations);
                    count(who, at[who], operations);
                    at[who] += intervals;
                } else {
                    close(&mut collector, open);
                    open += 1;
                    all.extend(taken(&mut collector));
                }
            }
            let last = at[0].max(at[1]).max(open);
            for (client, index) in at.into_iter().enumerate().take(CLIENTS) {
                deliver(&mut collector, client, (index, u64::MAX), 1);
                count(client, index, 1);
            }
            finish(&mut collector, last * 1000 + 300);
            all.extend(taken(&mut collector));
            deliver(&mut collector, CLIENTS, (at[CLIENTS], u64::MAX), 1);
            count(CLIENTS, at[CLIENTS].min(last), 1);
            all.extend(taken(&mut collector));

            prop_assert!(collector.held.is_empty());
            // Writers may go on after the measured span: to its last interval.
            let last = usize::try_from(last).unwrap();
            expected.resize(expected.len().max(last + 1), [0; 2]);
            let later: u64 = expected.split_off(last + 1).iter().map(|counts| counts[1]).sum();
            expected[last][1] += later;
            let found = all.iter().map(|held| [done(&held.clients), done(&held.writers)]);
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            let mut next = Nanos(0);
            for Held { start, length, .. } in &all {
                prop_assert_eq!(*start, next);
                next = start.after(*length);
            }
            prop_assert_eq!(next, Nanos::from_millis((last as u64) * 1000 + 300));
        }
    }
}
