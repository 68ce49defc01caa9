//! Usage per interval: CPU time, run queue, pauses and waits.
//!
//! Whether an interval is valid is decided by the runner.

use model::{Nanos, Readings, metric};
use nix::unistd::{Pid, gettid};

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
    /// Of the coordinator, which keeps these accounts.
    own_queue: Option<RunQueue>,
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
            own_queue: RunQueue::of_thread(gettid()),
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

    /// Notes that the coordinator begins a timed wait.
    pub(super) fn begin_wait(&mut self) {
        if let Some(queue) = &mut self.own_queue {
            queue.growth();
        }
    }

    /// Notes a timed wait of this process that should have ended at `wake`, and did at `now`.
    ///
    /// A process that was stopped for longer than the wait is charged at least the rest. A
    /// coordinator that waited for a CPU is late too, and was not stopped: a stopped thread is not
    /// in the run queue.
    pub(super) fn note_wait(&mut self, wake: Nanos, now: Nanos) {
        let late = now.since(wake);
        if late > LATE {
            let queued = self.own_queue.as_mut().map_or(Nanos(0), RunQueue::growth);
            self.paused = self.paused.after(late.since(queued));
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
        let (queued, paused) = (std::mem::take(&mut self.queued), std::mem::take(&mut self.paused));
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
    use super::*;

    /// Returns the pauses since the last call, us.
    fn paused_us(accounts: &mut Accounts) -> f64 {
        accounts.since_last(Nanos(0), None).readings[metric::PAUSE_US]
    }

    #[test]
    fn a_wait_that_ends_late_is_a_pause_and_a_busy_host_is_not() {
        let mut accounts = Accounts::begin(&[gettid()], Nanos(0));
        accounts.own_queue = None;
        accounts.note_wait(Nanos(5_000), Nanos(3_000));
        accounts.note_wait(Nanos(5_000), Nanos(900_000));
        accounts.note_wait(Nanos(5_000), Nanos(300_005_000));
        assert!((paused_us(&mut accounts) - 300_000.0).abs() < 1e-6);
        assert!(paused_us(&mut accounts) < 1e-6);
    }

    /// Goal: a coordinator without a CPU is no paused worker: the clients may be many and all busy.
    /// Method: waits that end 300 ms late by the clock, next to a scripted account of the run
    /// queue: of the first wait 298 ms, and of the second none, as in a stopped process.
    #[test]
    fn a_wait_for_a_cpu_is_no_pause() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schedstat");
        let queued_ms =
            |ms: u64| std::fs::write(&path, format!("7 {} 3\n", ms * 1_000_000)).unwrap();
        queued_ms(4_000);
        let file = std::fs::File::open(&path).unwrap();
        let mut accounts = Accounts::begin(&[gettid()], Nanos(0));
        accounts.own_queue = RunQueue::of_file(file);
        // What was queued before the wait is no part of it.
        queued_ms(9_000);
        accounts.begin_wait();
        queued_ms(9_298);
        accounts.note_wait(Nanos(5_000), Nanos(300_005_000));
        assert!((paused_us(&mut accounts) - 2_000.0).abs() < 1e-6);
        accounts.begin_wait();
        accounts.note_wait(Nanos(5_000), Nanos(300_005_000));
        assert!((paused_us(&mut accounts) - 300_000.0).abs() < 1e-6);
    }

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
        let total = crate::usage::queued_so_far().map(|queued| queued.after(Nanos(7_000_000)));
        accounts.note_end(0, total);
        let usage = accounts.since_last(Nanos(0), None);
        assert!(usage.readings[metric::CLIENT_RUN_QUEUE_US] >= 7_000.0);
        assert!(!usage.readings.has(metric::OFFERED_OPS));
        let without_clients = Accounts::begin(&[], Nanos(0)).since_last(Nanos(0), None);
        assert!(!without_clients.readings.has(metric::CLIENT_RUN_QUEUE_US));
    }
}
