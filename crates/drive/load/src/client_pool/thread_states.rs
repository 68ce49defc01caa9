//! Samples the states of client threads, to estimate what they wait for.
//!
//! The kernel counts exactly how long a thread ran and how long it was ready to; why it was
//! blocked, most kernels do not count. So each thread's state is read about a hundred times a
//! second, and an interval's time is divided in proportion to the samples. That is an estimate:
//! with n samples, a share p of the time has the standard error sqrt(p (1 - p) / n). It is
//! independent of the accounts of CPU and of the run queue, so that the sum of all of them is a
//! check. Each sample has the same weight: on a busy host a late one is more likely to find a
//! client waiting for a CPU, as the sampling thread was.
//!
//! Source: [Cochran 1977], section 3.2, for the error.

use std::fs::File;
use std::os::unix::fs::FileExt;

use model::{Nanos, Readings, metric};
use nix::unistd::Pid;

/// Mean time between two samples: at 2 us for each thread read and 10 us for waking up, they take
/// 0.2 % of one CPU for eight clients.
const PERIOD: Nanos = Nanos::from_millis(10);

/// Most threads read in one sample; of more clients, each sample reads the next ones in turn.
const THREADS_PER_SAMPLE: usize = 8;

/// Most threads that are sampled, evenly spread over the clients: each keeps a file open, of the
/// 1,024 that a process may have where nothing was changed.
const THREADS_MAX: usize = 32;

/// Step of the sequence that spreads the samples, so that they do not synchronize with the
/// clients: the golden ratio's, as a share of 2^64.
///
/// Source: [Knuth 1998], section 6.4, Fibonacci hashing.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// State of a thread in a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It runs, or is ready to.
    Ready,
    /// It waits and cannot be interrupted: for storage.
    Storage,
    /// It waits for a lock, another thread or a timer.
    Asleep,
}

/// Samples the states of the measured clients' threads; of none by default.
#[derive(Debug, Default)]
pub(super) struct ThreadStates {
    /// Those that are sampled.
    threads: Vec<File>,
    /// All of which they are a sample.
    clients: usize,
    /// Time up to which the estimate has been charged.
    charged_to: Nanos,
    last_at: Nanos,
    next_at: Nanos,
    /// Samples so far: decides the time to the next one.
    number: u64,
    /// The first thread of the next sample.
    turn: usize,
    counts: SampleCounts,
}

/// Samples by state, since the last interval's end.
#[derive(Debug, Clone, Copy, Default)]
struct SampleCounts {
    storage: u32,
    asleep: u32,
    /// All samples of threads, those of ended threads included.
    all: u32,
}

impl ThreadStates {
    /// Samples these threads of this process from a moment on.
    pub(super) fn begin(threads: &[Pid], from: Nanos) -> Self {
        let open = |thread: &Pid| File::open(format!("/proc/self/task/{thread}/stat")).ok();
        let (clients, every) = (threads.len(), threads.len().div_ceil(THREADS_MAX).max(1));
        let threads: Vec<File> = threads.iter().step_by(every).filter_map(open).collect();
        let next_at = from.after(distance(0));
        Self { threads, clients, charged_to: from, last_at: from, next_at, ..Self::default() }
    }

    /// Returns when the next sample is due; never without threads.
    pub(super) fn next_at(&self) -> Nanos {
        if self.threads.is_empty() { Nanos(u64::MAX) } else { self.next_at }
    }

    /// Takes a sample, if one is due.
    ///
    /// A thread that has ended waits for nothing.
    pub(super) fn sample(&mut self, now: Nanos) {
        if now < self.next_at() {
            return;
        }
        let all = self.threads.len();
        for _ in 0..all.min(THREADS_PER_SAMPLE) {
            self.turn = (self.turn + 1) % all;
            self.counts.all += 1;
            match state_of(&self.threads[self.turn]) {
                Some(State::Storage) => self.counts.storage += 1,
                Some(State::Asleep) => self.counts.asleep += 1,
                Some(State::Ready) | None => {}
            }
        }
        self.number += 1;
        self.last_at = now;
        self.next_at = now.after(distance(self.number));
    }

    /// Adds the estimate since the last call to an interval's readings.
    pub(super) fn add_to(&mut self, readings: &mut Readings) {
        if self.threads.is_empty() {
            return;
        }
        let SampleCounts { storage, asleep, all } = self.counts;
        // Without a sample the time is charged with the next interval.
        if all > 0 {
            let clients_us =
                self.last_at.since(self.charged_to).as_secs_f64() * 1e6 * self.clients as f64;
            let us = |samples: u32| clients_us * f64::from(samples) / f64::from(all);
            readings.add(metric::CLIENT_STORAGE_WAIT_US, us(storage));
            readings.add(metric::CLIENT_SLEEP_US, us(asleep));
            self.charged_to = self.last_at;
            self.counts = SampleCounts::default();
        }
        readings.add(metric::CLIENT_STATE_SAMPLES, f64::from(all));
    }
}

