//! The worker's IO, memory and threads, from `/proc/PID`.

use model::{Metric, Readings, metric};

use crate::kernel_file::{bytes_of, read_of_process, value_of};
use crate::targets::{Foreign, RunTargets, Sampler};

/// Names of the readings, each with its key in the file.
///
/// `write_bytes` counts a page when it becomes dirty, so what is truncated or deleted before its
/// write-back is in it too; subtracting `cancelled_write_bytes` would make a counter that falls.
/// Source: Linux, Documentation/filesystems/proc.rst, section 3.3.
const KEYS: [(Metric, &str); 6] = [
    (metric::PROCESS_READ_CALL_BYTES, "rchar"),
    (metric::PROCESS_WRITE_CALL_BYTES, "wchar"),
    (metric::PROCESS_READ_CALLS, "syscr"),
    (metric::PROCESS_WRITE_CALLS, "syscw"),
    (metric::PROCESS_READ_BYTES, "read_bytes"),
    (metric::PROCESS_WRITE_BYTES, "write_bytes"),
];

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let pid = targets.pid?;
    // A server writes for the worker.
    let has_maps = targets.server.is_none() && targets.foreign == Foreign::Nowhere;
    Some(Box::new(move |is_boundary| {
        let mut readings = io(pid);
        readings.extend(memory(pid, is_boundary));
        let maps = (is_boundary && has_maps).then(|| uncounted_write_maps(pid)).flatten();
        readings.set(metric::UNCOUNTED_WRITE_MAPS, maps);
        readings
    }))
}

/// Reads the worker's IO by calls and by storage.
fn io(pid: u32) -> Readings {
    read_of_process(pid, "io").map_or_else(Readings::new, |text| io_in(&text))
}

/// Returns the readings in the text of `/proc/PID/io`.
fn io_in(text: &str) -> Readings {
    let mut readings = Readings::new();
    for (name, key) in KEYS {
        readings.set(name, value_of(text, key));
    }
    readings
}

/// Returns the number of maps through which a process can write without a write call.
///
/// Files that a process maps for writing, rings of AIO and of `io_uring`. Locks and indexes of logs
/// that processes share (LMDB, SQLite, MariaDB) hold no rows.
///
/// Source: proc(5), `/proc/pid/maps`; Linux, fs/aio.c and io_uring/io_uring.c, names of the rings.
pub(crate) fn uncounted_write_maps(pid: u32) -> Option<u64> {
    let text = read_of_process(pid, "maps").filter(|text| !text.is_empty())?;
    Some(text.lines().filter(|line| is_uncounted_write_map(line)).count() as u64)
}

/// Returns whether a line of `/proc/PID/maps` is such a map.
fn is_uncounted_write_map(line: &str) -> bool {
    let mut fields = line.splitn(6, ' ').skip(1);
    let (Some(access), Some(path)) = (fields.next(), fields.nth(3)) else { return false };
    let (path, bytes) = (path.trim_start(), access.as_bytes());
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_ring = path.starts_with("/[aio]") || path.starts_with("anon_inode:[io_uring]");
    let is_file =
        path.starts_with('/') && !path.starts_with("/dev/") && !path.ends_with(" (deleted)");
    let is_lock =
        name.ends_with("-shm") || name == "tc.log" || name.to_lowercase().contains("lock");
    bytes.get(1) == Some(&b'w') && bytes.get(3) == Some(&b's') && (is_ring || is_file && !is_lock)
}

/// Reads the worker's memory and threads; the proportional share only at boundaries.
fn memory(pid: u32, is_boundary: bool) -> Readings {
    let mut readings = Readings::new();
    if let Some(text) = read_of_process(pid, "status") {
        add_status(&mut readings, &text);
    }
    // The kernel walks every page table for it and delays the worker's page faults.
    if is_boundary && let Some(text) = read_of_process(pid, "smaps_rollup") {
        readings.set(metric::PSS_BYTES, bytes_of(&text, "Pss"));
    }
    readings
}

