//! What the coordinator reads at its cuts: whose CPU it was, and whether the process stood still.
//!
//! Not a judgement: whether an interval counts is decided where records are made.

use model::{Nanos, Readings};
use nix::unistd::Pid;

use super::looks::Looks;
use super::step::Interval;
use crate::schedule::Due;
use crate::usage::{ProcessUsage, RunQueue, add_signed, add_span, merge};

/// Lateness that a timed wait may have on a busy host without anything having stood still.
const LATE: Nanos = Nanos::from_millis(1);

/// Accounts that only grow, as they stood at the last cut.
pub(super) struct Evidence {
    usage: ProcessUsage,
    /// By measured client; `None` where the kernel does not tell.
    queues: Vec<Option<RunQueue>>,
    queued: Nanos,
    paused: Nanos,
    looks: Looks,
}

/// What is known of an interval beside its operations.
#[derive(Debug, Default)]
pub(super) struct Cut {
    usage: ProcessUsage,
    queued: Option<Nanos>,
    paused: Nanos,
    /// What the clients were seen to wait for.
    waits: Readings,
    /// The measured clients' arrivals; `None` in a closed loop.
    pub(super) due: Option<Due>,
}

impl Evidence {
    /// Begins to watch the measured clients' threads.
    pub(super) fn begin(threads: &[Pid]) -> Self {
        Self {
            usage: ProcessUsage::now(),
            queues: threads.iter().map(|thread| RunQueue::of_thread(*thread)).collect(),
            queued: Nanos(0),
            paused: Nanos(0),
            looks: Looks::default(),
        }
    }

    /// Looks at what the measured clients wait for, from `start` on.
    pub(super) fn look_from(&mut self, start: Nanos, threads: &[Pid]) {
        self.looks = Looks::begin(threads, start);
    }

    /// Returns when the next look is due.
    pub(super) fn next_look(&self) -> Nanos {
        self.looks.next_at()
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self, now: Nanos) {
        self.looks.look(now);
    }

    /// Notes a timed wait of this process that should have ended at `wake`, and did at `now`.
    ///
    /// A process that was stopped for longer than the wait is seen for at least the rest.
    pub(super) fn note_wait(&mut self, wake: Nanos, now: Nanos) {
        let late = now.since(wake);
        if late > LATE {
            self.paused = self.paused.after(late);
        }
    }

    /// Notes the last reading of a measured client, which its thread took itself.
    pub(super) fn note_end(&mut self, client: usize, queued: Option<Nanos>) {
        if let (Some(Some(queue)), Some(total)) = (self.queues.get_mut(client), queued) {
            self.queued = self.queued.after(queue.growth_to(total));
        }
    }

    /// Returns the growth since the last cut.
    pub(super) fn cut(&mut self, due: Option<Due>) -> Cut {
        let usage = ProcessUsage::now();
        let growth = usage.since(&self.usage);
        self.usage = usage;
        for queue in self.queues.iter_mut().flatten() {
            self.queued = self.queued.after(queue.growth());
        }
        let is_told = self.queues.iter().any(Option::is_some);
        let (queued, paused) = (std::mem::take(&mut self.queued), std::mem::take(&mut self.paused));
        let mut waits = Readings::new();
        self.looks.add_to(&mut waits);
        Cut { usage: growth, queued: is_told.then_some(queued), paused, waits, due }
    }
}

impl Cut {
    /// Adds what is known to an interval.
    pub(super) fn add_to(&self, interval: &mut Interval) {
        let readings = &mut interval.readings;
        self.usage.add_to(readings);
        add_span(readings, "pause_us", self.paused);
        if let Some(queued) = self.queued {
            add_span(readings, "client_run_queue_us", queued);
        }
        merge(readings, &self.waits);
        if let Some(due) = self.due {
            add_signed(readings, "offered_ops", due.offered);
            interval.backlog = due.backlog;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_ends_late_is_a_pause_and_a_busy_host_is_not() {
        let mut evidence = Evidence::begin(&[nix::unistd::gettid()]);
        evidence.note_wait(Nanos(5_000), Nanos(3_000));
        evidence.note_wait(Nanos(5_000), Nanos(900_000));
        evidence.note_wait(Nanos(5_000), Nanos(300_005_000));
        let mut interval = Interval::default();
        evidence.cut(None).add_to(&mut interval);
        assert!((interval.readings["pause_us"] - 300_000.0).abs() < 1e-6);
        evidence.cut(None).add_to(&mut interval);
        assert!((interval.readings["pause_us"] - 300_000.0).abs() < 1e-6);
        assert!(!interval.readings.contains_key("offered_ops"));
    }

    #[test]
    fn a_thread_s_own_last_reading_is_counted_once() {
        let mut evidence = Evidence::begin(&[nix::unistd::gettid()]);
        if evidence.queues[0].is_none() {
            println!("skipped: the kernel does not count it");
            return;
        }
        evidence.cut(None);
        let total = crate::usage::queued_so_far().map(|queued| queued.after(Nanos(7_000_000)));
        evidence.note_end(0, total);
        let mut interval = Interval::default();
        evidence.cut(None).add_to(&mut interval);
        assert!(interval.readings["client_run_queue_us"] >= 7_000.0);
        assert!(Evidence::begin(&[]).cut(None).queued.is_none());
    }
}
