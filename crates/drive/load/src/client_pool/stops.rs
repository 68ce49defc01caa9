//! Time in which the process was stopped, and did not only wait.

use model::Nanos;
use nix::unistd::{Pid, gettid};

use crate::usage::SchedStat;

/// Lateness of a timed wait on a busy host that is no stop. Our choice.
const LATE: Nanos = Nanos::from_millis(1);

/// Share of the time from which clients count as busy: only then their silence is evidence. Our
/// choice.
const BUSY_SHARE: f64 = 0.9;

/// Clients whose accounts are read, at 1 us each.
const WITNESSES: usize = 8;

/// Finds for how long the process was stopped when a timed wait of its coordinator ends late.
///
/// A thread that is stopped, frozen or suspended neither runs nor is ready to. So the process was
/// stopped for no longer than the coordinator was late without being ready to run, and for no
/// longer than the busiest of some clients neither ran nor was ready to: of a crowd on few CPUs the
/// coordinator may wait for a CPU, or for a lock or a page that another thread holds.
pub(super) struct Stops {
    coordinator: Account,
    clients: Vec<Account>,
    /// When the clients' accounts were read.
    read_at: Nanos,
    /// Time so far in which the process was not stopped.
    watched: Nanos,
    /// Time so far in which the busiest client was active.
    active: Nanos,
}

/// How long one thread ran or was ready to, as of the last reading.
struct Account {
    /// `None` where the kernel does not report it.
    stat: Option<SchedStat>,
    active: Nanos,
}

impl From<Option<SchedStat>> for Account {
    fn from(stat: Option<SchedStat>) -> Self {
        let mut account = Self { stat, active: Nanos(0) };
        account.growth();
        account
    }
}

impl Account {
    fn of(thread: Pid) -> Self {
        Self::from(SchedStat::of_thread(thread))
    }

    /// Returns the growth since the last reading; zero when the thread has ended.
    fn growth(&mut self) -> Nanos {
        let now = self.stat.as_ref().and_then(SchedStat::read).map_or(self.active, |t| t.active());
        now.since(std::mem::replace(&mut self.active, now))
    }
}

impl Stops {
    /// Watches the calling thread, and some of the clients' threads, from `now` on.
    pub(super) fn begin(threads: &[Pid], now: Nanos) -> Self {
        let every = threads.len().div_ceil(WITNESSES).max(1);
        let clients = threads.iter().step_by(every).map(|thread| Account::of(*thread)).collect();
        let (coordinator, watched, active) = (Account::of(gettid()), Nanos(0), Nanos(0));
        Self { coordinator, clients, read_at: now, watched, active }
    }

    /// Notes that the coordinator begins its work before a timed wait.
    pub(super) fn begin_wait(&mut self) {
        self.coordinator.growth();
    }

    /// Returns for how long the process was stopped in a timed wait of the coordinator that began
    /// at `begun`, should have ended at `wake` and did at `now`.
    ///
    /// A process that was stopped for longer than the wait is charged at least the rest. Lateness
    /// before the wait may be the engine's, whose state was read, unless busy clients stood still.
    pub(super) fn end_wait(&mut self, wake: Nanos, begun: Nanos, now: Nanos) -> Nanos {
        let are_busy = self.active.0 as f64 > BUSY_SHARE * self.watched.0 as f64;
        let late = now.since(if are_busy { wake } else { wake.max(begun) });
        if late <= LATE {
            return Nanos(0);
        }
        let active = self.coordinator.growth();
        let stopped = self.clients_idle(now).min(late.since(active));
        self.watched = self.watched.since(stopped);
        stopped
    }

