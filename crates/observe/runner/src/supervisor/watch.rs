//! Watchdog of a run: Ctrl-C, disk floor, hung engine.

use model::{Bytes, Nanos};

use super::workbench::Workbench;

/// How often the free disk space is read.
const DISK_EVERY: Nanos = Nanos::from_millis(500);

/// Shortest span in which this process was busy that is left out. Our choice: a message takes less,
/// and a flood of messages is no reason to wait for a worker.
const EXCUSED_MIN: Nanos = Nanos::from_secs(1);

/// Longest time from a request to stop to the end of a worker; then it is killed.
///
/// Our choice: operations in flight end in it on any usable engine, and a user still waits for it.
const STOP_WITHIN: Nanos = Nanos::from_secs(5);

/// Phase of a worker; decides how long it may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Clients run: operations must end.
    Clients,
    /// Statements outside of clients' spans, on a server: they are answered soon, or the worker
    /// sends heartbeats.
    Statements,
    /// Settling, building an index; in the worker also opening and closing: the engine may be busy
    /// up to the cap, and longer while the worker sends heartbeats.
    Engine,
}

/// A reason to stop or kill a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The user wants to stop after the operations in flight.
    Stop,
    /// The user wants to stop at once.
    StopNow,
    /// Free disk space is below the floor.
    DiskFloor(Bytes),
    /// It made no progress for that long.
    Hung(Nanos),
}

/// Watches one worker; raises each alarm once, and none after the run's end.
pub(crate) struct Watch {
    phase: Phase,
    alive_at: Nanos,
    disk_at: Nanos,
    operations: u64,
    /// When the worker was requested to stop.
    stop_at: Option<Nanos>,
    /// The lock that statements have waited for since the last progress; empty without a report.
    pub(crate) lock_wait: String,
    /// The worker was killed: no further alarms.
    pub(crate) is_over: bool,
}

impl Watch {
    /// Begins to watch a worker that is opening its engine.
    pub(crate) const fn begin(phase: Phase, now: Nanos) -> Self {
        Self {
            phase,
            alive_at: now,
            disk_at: now,
            operations: 0,
            stop_at: None,
            lock_wait: String::new(),
            is_over: false,
        }
    }

    /// Notes progress.
    pub(crate) fn alive(&mut self, now: Nanos) {
        self.alive_at = now;
        self.lock_wait.clear();
    }

    /// Notes the lock that statements wait for, and returns it.
    pub(crate) fn waits_for(&mut self, lock: String) -> &str {
        self.lock_wait = lock;
        &self.lock_wait
    }

    /// Leaves out a long span in which this process was busy, as with a slow disk.
    pub(crate) fn excuse(&mut self, span: Nanos) {
        if span >= EXCUSED_MIN {
            self.alive_at = self.alive_at.after(span);
        }
    }

    /// Notes the begin of a phase, which is progress.
    pub(crate) fn enter(&mut self, phase: Phase, now: Nanos) {
        self.phase = phase;
        self.operations = 0;
        self.alive(now);
    }

    /// Notes a heartbeat; it is progress when operations ended since the last.
    pub(crate) fn heartbeat(&mut self, operations: u64, now: Nanos) {
        if operations != self.operations || self.phase != Phase::Clients {
            self.operations = operations;
            self.alive(now);
        }
    }

