//! Usage per interval: CPU time, run queue, pauses and waits.
//!
//! Whether an interval is valid is decided by the runner.

use model::{Nanos, Readings, metric};
use nix::unistd::Pid;

use super::stops::Stops;
use super::thread_states::ThreadStates;
use crate::schedule::Due;
use crate::usage::{ProcessUsage, RunQueue};

/// Cumulative accounts, as of the last interval's end.
pub(super) struct Accounts {
    usage: ProcessUsage,
    /// When `usage` was read.
    read_at: Nanos,
    /// By measured client; `None` where the kernel does not report it.
    queues: Vec<Option<RunQueue>>,
    queued: Nanos,
    stops: Stops,
    paused: Nanos,
    states: ThreadStates,
}

/// Usage and arrivals of one interval.
#[derive(Debug, Default)]
pub(super) struct IntervalUsage {
    pub(super) readings: Readings,
    /// Age of the oldest arrival not begun; 0 in a closed loop.
    pub(super) backlog: Nanos,
}

impl Accounts {
    /// Opens the accounts of the measured clients' threads at `now`.
    pub(super) fn begin(threads: &[Pid], now: Nanos) -> Self {
        Self {
            usage: ProcessUsage::now(),
            read_at: now,
            queues: threads.iter().map(|thread| RunQueue::of_thread(*thread)).collect(),
            queued: Nanos(0),
            stops: Stops::begin(threads, now),
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

    /// Notes that the coordinator begins its work before a timed wait.
    pub(super) fn begin_wait(&mut self) {
        self.stops.begin_wait();
    }

    /// Notes a timed wait of the coordinator that began at `begun`, should have ended at `wake` and
    /// did at `now`.
    pub(super) fn note_wait(&mut self, wake: Nanos, begun: Nanos, now: Nanos) {
        self.paused = self.paused.after(self.stops.end_wait(wake, begun, now));
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
        let (queued, paused) = (std::mem::take(&mut self.queued), std::mem::take(&mut self.paused));
        self.stops.clients_idle(now);
        let mut readings = Readings::new();
        growth.add_to(&mut readings);
        readings.add(metric::WORKER_SAMPLED_US, sampled.as_micros_f64());
        readings.add(metric::PAUSE_US, paused.as_micros_f64());
        if self.queues.iter().any(Option::is_some) {
            readings.add(metric::CLIENT_RUN_QUEUE_US, queued.as_micros_f64());
        }
        self.states.add_to(&mut readings);
        if let Some(due) = due {
            readings.add(metric::OFFERED_OPS, due.offered);
        }
        IntervalUsage { readings, backlog: due.map_or(Nanos(0), |due| due.backlog) }
    }
}

#[cfg(test)]
mod tests {
    use nix::unistd::gettid;

    use super::*;
    use crate::usage::thread_run_queue;

    #[test]
    fn a_thread_s_own_last_reading_is_counted_once() {
        let mut accounts = Accounts::begin(&[gettid()], Nanos(0));
        let is_counted = std::fs::exists("/proc/self/schedstat").unwrap();
        assert_eq!(accounts.queues[0].is_some(), is_counted);
        if !is_counted {
            println!("skipped: the kernel does not count it");
            return;
        }
        accounts.since_last(Nanos(0), None);
        let total = thread_run_queue().map(|queued| queued.after(Nanos(7_000_000)));
        accounts.note_end(0, total);
        let usage = accounts.since_last(Nanos(0), None);
        assert!(usage.readings[metric::CLIENT_RUN_QUEUE_US] >= 7_000.0);
        assert!(!usage.readings.has(metric::OFFERED_OPS));
        let without_clients = Accounts::begin(&[], Nanos(0)).since_last(Nanos(0), None);
        assert!(!without_clients.readings.has(metric::CLIENT_RUN_QUEUE_US));
    }
}
