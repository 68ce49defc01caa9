//! Turns complete intervals into events and totals.

use std::collections::BTreeSet;

use model::OpKind;

use super::step::{Event, Interval};
use crate::collector::Held;
use crate::tally::{GroupSum, GroupTally, KindTally, merge, reset};

/// Emits intervals one by one, and sums them up.
pub(super) struct Emission {
    /// The interval emitted last, for reuse of its memory.
    interval: Interval,
    /// Sums over the measured intervals emitted so far.
    pub(super) totals: Interval,
}

impl Emission {
    /// Returns the start of a step; each interval has the announced kinds of operation.
    pub(super) fn new(clients: &BTreeSet<OpKind>, writers: &BTreeSet<OpKind>) -> Self {
        let announced = |kinds: &BTreeSet<OpKind>| -> GroupTally {
            kinds.iter().map(|kind| (*kind, KindTally::default())).collect()
        };
        let (clients, writers) = (announced(clients), announced(writers));
        let interval = Interval { clients, writers, ..Interval::default() };
        Self { interval, totals: Interval::default() }
    }

    /// Emits an interval that is complete.
    pub(super) fn emit(&mut self, held: Held, on_event: &mut dyn FnMut(Event<'_>)) {
        let interval = &mut self.interval;
        (interval.is_warmup, interval.start) = (held.is_warmup, held.start);
        (interval.length, interval.backlog) = (held.length, held.backlog);
        fill(&mut interval.clients, &held.clients);
        fill(&mut interval.writers, &held.writers);
        interval.start_lag.reset();
        held.clients.start_lag.add_to(&mut interval.start_lag);
        interval.spanning = held.spanning;
        // What is known of one interval is known of later ones.
        interval.readings.values_mut().for_each(|value| *value = 0.0);
        interval.readings.merge(&held.readings);
        on_event(Event::Interval(interval));
        if !interval.is_warmup {
            add(&mut self.totals, interval);
        }
    }
}

fn fill(group: &mut GroupTally, sum: &GroupSum) {
    reset(group);
    sum.add_to(group);
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
