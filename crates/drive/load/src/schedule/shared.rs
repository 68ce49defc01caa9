//! One arrival process for all clients of a group.

use std::collections::VecDeque;

use model::{Nanos, OpenLoad};

use super::process::ArrivalProcess;
use super::share::Share;
use crate::sync::Mutex;
use crate::timeline::Timeline;

/// Crossings to reserve: the coordinator reads them at least once per interval.
const CROSSINGS: usize = 64;

/// Nothing that can panic happens under the lock.
const UNPOISONED: &str = "no panic while taking an arrival";

/// The arrivals of a group: each is taken once, in order, by a free client.
///
/// A client takes its next arrival before it waits for it. So the lock is not between an arrival
/// and its operation, and the arrivals after it are for the other clients: a slow operation delays
/// no other client's. All times are since the step's start.
#[repr(align(128))]
pub(crate) struct SharedArrivals {
    state: Mutex<State>,
}

struct State {
    cursor: Cursor,
    timeline: Timeline,
    /// The interval that `boundary` ends.
    index: u64,
    /// End of the interval that the arrival taken last is due in.
    boundary: Nanos,
    /// Arrivals that were the first due after an interval's end, until the coordinator reads them.
    crossings: VecDeque<Crossing>,
}

/// The first arrival that is due after the end of one or more intervals.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    due: Nanos,
    number: u64,
}

/// A place in the arrivals: the next one of this process, and how many were before it.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    process: ArrivalProcess,
    share: Share,
    due: Nanos,
    pub(super) number: u64,
    /// Its position among the arrivals of all processes.
    position: u64,
    limit: u64,
}

/// State of the arrivals at the end of an interval.
pub(super) enum Survey {
    /// The number of arrivals due before it, all of them taken.
    Taken(u64),
    /// The first arrival that was not taken, due before it.
    Behind(Box<Cursor>),
}

impl Cursor {
    fn new(process: ArrivalProcess, share: Share, limit: u64) -> Self {
        let mut first = Self { process, share, due: Nanos(0), number: 0, position: 0, limit };
        first.due = first.process.next().expect("arrivals have no end");
        first.skip_others();
        first
    }

    /// Skips the arrivals of other processes.
    #[inline(always)]
    fn skip_others(&mut self) {
        while !self.share.has(self.position) {
            self.position += 1;
            self.due = self.process.next().expect("arrivals have no end");
        }
    }

    /// Returns when the next arrival is due; `None` when there is no more.
    #[inline(always)]
    pub(super) fn due(&self) -> Option<Nanos> {
        (self.position < self.limit).then_some(self.due)
    }

    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.number += 1;
        self.position += 1;
        self.due = self.process.next().expect("arrivals have no end");
        self.skip_others();
    }
}

impl SharedArrivals {
    /// Returns this process's part of the first `limit` arrivals of a load, for an arrival counter.
    ///
    /// The rate must be valid, and the timeline begins at 0.
    pub(crate) fn counted(
        load: &OpenLoad,
        seed: u64,
        timeline: Timeline,
        share: Share,
        limit: u64,
    ) -> Self {
        let process = ArrivalProcess::new(load, seed, timeline.measured_from);
        let cursor = Cursor::new(process, share, limit);
        let crossings = VecDeque::with_capacity(CROSSINGS);
        let boundary = timeline.end_of(0);
        Self { state: Mutex::new(State { cursor, timeline, index: 0, boundary, crossings }) }
    }

    /// Returns all arrivals of a load, uncounted; its rate must be valid.
    pub(crate) fn endless(load: &OpenLoad, seed: u64, timeline: Timeline) -> Self {
        let process = ArrivalProcess::new(load, seed, timeline.measured_from);
        let cursor = Cursor::new(process, Share::whole(1), u64::MAX);
        let (boundary, crossings) = (Nanos(u64::MAX), VecDeque::new());
        Self { state: Mutex::new(State { cursor, timeline, index: 0, boundary, crossings }) }
    }

    /// Takes the next arrival, and returns when it is due; `None` when there is no more.
    ///
    /// On the hot path of an open loop, before the wait: a lock that is held for some tens of
    /// nanoseconds.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Nanos> {
        let mut state = self.state.lock().expect(UNPOISONED);
        let due = state.cursor.due()?;
        if due >= state.boundary {
            state.cross(due);
        }
        state.cursor.advance();
        Some(due)
    }

    /// Reads the arrivals due before `boundary`, the end of an interval; ends must ascend.
    pub(super) fn survey(&self, boundary: Nanos) -> Survey {
        let mut state = self.state.lock().expect(UNPOISONED);
        while state.crossings.front().is_some_and(|crossing| crossing.due < boundary) {
            state.crossings.pop_front();
        }
        match state.crossings.front() {
            Some(crossing) => Survey::Taken(crossing.number),
            None => Survey::Behind(Box::new(state.cursor.clone())),
        }
    }

    /// Returns the position of the first arrival not taken.
    pub(super) fn place(&self) -> Cursor {
        self.state.lock().expect(UNPOISONED).cursor.clone()
    }
}

impl State {
    /// Notes that the next arrival, due at `due`, is the first after an interval's end.
    #[cold]
    #[inline(never)]
    fn cross(&mut self, due: Nanos) {
        self.crossings.push_back(Crossing { due, number: self.cursor.number });
        // Bounded: one step per interval that passes without an arrival.
        while self.boundary <= due {
            self.index += 1;
            let next = self.timeline.end_of(self.index);
            // No interval ends after the deadline.
            self.boundary = if next > self.boundary { next } else { Nanos(u64::MAX) };
        }
    }
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use model::{Arrivals, Pace, Pacing, Rate};
    use proptest::prelude::*;

    use super::*;

    /// Takes the arrivals before a moment, in order.
    fn taken(share: Share, arrivals: Arrivals, seed: u64, limit: u64) -> Vec<Nanos> {
        let pace = Pace { arrivals, pacing: Pacing::Auto };
        let load = OpenLoad { rate: Rate::constant(10_000.0), pace };
        let (start, interval) = (Nanos(0), Nanos::SECOND);
        let timeline = Timeline { start, measured_from: start, interval, deadline: None };
        let shared = SharedArrivals::counted(&load, seed, timeline, share, limit);
        let next = || shared.take().filter(|due| *due < Nanos::from_millis(100));
        std::iter::from_fn(next).collect()
    }

    proptest! {
        /// Goal: however clients are divided among processes, each arrival of the one schedule is
        /// due in exactly one process.
        #[test]
        fn processes_take_disjoint_parts_of_one_schedule(
            sizes in prop::collection::vec(1u32..5, 1..5), seed: u64, is_poisson: bool,
            limit in 1u64..2_000,
        ) {
            let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let all = sizes.iter().sum();
            let mut first = 0;
            let mut parts = Vec::new();
            for clients in sizes {
                parts.extend(taken(Share { first, clients, all }, arrivals, seed, limit));
                first += clients;
            }
            parts.sort_unstable();
            prop_assert_eq!(parts, taken(Share::whole(all), arrivals, seed, limit));
        }
    }
}