    /// Checks all conditions; `settle_cap` is that of the current step.
    pub(crate) fn check(
        &mut self,
        bench: &Workbench<'_>,
        settle_cap: Nanos,
        now: Nanos,
    ) -> Option<Alarm> {
        if self.is_over {
            return None;
        }
        let level = bench.interrupt.level();
        if level > 0 {
            let is_requested = self.stop_at.is_some();
            let waited = now.since(*self.stop_at.get_or_insert(now));
            if level > 1 || waited > STOP_WITHIN {
                return Some(Alarm::StopNow);
            }
            if !is_requested {
                return Some(Alarm::Stop);
            }
        }
        if now.since(self.disk_at) >= DISK_EVERY {
            self.disk_at = now;
            // A file system that reports an error is not known to be full.
            let free = bench.data.free().ok().filter(|free| *free < bench.disk_floor);
            if let Some(free) = free {
                return Some(Alarm::DiskFloor(free));
            }
        }
        let waited = now.since(self.alive_at);
        let timeout = match self.phase {
            Phase::Clients | Phase::Statements => bench.watchdog,
            Phase::Engine => bench.watchdog.after(settle_cap),
        };
        (waited > timeout).then_some(Alarm::Hung(waited))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::supervisor::data::DataRoot;
    use crate::supervisor::process::WorkerProgram;
    use crate::supervisor::workbench::Interrupt;

    const CAP: Nanos = Nanos::from_secs(60);

    /// Tests with a watchdog of 10 s.
    fn with_bench(disk_floor: Bytes, test: impl FnOnce(&Workbench<'_>)) {
        let dir = tempfile::tempdir().unwrap();
        let data = DataRoot::take(dir.path(), &mut |_| ()).unwrap();
        test(&Workbench {
            program: WorkerProgram { path: "none".into(), arguments: Vec::new() },
            data: &data,
            libraries: BTreeMap::new(),
            servers: BTreeMap::new(),
            server_user: None,
            allocators: malloc::Libraries::default(),
            watchdog: Nanos::from_secs(10),
            disk_floor,
            snapshot_limit: None,
            profiler: None,
            drive: None,
            machine: None,
            block: None,
            clients: None,
            confinement: None,
            interrupt: Interrupt::default(),
        });
    }

    fn at(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    #[test]
    fn clients_must_end_operations_within_the_watchdogs_time() {
        with_bench(Bytes(0), |bench| {
            let mut watch = Watch::begin(Phase::Engine, at(0));
            watch.enter(Phase::Clients, at(1));
            watch.heartbeat(5, at(8));
            watch.heartbeat(5, at(17));
            assert_eq!(watch.check(bench, CAP, at(18)), None);
            assert_eq!(watch.check(bench, CAP, at(19)), Some(Alarm::Hung(at(11))));
        });
    }

    #[test]
    fn time_in_which_the_parent_is_busy_is_no_silence() {
        with_bench(Bytes(0), |bench| {
            let mut watch = Watch::begin(Phase::Engine, at(0));
            watch.enter(Phase::Clients, at(1));
            watch.excuse(at(20));
            // A flood of messages keeps this process as busy, and is no progress.
            (0..1_000).for_each(|_| watch.excuse(Nanos::from_millis(20)));
            assert_eq!(watch.check(bench, CAP, at(31)), None);
            assert_eq!(watch.check(bench, CAP, at(32)), Some(Alarm::Hung(at(11))));
        });
    }

    #[test]
    fn the_settle_cap_extends_the_watchdog_of_an_engine_phase() {
        with_bench(Bytes(0), |bench| {
            let mut watch = Watch::begin(Phase::Engine, at(0));
            assert_eq!(watch.check(bench, CAP, at(70)), None);
            assert_eq!(watch.check(bench, CAP, at(71)), Some(Alarm::Hung(at(71))));
            watch.heartbeat(0, at(71));
            assert_eq!(watch.check(bench, CAP, at(72)), None);
        });
    }

    #[test]
    fn a_second_interrupt_stops_at_once() {
        with_bench(Bytes(0), |bench| {
            let mut watch = Watch::begin(Phase::Engine, at(0));
            bench.interrupt.raise();
            assert_eq!(watch.check(bench, CAP, at(1)), Some(Alarm::Stop));
            assert_eq!(watch.check(bench, CAP, at(1)), None);
            bench.interrupt.raise();
            assert_eq!(watch.check(bench, CAP, at(1)), Some(Alarm::StopNow));
            watch.is_over = true;
            assert_eq!(watch.check(bench, CAP, at(1_000)), None);
        });
    }

    #[test]
    fn an_ignored_stop_ends_the_worker_within_seconds() {
        for phase in [Phase::Clients, Phase::Statements, Phase::Engine] {
            with_bench(Bytes(0), |bench| {
                let mut watch = Watch::begin(phase, at(0));
                bench.interrupt.raise();
                assert_eq!(watch.check(bench, CAP, at(1)), Some(Alarm::Stop));
                // Whatever the worker sends: a long query has heartbeats.
                watch.heartbeat(9, at(6));
                assert_eq!(watch.check(bench, CAP, at(6)), None);
                assert_eq!(watch.check(bench, CAP, at(7)), Some(Alarm::StopNow));
            });
        }
    }

    #[test]
    fn the_settle_cap_is_no_time_of_a_server_that_does_not_settle() {
        with_bench(Bytes(0), |bench| {
            let mut watch = Watch::begin(Phase::Statements, at(0));
            assert_eq!(watch.check(bench, CAP, at(10)), None);
            assert_eq!(watch.check(bench, CAP, at(11)), Some(Alarm::Hung(at(11))));
            watch.heartbeat(0, at(11));
            assert_eq!(watch.check(bench, CAP, at(12)), None);
        });
    }

    #[test]
    fn a_disk_below_the_floor_is_noticed_within_half_a_second() {
        with_bench(Bytes(u64::MAX), |bench| {
            let mut watch = Watch::begin(Phase::Engine, at(0));
            assert_eq!(watch.check(bench, CAP, Nanos::from_millis(499)), None);
            let alarm = watch.check(bench, CAP, Nanos::from_millis(500));
            assert!(matches!(alarm, Some(Alarm::DiskFloor(_))), "{alarm:?}");
        });
    }
}
