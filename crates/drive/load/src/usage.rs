//! CPU time, context switches and faults of threads and of the process.

use std::fs::File;
use std::os::unix::fs::FileExt;

use model::{Nanos, Readings, metric};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;

/// Totals of one thread or of the process since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    user_us: u64,
    kernel_us: u64,
    voluntary: u64,
    involuntary: u64,
    major_faults: u64,
    minor_faults: u64,
}

impl Usage {
    /// Returns the totals of the calling thread.
    pub(crate) fn of_thread() -> Self {
        Self::of(UsageWho::RUSAGE_THREAD)
    }

    /// Returns the totals of all threads of the process, ended ones included.
    pub(crate) fn of_process() -> Self {
        Self::of(UsageWho::RUSAGE_SELF)
    }

    fn of(who: UsageWho) -> Self {
        let usage = getrusage(who).expect("the kernel knows both kinds of caller");
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        Self {
            user_us: count(usage.user_time().num_microseconds()),
            kernel_us: count(usage.system_time().num_microseconds()),
            voluntary: count(usage.voluntary_context_switches()),
            involuntary: count(usage.involuntary_context_switches()),
            major_faults: count(usage.major_page_faults()),
            minor_faults: count(usage.minor_page_faults()),
        }
    }

    /// Returns the growth since `earlier`.
    pub(crate) const fn since(&self, earlier: &Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            kernel_us: self.kernel_us.saturating_sub(earlier.kernel_us),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }

    /// Adds the usage of one client thread, of a measured client or a writer.
    pub(crate) fn add_as_client(&self, readings: &mut Readings) {
        readings.add(metric::CLIENT_CPU_USER_US, self.user_us);
        readings.add(metric::CLIENT_CPU_KERNEL_US, self.kernel_us);
        readings.add(metric::CLIENT_CONTEXT_SWITCHES_VOLUNTARY, self.voluntary);
        readings.add(metric::CLIENT_CONTEXT_SWITCHES_INVOLUNTARY, self.involuntary);
    }

    /// Adds the usage of one background writer, which is also in that of all client threads.
    pub(crate) fn add_as_writer(&self, readings: &mut Readings) {
        readings.add(metric::WRITER_CPU_USER_US, self.user_us);
        readings.add(metric::WRITER_CPU_KERNEL_US, self.kernel_us);
    }
}

/// Returns the process's cumulative usage, under the names of the metrics.
///
/// For phases without clients, such as a settle; the calling thread counts as the harness.
pub fn process_readings() -> Readings {
    let mut readings = Readings::new();
    ProcessUsage::now().add_to(&mut readings);
    readings
}

/// Totals of the process, and of the coordinator's own thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessUsage {
    process: Usage,
    harness: Usage,
}

impl ProcessUsage {
    /// Returns the totals now; called by the coordinator's thread.
    pub(crate) fn now() -> Self {
        Self { process: Usage::of_process(), harness: Usage::of_thread() }
    }

    /// Returns the growth since `earlier`.
    pub(crate) const fn since(&self, earlier: &Self) -> Self {
        Self {
            process: self.process.since(&earlier.process),
            harness: self.harness.since(&earlier.harness),
        }
    }

    /// Adds the growth to an interval's readings.
    pub(crate) fn add_to(&self, readings: &mut Readings) {
        readings.add(metric::PROCESS_CPU_USER_US, self.process.user_us);
        readings.add(metric::PROCESS_CPU_KERNEL_US, self.process.kernel_us);
        readings.add(metric::HARNESS_CPU_US, self.harness.user_us + self.harness.kernel_us);
        readings.add(metric::CONTEXT_SWITCHES_VOLUNTARY, self.process.voluntary);
        readings.add(metric::CONTEXT_SWITCHES_INVOLUNTARY, self.process.involuntary);
        readings.add(metric::MAJOR_FAULTS, self.process.major_faults);
        readings.add(metric::MINOR_FAULTS, self.process.minor_faults);
    }
}

/// The kernel's account of one thread.
pub(crate) struct SchedStat(File);

/// Time of one thread since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchedTimes {
    /// Time it ran.
    run: Nanos,
    /// Time it was ready to run and had no CPU.
    queued: Nanos,
}

impl SchedStat {
    /// Opens the account of a thread of this process; `None` when the kernel has none.
    pub(crate) fn of_thread(thread: Pid) -> Option<Self> {
        Some(Self(File::open(format!("/proc/self/task/{thread}/schedstat")).ok()?))
    }

