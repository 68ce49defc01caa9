//! Threads and memory of a server's processes, from `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use model::{Metric, Readings, metric};

use super::process::uncounted_write_maps;
use crate::kernel_file::{bytes_of, read_of_process, value_of};

/// Counts of a server's threads so far.
#[derive(Debug, Default)]
pub(crate) struct ServerProcesses {
    switches: ThreadSum,
    /// Nanoseconds.
    run_queue: ThreadSum,
    /// The largest sum of each of [`IO`] so far.
    io: [Option<u64>; IO.len()],
}

/// Bytes that processes read and write: reading, key in `/proc/PID/io`.
///
/// Source: Linux, Documentation/filesystems/proc.rst, section 3.3.
const IO: [(Metric, &str); 3] = [
    (metric::SERVER_WRITE_CALL_BYTES, "wchar"),
    (metric::SERVER_DIRTIED_BYTES, "write_bytes"),
    (metric::SERVER_READ_BYTES, "read_bytes"),
];

impl ServerProcesses {
    /// Adds the readings of processes.
    pub(crate) fn sample(&mut self, pids: &[u32], is_boundary: bool, readings: &mut Readings) {
        readings.set(metric::SERVER_PROCESSES, pids.len() as u64);
        let threads: Vec<(u32, PathBuf)> = pids.iter().copied().flat_map(threads).collect();
        let switches = self.switches.update(counts(&threads, "status", switches_in));
        readings.set(metric::SERVER_CONTEXT_SWITCHES, switches);
        let queued = counts(&threads, "schedstat", queued_in);
        // A kernel may not count it.
        if !queued.is_empty() || threads.is_empty() {
            readings.set(metric::SERVER_RUN_QUEUE_US, self.run_queue.update(queued) / 1000);
        }
        readings.extend(self.io(pids));
        if is_boundary {
            let maps = pids.iter().filter_map(|pid| uncounted_write_maps(*pid));
            readings.set(metric::UNCOUNTED_WRITE_MAPS, maps.reduce(|sum, one| sum + one));
        }
        add_memory(pids.iter().filter_map(|pid| read_of_process(*pid, "status")), readings);
    }

    /// Returns the bytes that these processes read and wrote so far.
    ///
    /// The bytes of a process pass to its parent, which waits for it. In between the sum is too
    /// small.
    ///
    /// Source: Linux, kernel/exit.c, `wait_task_zombie`.
    fn io(&mut self, pids: &[u32]) -> Readings {
        let files: Vec<String> =
            pids.iter().filter_map(|pid| read_of_process(*pid, "io")).collect();
        let all = IO.iter().zip(&mut self.io);
        let largest = all.map(|((metric, key), largest)| {
            let sum =
                files.iter().filter_map(|text| value_of(text, key)).reduce(|sum, one| sum + one);
            *largest = (*largest).max(sum);
            (*metric, *largest)
        });
        largest.collect()
    }
}

/// Adds the memory in the texts of `/proc/PID/status`.
///
/// Pages of files and of shared memory are counted once, as far as the process with the most of
/// them has them; an address space is one process's.
///
/// Source: proc(5), `/proc/pid/status`; the largest process, as [Callaghan 2023-01-05] shows it.
fn add_memory(processes: impl Iterator<Item = String>, readings: &mut Readings) {
    let all: Vec<[Option<u64>; 4]> = processes
        .map(|text| ["RssAnon", "RssFile", "RssShmem", "VmSize"].map(|key| bytes_of(&text, key)))
        .collect();
    let of = |key: usize| all.iter().filter_map(move |process| process[key]);
    let anonymous = of(0).reduce(|sum, one| sum + one);
    let shared = of(1).max().zip(of(2).max()).map(|(file, memory)| file + memory);
    let resident = anonymous.zip(shared).map(|(own, shared)| own + shared);
    readings.set(metric::SERVER_RSS_BYTES, resident);
    readings.set(metric::SERVER_VSZ_BYTES, of(3).max());
}

/// Returns the count in a file of each thread; of one that has ended none.
fn counts(
    threads: &[(u32, PathBuf)],
    file: &str,
    count: fn(&str) -> Option<u64>,
) -> BTreeMap<u32, u64> {
    let of = |(thread, dir): &(u32, PathBuf)| {
        Some((*thread, count(&fs::read_to_string(dir.join(file)).ok()?)?))
    };
    threads.iter().filter_map(of).collect()
}