/// Returns the time from sample `number` to the next: half to one and a half periods.
const fn distance(number: u64) -> Nanos {
    let spread = number.wrapping_mul(GOLDEN) >> 44;
    Nanos(PERIOD.0 / 2 + ((PERIOD.0 * spread) >> 20))
}

/// Returns a thread's state; `None` when it has ended.
fn state_of(stat: &File) -> Option<State> {
    // The state is the third field, behind a name of at most 64 bytes.
    let mut text = [0; 128];
    let length = stat.read_at(&mut text, 0).ok()?;
    state_in(&text[..length])
}

/// Returns the state in the text of a `stat` file; `None` for a thread that has ended.
///
/// A wait for a page fault, a read, a write or a journal's commit cannot be interrupted; one for a
/// futex, a pipe, a socket or a timer can. An engine that waits for storage by io_uring or on
/// another thread of its own counts as asleep.
///
/// Source: proc(5), `/proc/pid/stat`, field 3.
fn state_in(stat: &[u8]) -> Option<State> {
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    match stat.get(end_of_name + 2)? {
        b'R' => Some(State::Ready),
        b'D' => Some(State::Storage),
        b'S' => Some(State::Asleep),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn the_state_follows_a_name_that_may_hold_anything() {
        assert_eq!(state_in(b"12 (client 0) R 1 1"), Some(State::Ready));
        assert_eq!(state_in(b"12 (a) D (b)) S 1 1"), Some(State::Asleep));
        assert_eq!(state_in(b"12 (client 0) D 1 1"), Some(State::Storage));
        assert_eq!((state_in(b"12 (client 0) Z 1"), state_in(b"12 (cl")), (None, None));
    }

    #[test]
    fn samples_come_a_hundred_times_a_second_at_irregular_distances() {
        let distances: Vec<u64> = (0..1_000).map(|number| distance(number).0).collect();
        let mean = distances.iter().sum::<u64>() / 1_000;
        assert!(mean.abs_diff(PERIOD.0) < PERIOD.0 / 500, "{mean}");
        assert!(distances.iter().all(|one| (PERIOD.0 / 2..=PERIOD.0 * 3 / 2).contains(one)));
    }

    /// Goal: unknown readings are absent, and time is charged in proportion to the samples.
    /// Method: a thread that waits for a message, and the one that samples; eleven threads are
    /// sampled eight at a time, and 500 have 32 open files.
    #[test]
    fn the_time_of_an_interval_is_charged_to_the_sampled_states() {
        let mut readings = Readings::new();
        let mut without_threads = ThreadStates::default();
        without_threads.sample(Nanos::SECOND);
        without_threads.add_to(&mut readings);
        assert!(readings.is_empty() && without_threads.next_at() == Nanos(u64::MAX));
        let ((ready, is_ready), (end, ended)) = (sync_channel(1), sync_channel::<()>(1));
        let waiter = std::thread::spawn(move || {
            ready.send(nix::unistd::gettid()).unwrap();
            ended.recv().unwrap_err();
        });
        let waiting = is_ready.recv().unwrap();
        for (threads, share) in
            [(vec![waiting], 1.0), (vec![waiting; 11], 11.0), (vec![waiting; 500], 500.0)]
        {
            let mut states = ThreadStates::begin(&threads, Nanos(0));
            assert_eq!(states.threads.len(), threads.len().min(32));
            // Until it has gone to sleep.
            while states.counts.asleep == 0 {
                states.counts = SampleCounts::default();
                states.sample(states.next_at());
            }
            states.add_to(&mut Readings::new());
            let begun = states.last_at;
            (1..=50).for_each(|_| states.sample(states.next_at()));
            let mut readings = Readings::new();
            states.add_to(&mut readings);
            let expected = states.last_at.since(begun).as_secs_f64() * 1e6 * share;
            let asleep = readings[metric::CLIENT_SLEEP_US];
            assert!((asleep / expected - 1.0).abs() < 1e-6, "{asleep} of {expected}");
            assert!((readings[metric::CLIENT_STATE_SAMPLES] - 50.0 * share.min(8.0)).abs() < 0.5);
            assert!(readings[metric::CLIENT_STORAGE_WAIT_US] < 1.0);
        }
        let mut ours = ThreadStates::begin(&[nix::unistd::gettid()], Nanos(0));
        ours.sample(ours.next_at());
        assert_eq!((ours.counts.all, ours.counts.asleep), (1, 0));
        // An ended thread waits for nothing, and still counts for its part of the time.
        let mut gone = ThreadStates::begin(&[waiting], Nanos(0));
        drop(end);
        waiter.join().unwrap();
        gone.sample(Nanos::SECOND);
        assert_eq!((gone.counts.all, gone.counts.asleep + gone.counts.storage), (1, 0));
    }
}
