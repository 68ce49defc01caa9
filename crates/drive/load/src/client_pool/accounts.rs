//! Usage per interval: CPU time, run queue, pauses and waits.
//!
//! Whether an interval is valid is decided by the runner.

use model::{Nanos, Readings, metric};
use nix::unistd::Pid;

use super::step::Interval;
use super::thread_states::ThreadStates;
use crate::schedule::Due;
use crate::usage::{ProcessUsage, RunQueue};

/// Lateness of a timed wait on a busy host that is no pause. Our choice.
const LATE: Nanos = Nanos::from_millis(1);

/// Cumulative accounts, as of the last interval's end.
pub(super) struct Accounts {
    usage: ProcessUsage,
    /// When `usage` was read.
    read_at: Nanos,
    /// By measured client; `None` where the kernel does not report it.
    queues: Vec<Option<RunQueue>>,
    queued: Nanos,
    paused: Nanos,
    states: ThreadStates,
}

/// Usage and arrivals of one interval.
#[derive(Debug, Default)]
pub(super) struct IntervalUsage {
    usage: ProcessUsage,
    /// Time between the two readings.
    sampled: Nanos,
    queued: Option<Nanos>,
    paused: Nanos,
    /// Estimated waits of the clients.
    waits: Readings,
    /// The measured clients' arrivals; `None` in a closed loop.
    pub(super) due: Option<Due>,
}

impl Accounts {
    /// Opens the accounts of the measured clients' threads at `now`.
    pub(super) fn begin(threads: &[Pid], now: Nanos) -> Self {
        Self {
            usage: ProcessUsage::now(),
            read_at: now,
            queues: threads.iter().map(|thread| RunQueue::of_thread(*thread)).collect(),
            queued: Nanos(0),
            paused: Nanos(0),
            states: ThreadStates::default(),
        }
    }

    /// Samples the states of the measured clients' threads from `start` on.
    pub(super) fn sample_from(&mut self, start: Nanos, threads: &[Pid]) {
        self.states = ThreadStates::begin(threads, start);
    }

    /// Returns when the next sample is due.
    pub(super) fn next_sample(&self) -> Nanos {
        self.states.next_at()
    }

    /// Takes a sample, if one is due.
    pub(super) fn sample(&mut self, now: Nanos) {
        self.states.sample(now);
    }

    /// Notes a timed wait of this process that should have ended at `wake`, and did at `now`.
    ///
    /// A process that was stopped for longer than the wait is charged at least the rest.
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

    /// Returns the growth from the last call to this one, at `now`.
    pub(super) fn since_last(&mut self, now: Nanos, due: Option<Due>) -> IntervalUsage {
        let sampled = now.since(std::mem::replace(&mut self.read_at, now));
        let usage = ProcessUsage::now();
        let growth = usage.since(&self.usage);
        self.usage = usage;
        for queue in self.queues.iter_mut().flatten() {
            self.queued = self.queued.after(queue.growth());
        }
        let is_reported = self.queues.iter().any(Option::is_some);
        let (queued, paused) = (std::mem::take(&mut self.queued), std::mem::take(&mut self.paused));
        let mut waits = Readings::new();
        self.states.add_to(&mut waits);
        let queued = is_reported.then_some(queued);
        IntervalUsage { usage: growth, sampled, queued, paused, waits, due }
    }
}

impl IntervalUsage {
    /// Adds usage and arrivals to an interval's readings.
    pub(super) fn add_to(&self, interval: &mut Interval) {
        let readings = &mut interval.readings;
        self.usage.add_to(readings);
        readings.add(metric::WORKER_SAMPLED_US, self.sampled.as_micros_f64());
        readings.add(metric::PAUSE_US, self.paused.as_micros_f64());
        if let Some(queued) = self.queued {
            readings.add(metric::CLIENT_RUN_QUEUE_US, queued.as_micros_f64());
        }
        readings.merge(&self.waits);
        if let Some(due) = self.due {
            readings.add(metric::OFFERED_OPS, due.offered);
            interval.backlog = due.backlog;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_ends_late_is_a_pause_and_a_busy_host_is_not() {
        let mut accounts = Accounts::begin(&[nix::unistd::gettid()], Nanos(0));
        accounts.note_wait(Nanos(5_000), Nanos(3_000));
        accounts.note_wait(Nanos(5_000), Nanos(900_000));
        accounts.note_wait(Nanos(5_000), Nanos(300_005_000));
        let mut interval = Interval::default();
        accounts.since_last(Nanos(0), None).add_to(&mut interval);
        assert!((interval.readings[metric::PAUSE_US] - 300_000.0).abs() < 1e-6);
        accounts.since_last(Nanos(0), None).add_to(&mut interval);
        assert!((interval.readings[metric::PAUSE_US] - 300_000.0).abs() < 1e-6);
        assert!(!interval.readings.has(metric::OFFERED_OPS));
    }

    #[test]
    fn a_thread_s_own_last_reading_is_counted_once() {
        let mut accounts = Accounts::begin(&[nix::unistd::gettid()], Nanos(0));
        let is_counted = std::fs::exists("/proc/self/schedstat").unwrap();
        assert_eq!(accounts.queues[0].is_some(), is_counted);
        if !is_counted {
            println!("skipped: the kernel does not count it");
            return;
        }
        accounts.since_last(Nanos(0), None);
        let total = crate::usage::queued_so_far().map(|queued| queued.after(Nanos(7_000_000)));
        accounts.note_end(0, total);
        let mut interval = Interval::default();
        accounts.since_last(Nanos(0), None).add_to(&mut interval);
        assert!(interval.readings[metric::CLIENT_RUN_QUEUE_US] >= 7_000.0);
        assert!(Accounts::begin(&[], Nanos(0)).since_last(Nanos(0), None).queued.is_none());
    }
}