/// Returns the context switches in the text of `/proc/PID/task/TID/status`.
fn switches_in(text: &str) -> Option<u64> {
    Some(value_of(text, "voluntary_ctxt_switches")? + value_of(text, "nonvoluntary_ctxt_switches")?)
}

/// Returns the second number of a `schedstat` file: time on the run queue, ns.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`.
fn queued_in(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Sum of a count over threads; what threads counted that have ended stays in it.
#[derive(Debug, Default)]
struct ThreadSum {
    /// What each thread had counted at the last update.
    last: BTreeMap<u32, u64>,
    total: u64,
}

impl ThreadSum {
    fn update(&mut self, now: BTreeMap<u32, u64>) -> u64 {
        for (thread, count) in &now {
            let before = self.last.get(thread).copied().unwrap_or(0);
            // A thread that counts less than it did is another one of the same id.
            self.total += count.checked_sub(before).unwrap_or(*count);
        }
        self.last = now;
        self.total
    }
}

/// Returns the threads of a process, each with its directory; none of one that has ended.
fn threads(pid: u32) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let thread =
        |entry: fs::DirEntry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()));
    entries.filter_map(thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_threads_that_ended_stay_in_the_sum() {
        let mut sum = ThreadSum::default();
        assert_eq!(sum.update([(1, 10), (2, 5)].into()), 15);
        assert_eq!(sum.update([(1, 12)].into()), 17);
        assert_eq!(sum.update([(1, 13), (2, 1)].into()), 19);
    }

    #[test]
    fn the_run_queue_is_the_second_number() {
        assert_eq!(queued_in("27341987 913423 140\n"), Some(913_423));
        assert_eq!(queued_in(""), None);
    }

    /// Goal: what processes share is counted once. Method: two processes with 100 MiB of shared
    /// memory, of which the second has touched half.
    #[test]
    fn shared_memory_is_counted_once() {
        let status = |shared: u32| {
            format!(
                "VmSize:\t{} kB\nVmRSS:\t9 kB\nRssAnon:\t1024 kB\nRssFile:\t2048 kB\n\
                 RssShmem:\t{shared} kB\n",
                200_000 + shared
            )
        };
        let mut readings = Readings::new();
        add_memory([status(102_400), status(51_200)].into_iter(), &mut readings);
        let kib = |metric| readings.value(metric).map(|bytes| bytes / 1024.0);
        assert_eq!(kib(metric::SERVER_RSS_BYTES), Some(2048.0 + 2048.0 + 102_400.0));
        assert_eq!(kib(metric::SERVER_VSZ_BYTES), Some(302_400.0));
        let mut none = Readings::new();
        add_memory(std::iter::empty(), &mut none);
        assert!(none.is_empty());
    }

    /// Goal: what a process wrote stays in the sum of its server when it has ended, and once.
    /// Method: a child writes 100,000 bytes, is sampled, ends and is waited for.
    #[test]
    fn writes_of_processes_that_ended_stay_in_the_sum() {
        let script = "head -c 100000 /dev/zero > /dev/null; read line";
        let mut child = std::process::Command::new("sh");
        let mut child =
            child.args(["-c", script]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (own, mut server) = (std::process::id(), ServerProcesses::default());
        let mut written = |pids: &[u32]| server.io(pids)[metric::SERVER_WRITE_CALL_BYTES];
        let before = written(&[own]);
        drop(child.stdin.take());
        child.wait().unwrap();
        let after = written(&[own]);
        assert!((100_000.0..200_000.0).contains(&(after - before)), "{before} {after}");
        assert!((written(&[]) - after).abs() < 0.5);
    }

    /// Method: of this process, whose threads have run.
    #[test]
    fn this_process_has_every_reading() {
        let mut readings = Readings::new();
        ServerProcesses::default().sample(&[std::process::id()], true, &mut readings);
        for metric in [metric::SERVER_RSS_BYTES, metric::SERVER_VSZ_BYTES] {
            assert!(readings[metric] > 0.0, "{readings:?}");
        }
        for metric in [
            metric::SERVER_CONTEXT_SWITCHES,
            metric::SERVER_WRITE_CALL_BYTES,
            metric::SERVER_DIRTIED_BYTES,
            metric::SERVER_READ_BYTES,
            metric::UNCOUNTED_WRITE_MAPS,
        ] {
            assert!(readings.has(metric), "{readings:?}");
        }
    }
}
