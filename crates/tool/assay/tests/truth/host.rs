//! Host disturbances: CPU hogs, control groups, exclusive turns.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::group::Group;
use crate::sandbox::wrapped;

/// Turns of the tests of this program.
static TURN: RwLock<()> = RwLock::new(());

/// Waits until no other test runs; none begins until it is dropped.
pub(crate) fn take_turn() -> RwLockWriteGuard<'static, ()> {
    TURN.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no test runs that needs the CPUs; only others that mostly sleep run meanwhile.
pub(crate) fn share_turn() -> RwLockReadGuard<'static, ()> {
    TURN.read().unwrap_or_else(PoisonError::into_inner)
}

/// CPU-bound processes, killed on drop.
pub(crate) struct CpuHogs(Vec<Child>);

impl CpuHogs {
    /// Starts `count` processes on each CPU.
    pub(crate) fn on_each_cpu(count: usize) -> Self {
        let allowed = sched_getaffinity(None).expect("the CPUs of this process");
        let mut hogs = Self(Vec::new());
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            let mut one = CpuSet::new();
            one.set(cpu);
            for _ in 0..count {
                let mut command = Command::new("sh");
                command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
                let child = command.spawn().expect("a shell");
                let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                hogs.0.push(child);
                sched_setaffinity(pid, &one).expect("own child, allowed CPU");
            }
        }
        hogs
    }
}

impl Drop for CpuHogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            hog.kill().expect("own child");
            hog.wait().expect("own child");
        }
    }
}

impl Group {
    /// Creates a group with a CPU cap, as a share of one CPU.
    pub(crate) fn of_cpu(share: f64) -> Result<Self, String> {
        let period_us = 100_000;
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        let quota_us = (f64::from(period_us) * share) as i64;
        let old = [
            ("cpu.cfs_period_us", period_us.to_string()),
            ("cpu.cfs_quota_us", quota_us.to_string()),
        ];
        let new = [("cpu.max", format!("{quota_us} {period_us}"))];
        Self::make("cpu", &old, &new)
    }

    /// Creates a group with a cap on threads.
    pub(crate) fn of_threads(most: u32) -> Result<Self, String> {
        let limit = [("pids.max", most.to_string())];
        Self::make("pids", &limit, &limit)
    }

    /// Starts a command in the group.
    pub(crate) fn start(&self, command: &Command) -> Child {
        let mut shell = wrapped(&["sh", "-c", "read line; exec \"$@\" </dev/null", "sh"], command);
        let mut child = shell.spawn().expect("a shell");
        fs::write(self.processes(), child.id().to_string()).expect("own child and group");
        writeln!(child.stdin.take().expect("piped"), "go").expect("the shell reads");
        child
    }
}