    /// Returns for how long no client was active since the last call.
    ///
    /// Called at least once per interval: over a long time no client is always active.
    pub(super) fn clients_idle(&mut self, now: Nanos) -> Nanos {
        let active = self.clients.iter_mut().map(Account::growth).max().unwrap_or_default();
        let watched = now.since(std::mem::replace(&mut self.read_at, now));
        (self.watched, self.active) = (self.watched.after(watched), self.active.after(active));
        watched.since(active)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::usage::scripted;

    /// Writes how long a thread has run and was ready to, ms.
    fn write_ms(path: &Path, [run, queued]: [u64; 2]) {
        std::fs::write(path, format!("{}000000 {}000000 3\n", run, queued)).unwrap();
    }

    /// Goal: only a process that was stopped is paused, however late its coordinator is.
    /// Method: waits that should have ended after 25 ms and end after 325 ms by the clock, next to
    /// scripted accounts of the coordinator and of two clients.
    #[test]
    fn a_wait_for_a_cpu_or_a_lock_is_no_pause() {
        let dir = tempfile::tempdir().unwrap();
        let [own, idle, busy] = ["own", "idle", "busy"].map(|name| dir.path().join(name));
        // Growth of each in the wait: run, and ready to.
        for (name, own_ms, busy_ms, pause_ms) in [
            ("on a host without accounts", None, None, 300),
            ("stopped", Some([0, 0]), Some([20, 4]), 300),
            ("stopped, all clients wait", Some([0, 0]), Some([0, 0]), 300),
            ("stopped, then without a CPU", Some([0, 100]), Some([20, 100]), 200),
            ("without a CPU, all clients wait", Some([1, 298]), Some([0, 0]), 1),
            ("behind a lock that a busy client has", Some([0, 0]), Some([5, 320]), 0),
        ] {
            write_ms(&own, [7, 4_000]);
            write_ms(&idle, [5, 5]);
            write_ms(&busy, [300, 600]);
            let account = |path, is_known: bool| Account::from(is_known.then(|| scripted(path)));
            let clients = vec![account(&idle, true), account(&busy, busy_ms.is_some())];
            let coordinator = account(&own, own_ms.is_some());
            let (read_at, watched, active) = (Nanos(0), Nanos(0), Nanos(0));
            let mut stops = Stops { coordinator, clients, read_at, watched, active };
            // What was before the wait is no part of it.
            write_ms(&own, [9, 9_000]);
            write_ms(&busy, [600, 1_300]);
            stops.begin_wait();
            stops.clients_idle(Nanos::SECOND);
            let [run, queued] = own_ms.unwrap_or_default();
            write_ms(&own, [9 + run, 9_000 + queued]);
            let [run, queued] = busy_ms.unwrap_or_default();
            write_ms(&busy, [600 + run, 1_300 + queued]);
            let [wake, now] = [1_025, 1_325].map(Nanos::from_millis);
            assert_eq!(stops.end_wait(wake, wake, now), Nanos::from_millis(pause_ms), "{name}");
            // Nothing is charged twice, and a late wake-up is no pause.
            assert_eq!(stops.end_wait(now, now, now.after(LATE)), Nanos(0), "{name}");
            assert_eq!(stops.end_wait(wake, wake, wake), Nanos(0), "{name}");
        }
    }

    /// Goal: a coordinator that waited for the engine's state, as its clients did for the engine,
    /// was not stopped; one whose busy clients stood still was.
    #[test]
    fn lateness_before_the_wait_is_a_pause_where_busy_clients_stood_still() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("client");
        for (busy_ms, pause_ms) in [(990, 400), (300, 0)] {
            write_ms(&path, [0, 0]);
            let clients = vec![Account::from(Some(scripted(&path)))];
            let (coordinator, read_at) = (Account::from(None), Nanos(0));
            let (watched, active) = (Nanos(0), Nanos(0));
            let mut stops = Stops { coordinator, clients, read_at, watched, active };
            write_ms(&path, [busy_ms, 0]);
            stops.clients_idle(Nanos::SECOND);
            // It read the engine's state until 1.4 s, and should have woken at 1 s.
            let [wake, now] = [1_000, 1_400].map(Nanos::from_millis);
            assert_eq!(stops.end_wait(wake, now, now), Nanos::from_millis(pause_ms));
        }
    }

    #[test]
    fn eight_of_many_clients_are_watched() {
        let own = gettid();
        for (clients, watched) in [(0, 0), (1, 1), (8, 8), (9, 5), (512, 8)] {
            let stops = Stops::begin(&vec![own; clients], Nanos(0));
            assert_eq!(stops.clients.len(), watched);
        }
    }
}
