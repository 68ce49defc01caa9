//! What blocked clients wait for: seen by looking at their threads now and then.
//!
//! The kernel counts exactly how long a thread ran and how long it was ready to; why it was
//! blocked, most kernels do not count. So each thread's state is read about a hundred times a
//! second, and the time between two cuts is divided as the looks were. That is an estimate: with n
//! looks, a share p of the time has the standard error sqrt(p (1 - p) / n). It takes nothing from
//! the accounts of CPU and of the run queue, so that the sum of all of them is a check. Each look
//! counts alike: on a busy host a late one is more likely to find a client waiting for a CPU, as
//! the looker was.
//!
//! Source: W. G. Cochran, 1977, "Sampling Techniques", 3rd edition, section 3.2, for the error.

use std::fs::File;
use std::os::unix::fs::FileExt;

use model::{Nanos, Readings};
use nix::unistd::Pid;

use crate::usage::sum;

/// Mean distance of two looks: at 2 us for each thread read and 10 us for waking up, they take
/// 0.2 % of one CPU for eight clients.
const PERIOD: Nanos = Nanos::from_millis(10);

/// Most threads read in one look; of more clients, each look reads the next ones in turn.
const THREADS_PER_LOOK: usize = 8;

/// Step of the sequence that spreads the looks, so that they keep no time with the clients: the
/// golden ratio's, as a share of 2^64.
///
/// Source: D. E. Knuth, 1998, "The Art of Computer Programming", volume 3, 2nd edition, section
/// 6.4, Fibonacci hashing.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a thread is seen to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It runs, or is ready to.
    Ready,
    /// It waits and cannot be interrupted: for storage.
    Storage,
    /// It waits for a lock, another thread or a timer.
    Asleep,
}

/// Looks at the measured clients' threads; nobody's by default.
#[derive(Debug, Default)]
pub(super) struct Looks {
    threads: Vec<File>,
    /// Up to here the time is charged.
    charged_to: Nanos,
    last_at: Nanos,
    next_at: Nanos,
    /// Looks so far: decides the distance to the next one.
    number: u64,
    /// The first thread of the next look.
    turn: usize,
    seen: Seen,
}

/// How many looks found what, since the last cut.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    storage: u32,
    asleep: u32,
    /// Looks at a thread, of one that had ended too.
    all: u32,
}

impl Looks {
    /// Begins to look at these threads of this process, from a moment on.
    pub(super) fn begin(threads: &[Pid], from: Nanos) -> Self {
        let open = |thread: &Pid| File::open(format!("/proc/self/task/{thread}/stat")).ok();
        let threads: Vec<File> = threads.iter().filter_map(open).collect();
        let next_at = from.after(distance(0));
        Self { threads, charged_to: from, last_at: from, next_at, ..Self::default() }
    }

    /// Returns when the next look is due; never where there is nobody to look at.
    pub(super) fn next_at(&self) -> Nanos {
        if self.threads.is_empty() { Nanos(u64::MAX) } else { self.next_at }
    }

    /// Looks, if it is time to.
    ///
    /// A thread that has ended is not waiting for anything.
    pub(super) fn look(&mut self, now: Nanos) {
        if now < self.next_at() {
            return;
        }
        let all = self.threads.len();
        for _ in 0..all.min(THREADS_PER_LOOK) {
            self.turn = (self.turn + 1) % all;
            self.seen.all += 1;
            match state_of(&self.threads[self.turn]) {
                Some(State::Storage) => self.seen.storage += 1,
                Some(State::Asleep) => self.seen.asleep += 1,
                Some(State::Ready) | None => {}
            }
        }
        self.number += 1;
        self.last_at = now;
        self.next_at = now.after(distance(self.number));
    }

    /// Adds what was seen since the last call to an interval's readings.
    pub(super) fn add_to(&mut self, readings: &mut Readings) {
        if self.threads.is_empty() {
            return;
        }
        let Seen { storage, asleep, all } = self.seen;
        // Without a look the time is left for the next cut.
        if all > 0 {
            let clients_us =
                self.last_at.since(self.charged_to).as_secs_f64() * 1e6 * self.threads.len() as f64;
            let us = |seen: u32| clients_us * f64::from(seen) / f64::from(all);
            sum(readings, "client_storage_wait_us", us(storage));
            sum(readings, "client_sleep_us", us(asleep));
            self.charged_to = self.last_at;
            self.seen = Seen::default();
        }
        sum(readings, "client_looks", f64::from(all));
    }
}