    /// Reads the account in an open `schedstat` file; `None` when the thread has ended.
    pub(crate) fn read(&self) -> Option<SchedTimes> {
        // Three numbers of at most 20 digits.
        let mut text = [0; 64];
        let length = self.0.read_at(&mut text, 0).ok()?;
        SchedTimes::parse(&text[..length])
    }
}

/// Returns for how long the calling thread was ready to run and had no CPU, in all; `None` when the
/// kernel does not report it.
pub fn thread_run_queue() -> Option<Nanos> {
    let stat = SchedStat(File::open("/proc/thread-self/schedstat").ok()?);
    stat.read().map(|times| times.queued)
}

impl SchedTimes {
    /// Returns how long it ran or was ready to: neither while it waits or is stopped.
    pub(crate) const fn active(self) -> Nanos {
        self.run.after(self.queued)
    }

    /// Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`: time spent
    /// on the CPU, time spent waiting on a run queue (both ns), timeslices run.
    fn parse(schedstat: &[u8]) -> Option<Self> {
        let mut numbers = std::str::from_utf8(schedstat).ok()?.split_whitespace();
        let mut next = || numbers.next()?.parse().ok().map(Nanos);
        Some(Self { run: next()?, queued: next()? })
    }
}

/// How long one thread was ready to run and had no CPU, as the kernel counts it.
///
/// No file stays open: there are as many of these as clients.
pub(crate) struct RunQueue {
    thread: Pid,
    last: Nanos,
}

impl RunQueue {
    /// Begins the account of a thread of this process; `None` when the kernel has none.
    pub(crate) fn of_thread(thread: Pid) -> Option<Self> {
        let last = SchedStat::of_thread(thread)?.read()?.queued;
        Some(Self { thread, last })
    }

    /// Returns the growth since the last call; zero when the thread has ended.
    pub(crate) fn growth(&mut self) -> Nanos {
        let now = SchedStat::of_thread(self.thread).and_then(|stat| stat.read());
        self.growth_to(now.map_or(self.last, |times| times.queued))
    }

    /// Returns the growth since the last call, from a total that the thread itself has read.
    pub(crate) fn growth_to(&mut self, total: Nanos) -> Nanos {
        let growth = total.since(self.last);
        self.last = self.last.max(total);
        growth
    }
}

/// Opens a `schedstat` file that a test writes.
#[cfg(test)]
pub(crate) fn scripted(path: &std::path::Path) -> SchedStat {
    SchedStat(File::open(path).expect("the test wrote it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_a_cpu_is_the_second_number_and_grows() {
        let times = SchedTimes::parse(b"1510 2720 3\n").unwrap();
        assert_eq!((times.queued, times.active()), (Nanos(2720), Nanos(4230)));
        assert_eq!((SchedTimes::parse(b"1510"), SchedTimes::parse(b"1510 x 3")), (None, None));
        if !std::fs::exists("/proc/self/schedstat").unwrap() {
            println!("skipped: the kernel does not count it");
            return;
        }
        let mut queue = RunQueue::of_thread(nix::unistd::gettid()).unwrap();
        let before = queue.last;
        let total = thread_run_queue().unwrap();
        assert!(total >= before);
        assert_eq!(queue.growth_to(total.after(Nanos(50))), total.after(Nanos(50)).since(before));
        // Time counted before is not counted again.
        assert!(queue.growth() < Nanos::SECOND);
        let of_ended_thread = RunQueue::of_thread(Pid::from_raw(i32::MAX));
        assert!(of_ended_thread.is_none());
    }

    #[test]
    fn work_is_charged_to_the_thread_that_does_it() {
        let before = ProcessUsage::now();
        let mut sum = 0u64;
        let mut now = before;
        for _ in 0..10_000 {
            sum = (0..20_000u64).fold(sum, |a, b| a.wrapping_mul(31) ^ std::hint::black_box(b));
            now = ProcessUsage::now();
            if now.since(&before).harness.user_us > 0 {
                break;
            }
        }
        let growth = now.since(&before);
        assert!(growth.harness.user_us > 0, "{sum} {growth:?}");
        assert!(growth.process.user_us + growth.process.kernel_us > 0);
        let mut readings = Readings::new();
        growth.add_to(&mut readings);
        let mut total = readings.clone();
        total.merge(&readings);
        assert!(total[metric::HARNESS_CPU_US] >= 2.0);
    }
}
