//! One arrival process for all clients of a group.

use std::collections::VecDeque;

use model::{Nanos, OpenLoad};

use super::process::ArrivalProcess;
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

/// A place in the arrivals: the next one, and its number.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    process: ArrivalProcess,
    due: Nanos,
    pub(super) number: u64,
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
    fn new(load: &OpenLoad, seed: u64, warmup: Nanos, limit: u64) -> Self {
        let mut process = ArrivalProcess::new(load, seed, warmup);
        let due = process.next().expect("arrivals have no end");
        Self { process, due, number: 0, limit }
    }

    /// Returns when the next arrival is due; `None` when there is no more.
    #[inline(always)]
    pub(super) fn due(&self) -> Option<Nanos> {
        (self.number < self.limit).then_some(self.due)
    }

    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.number += 1;
        self.due = self.process.next().expect("arrivals have no end");
    }
}

impl SharedArrivals {
    /// Returns the first `limit` arrivals of a load, for an arrival counter.
    ///
    /// The rate must be valid, and the timeline begins at 0.
    pub(crate) fn counted(load: &OpenLoad, seed: u64, timeline: Timeline, limit: u64) -> Self {
        let cursor = Cursor::new(load, seed, timeline.measured_from, limit);
        let crossings = VecDeque::with_capacity(CROSSINGS);
        let boundary = timeline.end_of(0);
        Self { state: Mutex::new(State { cursor, timeline, index: 0, boundary, crossings }) }
    }

    /// Returns all arrivals of a load, uncounted; its rate must be valid.
    pub(crate) fn endless(load: &OpenLoad, seed: u64, timeline: Timeline) -> Self {
        let cursor = Cursor::new(load, seed, timeline.measured_from, u64::MAX);
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