/// Returns the distance from look `number` to the next one: half to one and a half periods.
const fn distance(number: u64) -> Nanos {
    let spread = number.wrapping_mul(GOLDEN) >> 44;
    Nanos(PERIOD.0 / 2 + ((PERIOD.0 * spread) >> 20))
}

/// Returns what the thread does; `None` when it has ended.
fn state_of(stat: &File) -> Option<State> {
    // The state is the third field, behind a name of at most 64 bytes.
    let mut text = [0; 128];
    let length = stat.read_at(&mut text, 0).ok()?;
    state_in(&text[..length])
}

/// Returns the state in the text of a `stat` file; `None` for a thread that has ended.
///
/// What waits for a page fault, a read, a write or a journal's commit cannot be interrupted; what
/// waits for a futex, a pipe, a socket or a timer can. An engine that waits for storage by
/// io_uring or on another thread of its own is seen asleep.
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
    fn looks_come_a_hundred_times_a_second_and_never_in_step() {
        let distances: Vec<u64> = (0..1_000).map(|number| distance(number).0).collect();
        let mean = distances.iter().sum::<u64>() / 1_000;
        assert!(mean.abs_diff(PERIOD.0) < PERIOD.0 / 500, "{mean}");
        assert!(distances.iter().all(|one| (PERIOD.0 / 2..=PERIOD.0 * 3 / 2).contains(one)));
    }

    /// Goal: what is not known is absent, and time is charged as the looks were.
    /// Method: a thread that waits for a message, and one, ours, that looks; eleven threads are
    /// seen eight at a time.
    #[test]
    fn the_time_between_cuts_is_charged_to_what_is_seen() {
        let mut readings = Readings::new();
        let mut nobody = Looks::default();
        nobody.look(Nanos::SECOND);
        nobody.add_to(&mut readings);
        assert!(readings.is_empty() && nobody.next_at() == Nanos(u64::MAX));
        let ((tell, told), (end, ended)) = (sync_channel(1), sync_channel::<()>(1));
        let waiter = std::thread::spawn(move || {
            tell.send(nix::unistd::gettid()).unwrap();
            ended.recv().unwrap_err();
        });
        let waiting = told.recv().unwrap();
        for (threads, share) in [(vec![waiting], 1.0), (vec![waiting; 11], 11.0)] {
            let mut looks = Looks::begin(&threads, Nanos(0));
            // Until it has gone to sleep.
            while looks.seen.asleep == 0 {
                looks.seen = Seen::default();
                looks.look(looks.next_at());
            }
            looks.add_to(&mut Readings::new());
            let spent = looks.last_at;
            (1..=50).for_each(|_| looks.look(looks.next_at()));
            let mut readings = Readings::new();
            looks.add_to(&mut readings);
            let expected = looks.last_at.since(spent).as_secs_f64() * 1e6 * share;
            let asleep = readings["client_sleep_us"];
            assert!((asleep / expected - 1.0).abs() < 1e-6, "{asleep} of {expected}");
            assert!((readings["client_looks"] - 50.0 * share.min(8.0)).abs() < 0.5);
            assert!(readings["client_storage_wait_us"] < 1.0);
        }
        let mut ours = Looks::begin(&[nix::unistd::gettid()], Nanos(0));
        ours.look(ours.next_at());
        assert_eq!((ours.seen.all, ours.seen.asleep), (1, 0));
        // Who has ended waits for nothing, and still stands for its part of the time.
        let mut gone = Looks::begin(&[waiting], Nanos(0));
        drop(end);
        waiter.join().unwrap();
        gone.look(Nanos::SECOND);
        assert_eq!((gone.seen.all, gone.seen.asleep + gone.seen.storage), (1, 0));
    }
}