/// Adds the readings in the text of `/proc/PID/status`.
///
/// Source: proc(5), `/proc/pid/status`; the three parts of the resident memory since Linux 4.5.
fn add_status(readings: &mut Readings, text: &str) {
    readings.set(metric::RSS_BYTES, bytes_of(text, "VmRSS"));
    readings.set(metric::RSS_ANON_BYTES, bytes_of(text, "RssAnon"));
    readings.set(metric::RSS_FILE_BYTES, bytes_of(text, "RssFile"));
    readings.set(metric::RSS_SHMEM_BYTES, bytes_of(text, "RssShmem"));
    readings.set(metric::VSZ_BYTES, bytes_of(text, "VmSize"));
    readings.set(metric::SWAP_BYTES, bytes_of(text, "VmSwap"));
    readings.set(metric::THREADS, value_of(text, "Threads"));
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIVE: &str = "Name:\tassay\nState:\tS (sleeping)\nVmPeak:\t  228940 kB\n\
        VmSize:\t  163404 kB\nVmHWM:\t   90112 kB\nVmRSS:\t   20480 kB\n\
        RssAnon:\t   16384 kB\nRssFile:\t    4096 kB\nRssShmem:\t       0 kB\n\
        VmSwap:\t   64 kB\nThreads:\t5\n";
    const ZOMBIE: &str = "Name:\tassay\nState:\tZ (zombie)\nPid:\t17\nThreads:\t1\n";

    #[test]
    fn memory_is_in_bytes() {
        let mut readings = Readings::new();
        add_status(&mut readings, ALIVE);
        assert_eq!(readings.value(metric::RSS_BYTES), Some(20_971_520.0));
        assert_eq!(readings.value(metric::RSS_ANON_BYTES), Some(16_777_216.0));
        assert_eq!(readings.value(metric::RSS_FILE_BYTES), Some(4_194_304.0));
        assert_eq!(readings.value(metric::RSS_SHMEM_BYTES), Some(0.0));
        assert_eq!(readings.value(metric::VSZ_BYTES), Some(167_325_696.0));
        assert_eq!(readings.value(metric::SWAP_BYTES), Some(65_536.0));
        assert_eq!(readings.value(metric::THREADS), Some(5.0));
    }

    #[test]
    fn a_process_that_died_has_no_memory_rather_than_zero() {
        let mut readings = Readings::new();
        add_status(&mut readings, ZOMBIE);
        assert_eq!(readings.keys().collect::<Vec<_>>(), [metric::THREADS.name]);
    }

    #[test]
    fn calls_and_storage_are_separate() {
        let text = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 3\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 4096\n";
        let readings = io_in(text);
        assert_eq!(readings.len(), KEYS.len());
        assert_eq!(readings.value(metric::PROCESS_READ_BYTES), Some(4096.0));
        assert_eq!(readings.value(metric::PROCESS_WRITE_BYTES), Some(8192.0));
        assert_eq!(readings.value(metric::PROCESS_READ_CALL_BYTES), Some(6976.0));
        assert_eq!(readings.value(metric::PROCESS_WRITE_CALLS), Some(3.0));
    }

    /// Goal: each way to write without a write call is found, and no lock, log index or memory.
    #[test]
    fn maps_for_writing_are_counted() {
        let maps = |access: &str, path: &str| {
            is_uncounted_write_map(&format!("7f00-7f10 {access} 00000000 fe:00 1234     {path}"))
        };
        for path in ["/d/data.mdb", "/d/my files/00001.mem", "/[aio] (deleted)"] {
            assert!(maps("rw-s", path), "{path}");
            assert!(!maps("r--s", path) && !maps("rw-p", path), "{path}");
        }
        assert!(maps("rw-s", "anon_inode:[io_uring]") && maps("-w-s", "/d/000007.log"));
        for path in [
            "/d/lock.mdb",
            "/d/data.mdb-lock",
            "/d/db.sqlite-shm",
            "/d/tc.log",
            "/dev/shm/PostgreSQL.7",
            "/dev/zero (deleted)",
            "/memfd:pool (deleted)",
            "/SYSV0052e2c1 (deleted)",
            "[heap]",
            "",
        ] {
            assert!(!maps("rw-s", path), "{path}");
        }
        assert!(!is_uncounted_write_map("") && !is_uncounted_write_map("7f00-7f10 rw-s"));
    }

    #[test]
    fn costly_readings_are_taken_at_boundaries_only() {
        let pid = std::process::id();
        assert!(!memory(pid, false).has(metric::PSS_BYTES));
        if !std::path::Path::new("/proc/self/smaps_rollup").exists() {
            println!("skipped: this kernel has no smaps_rollup");
            return;
        }
        assert!(memory(pid, true)[metric::PSS_BYTES] > 0.0);
    }
}
