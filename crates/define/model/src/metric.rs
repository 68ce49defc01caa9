//! The metrics: name, unit, kind, direction and meaning.
//!
//! Readings, records, tables, plots and the glossary take names and meanings from here. To add a
//! metric, add one line to [`METRICS`] and its term to GLOSSARY.md.

use std::collections::BTreeMap;

/// Values by metric name; an unknown metric is absent, never 0.
pub type Readings = BTreeMap<String, f64>;

/// The unit of a metric's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A plain number of things.
    Count,
    /// Bytes.
    Bytes,
    /// KiB.
    Kibibytes,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Seconds.
    Seconds,
    /// A share of one, 0 to 1.
    Share,
    /// A quotient of two like quantities.
    Ratio,
    /// Operations per second.
    OpsPerSecond,
}

/// How a metric's value behaves over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value at one moment.
    Gauge,
    /// A total that only grows; its difference over a span is what counts.
    Counter,
    /// Computed for a whole step from the others.
    Derived,
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: explanatory.
    Neither,
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name with the unit last, as in records.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// How it behaves over time.
    pub kind: Kind,
    /// Which way is better.
    pub better: Better,
    /// What it means, in one sentence without a full stop.
    pub meaning: &'static str,
}

/// Shortens the table below.
const fn metric(
    name: &'static str,
    unit: Unit,
    kind: Kind,
    better: Better,
    meaning: &'static str,
) -> Metric {
    Metric { name, unit, kind, better, meaning }
}

use Better::{Higher, Lower, Neither};
use Kind::{Counter, Derived, Gauge};
use Unit::{Bytes, Count, Kibibytes, Micros, Nanos, OpsPerSecond, Ratio, Seconds, Share};

/// Every metric Assay knows.
#[rustfmt::skip]
pub static METRICS: &[Metric] = &[
    // Sampled by the worker itself, exact at each interval's end.
    metric("process_cpu_user_us", Micros, Counter, Lower, "user CPU of the whole worker process"),
    metric("process_cpu_kernel_us", Micros, Counter, Lower, "kernel CPU of the whole worker \
    process"),
    metric("client_cpu_user_us", Micros, Counter, Lower, "user CPU of the client threads, engine \
    calls included"),
    metric("client_cpu_kernel_us", Micros, Counter, Lower, "kernel CPU of the client threads, \
    engine calls included"),
    metric("harness_cpu_us", Micros, Counter, Lower, "CPU of the thread that collects and sends \
    the intervals"),
    metric("context_switches_voluntary", Count, Counter, Lower, "times a thread of the worker \
    gave up the CPU to wait"),
    metric("context_switches_involuntary", Count, Counter, Lower, "times a thread of the worker \
    was put off the CPU"),
    metric("client_context_switches_voluntary", Count, Counter, Lower, "times a client thread \
    gave up the CPU to wait"),
    metric("client_context_switches_involuntary", Count, Counter, Lower, "times a client thread \
    was put off the CPU"),
    metric("major_faults", Count, Counter, Lower, "page faults that had to read from storage"),
    metric("minor_faults", Count, Counter, Lower, "page faults served from memory"),
    metric("client_run_queue_us", Micros, Counter, Lower, "time the client threads were ready to \
    run and had no CPU"),
    metric("client_idle_us", Micros, Counter, Neither, "time the client threads had no operation \
    due"),
    metric("client_storage_wait_us", Micros, Counter, Lower, "time the client threads waited for \
    storage, by samples of their states; closed loops only"),
    metric("client_sleep_us", Micros, Counter, Lower, "time the client threads waited for a lock, \
    another thread or a timer, by samples of their states; closed loops only"),
    metric("client_looks", Count, Counter, Neither, "samples of client threads behind the two \
    metrics before: their sampling error"),
    metric("writer_cpu_user_us", Micros, Counter, Lower, "user CPU of the background writers' \
    threads, part of that of the client threads"),
    metric("writer_cpu_kernel_us", Micros, Counter, Lower, "kernel CPU of the background writers' \
    threads, part of that of the client threads"),
    metric("pause_us", Micros, Counter, Lower, "time by which the worker's timed waits ended \
    late: it stood still"),
    metric("offered_ops", Count, Counter, Neither, "arrivals that became due"),
    metric("backlog_us", Micros, Gauge, Lower, "age of the oldest arrival that no client has \
    begun"),
    // The kernel's figures for the worker process.
    metric("process_read_bytes", Bytes, Counter, Lower, "bytes the process caused to be read from \
    storage"),
    metric("process_write_bytes", Bytes, Counter, Lower, "bytes the process caused to be written \
    to storage, page cache write-back included"),
    metric("process_write_call_bytes", Bytes, Counter, Lower, "bytes the process passed to write \
    calls"),
    metric("process_read_call_bytes", Bytes, Counter, Lower, "bytes the process got from read \
    calls"),
    metric("process_write_calls", Count, Counter, Lower, "write system calls of the process"),
    metric("process_read_calls", Count, Counter, Lower, "read system calls of the process"),
    metric("rss_bytes", Bytes, Gauge, Lower, "resident memory of the worker process"),
    metric("rss_anon_bytes", Bytes, Gauge, Lower, "resident memory of the worker process that no \
    file backs: heap and stacks"),
    metric("rss_file_bytes", Bytes, Gauge, Lower, "resident pages of files that the worker \
    process maps: libraries, mapped data"),
    metric("rss_shmem_bytes", Bytes, Gauge, Lower, "resident shared memory of the worker process"),
    metric("pss_bytes", Bytes, Gauge, Lower, "proportional resident memory of the worker process"),
    metric("vsz_bytes", Bytes, Gauge, Lower, "address space of the worker process"),
    metric("swap_bytes", Bytes, Gauge, Lower, "memory of the worker process that lies in swap"),
    metric("threads", Count, Gauge, Neither, "threads of the worker process"),
    // The kernel's figures for the server, all its processes together.
    metric("server_cpu_user_us", Micros, Counter, Lower, "user CPU of the server's control group"),
    metric("server_cpu_kernel_us", Micros, Counter, Lower, "kernel CPU of the server's control \
    group"),
    metric("server_context_switches", Count, Counter, Lower, "context switches of the server's \
    processes, those that have ended left out"),
    metric("server_reads", Count, Counter, Lower, "read requests of the server to the device"),
    metric("server_read_bytes", Bytes, Counter, Lower, "bytes the server had read from the device"),
    metric("server_writes", Count, Counter, Lower, "write requests of the server to the device"),
    metric("server_write_bytes", Bytes, Counter, Lower, "bytes the server had written to the \
    device"),
    metric("server_memory_bytes", Bytes, Gauge, Lower, "memory charged to the server's control \
    group, page cache included"),
    metric("server_processes", Count, Gauge, Neither, "processes of the server"),
    // The device the data lies on, and the host.
    metric("device_reads", Count, Counter, Lower, "read requests completed by the device"),
    metric("device_read_bytes", Bytes, Counter, Lower, "bytes read from the device"),
    metric("device_writes", Count, Counter, Lower, "write requests completed by the device"),
    metric("device_write_bytes", Bytes, Counter, Lower, "bytes written to the device"),
    metric("device_flushes", Count, Counter, Lower, "flush requests completed by the device"),
    metric("device_busy_us", Micros, Counter, Neither, "time the device had work in hand"),
    metric("host_cpu_busy_us", Micros, Counter, Neither, "CPU used on the whole host, this \
    process included"),
    metric("others_cpu_us", Micros, Counter, Lower, "user CPU of the host's other processes: \
    neither the worker nor Assay itself"),
    metric("host_steal_us", Micros, Counter, Lower, "CPU time another guest took from this host"),
    metric("host_context_switches", Count, Counter, Lower, "context switches on the whole host"),
    metric("host_io_pressure_us", Micros, Counter, Lower, "time in which some task of the host \
    waited for storage"),
    metric("host_swap_in_bytes", Bytes, Counter, Lower, "memory read back from swap on the whole \
    host"),
    metric("host_swap_out_bytes", Bytes, Counter, Lower, "memory written to swap on the whole \
    host"),
    metric("host_direct_reclaims", Count, Counter, Lower, "times a task of the host had to free \
    memory before it got any, unless its control group's cap made it"),
    metric("dirty_bytes", Bytes, Gauge, Neither, "page cache waiting to be written back on the \
    host"),
    metric("cgroup_memory_bytes", Bytes, Gauge, Neither, "memory charged to the run's control \
    group"),
    metric("cgroup_throttled_us", Micros, Counter, Lower, "time the run's control group was \
    throttled by its CPU cap"),
    metric("cgroup_oom_kills", Count, Counter, Lower, "processes of the run's control group \
    killed for memory"),
    metric("data_dir_bytes", Bytes, Gauge, Lower, "space the run's data directory takes on \
    storage, logs included"),
    metric("log_bytes", Bytes, Gauge, Lower, "space the engine's write-ahead logs take on storage"),
    metric("disk_free_bytes", Bytes, Gauge, Higher, "free space of the file system the data lies \
    on"),
    metric("disk_size_bytes", Bytes, Gauge, Neither, "size of the file system the data lies on, \
    less what is set aside for root"),
    // Reported by the engine.
    metric("engine_ingest_bytes", Bytes, Counter, Neither, "bytes of keys and values written to \
    the engine, as the engine counts them"),
    metric("engine_flush_write_bytes", Bytes, Counter, Lower, "bytes written by memtable flushes"),
    metric("engine_compaction_write_bytes", Bytes, Counter, Lower, "bytes written by compaction, \
    flushes not included"),
    metric("engine_compaction_read_bytes", Bytes, Counter, Lower, "bytes read by compaction"),
    metric("engine_wal_write_bytes", Bytes, Counter, Lower, "bytes written to the write-ahead log"),
    metric("engine_blob_write_bytes", Bytes, Counter, Lower, "bytes written to blob files"),
    metric("engine_page_write_bytes", Bytes, Counter, Lower, "bytes of pages written by a B-tree \
    engine"),
    metric("engine_fsyncs", Count, Counter, Lower, "syncs the engine requested"),
    metric("engine_stall_us", Micros, Counter, Lower, "time in which the engine delayed or \
    stopped writers"),
    metric("engine_stalls", Count, Counter, Lower, "times the engine delayed or stopped writers"),
    metric("engine_cache_hits", Count, Counter, Higher, "block cache hits"),
    metric("engine_cache_misses", Count, Counter, Lower, "block cache misses"),
    metric("engine_cache_bytes", Bytes, Gauge, Neither, "bytes held by the engine's cache"),
    metric("engine_memtable_bytes", Bytes, Gauge, Neither, "bytes held by memtables"),
    metric("engine_cache_data_bytes", Bytes, Gauge, Neither, "bytes of the block cache that hold \
    data blocks"),
    metric("engine_cache_index_bytes", Bytes, Gauge, Neither, "bytes of the block cache that hold \
    index blocks"),
    metric("engine_cache_filter_bytes", Bytes, Gauge, Neither, "bytes of the block cache that \
    hold filter blocks"),
    metric("engine_cache_blob_bytes", Bytes, Gauge, Neither, "bytes of the block cache that hold \
    blob values"),
    metric("engine_cache_other_bytes", Bytes, Gauge, Neither, "bytes of the block cache that hold \
    anything else"),
    metric("engine_blob_files", Count, Gauge, Neither, "files of separated values"),
    metric("engine_blob_bytes", Bytes, Gauge, Neither, "bytes of the files of separated values"),
    metric("engine_blob_garbage_bytes", Bytes, Gauge, Lower, "bytes of separated values that no \
    key refers to any more"),
    metric("engine_block_lookups", Count, Counter, Lower, "blocks or pages accessed, cached or \
    read, by the clients' operations"),
    metric("engine_block_reads", Count, Counter, Lower, "blocks or pages read into the cache, by \
    the clients' operations"),
    metric("engine_debt_bytes", Bytes, Gauge, Lower, "deferred work: bytes that compaction has \
    yet to rewrite"),
    metric("engine_background_jobs", Count, Gauge, Neither, "flushes and compactions running now"),
    metric("engine_dirty_bytes", Bytes, Gauge, Lower, "deferred work: changed pages in the \
    engine's cache that have yet to be written"),
    metric("engine_garbage_rows", Count, Gauge, Lower, "deferred work: row versions that vacuum \
    or purge has yet to remove"),
    metric("engine_heap_fetches", Count, Counter, Lower, "base rows that were fetched for index \
    reads"),
    metric("engine_commits", Count, Counter, Neither, "transactions committed"),
    metric("engine_rollbacks", Count, Counter, Lower, "transactions rolled back"),
    metric("engine_checkpoints", Count, Counter, Neither, "checkpoints completed"),
    metric("client_reconnects", Count, Counter, Lower, "connections to the server that were lost \
    and made again"),
    metric("engine_l0_files", Count, Gauge, Lower, "files in level 0"),
    metric("engine_live_bytes", Bytes, Gauge, Neither, "bytes of live keys and values, as the \
    engine estimates them"),
    metric("engine_disk_bytes", Bytes, Gauge, Lower, "bytes of data files, as the engine counts \
    them"),
    // Reported by the allocator.
    metric("malloc_allocated_bytes", Bytes, Gauge, Neither, "bytes allocated to the program"),
    metric("malloc_active_bytes", Bytes, Gauge, Lower, "bytes of the pages that hold an \
    allocation"),
    metric("malloc_resident_bytes", Bytes, Gauge, Lower, "bytes the allocator keeps resident, its \
    own metadata included"),
    metric("malloc_mapped_bytes", Bytes, Gauge, Lower, "bytes the allocator has mapped"),
    metric("malloc_retained_bytes", Bytes, Gauge, Neither, "address space the allocator keeps \
    without memory behind it"),
    metric("malloc_metadata_bytes", Bytes, Gauge, Lower, "bytes of the allocator's own metadata"),
    // Computed for a whole step.
    metric("throughput_ops_per_s", OpsPerSecond, Derived, Higher, "operations done per second \
    over the whole step"),
    metric("throughput_rows_per_s", OpsPerSecond, Derived, Higher, "rows returned or written per \
    second over the whole step"),
    metric("throughput_p50_ops_per_s", OpsPerSecond, Derived, Higher, "operations done in the \
    median second"),
    metric("throughput_p1_ops_per_s", OpsPerSecond, Derived, Higher, "operations done in the \
    worst second but one in a hundred"),
    metric("response_ns_p50", Nanos, Derived, Lower, "response time that half the operations \
    stayed within"),
    metric("response_ns_p99", Nanos, Derived, Lower, "response time that 99 % of operations \
    stayed within"),
    metric("response_ns_p999", Nanos, Derived, Lower, "response time that 99.9 % of operations \
    stayed within"),
    metric("response_ns_p9999", Nanos, Derived, Lower, "response time that 99.99 % of operations \
    stayed within"),
    metric("response_ns_max", Nanos, Derived, Lower, "longest response time"),
    metric("response_ns_p90", Nanos, Derived, Lower, "response time that 90 % of operations \
    stayed within"),
    metric("service_ns_p50", Nanos, Derived, Lower, "service time that half the operations stayed \
    within"),
    metric("service_ns_p99", Nanos, Derived, Lower, "service time that 99 % of operations stayed \
    within"),
    metric("service_ns_p90", Nanos, Derived, Lower, "service time that 90 % of operations stayed \
    within"),
    metric("service_ns_p999", Nanos, Derived, Lower, "service time that 99.9 % of operations \
    stayed within"),
    metric("service_ns_p9999", Nanos, Derived, Lower, "service time that 99.99 % of operations \
    stayed within"),
    metric("service_ns_max", Nanos, Derived, Lower, "longest service time"),
    metric("offered_ops_per_s", OpsPerSecond, Derived, Neither, "arrivals due per second over the \
    whole step"),
    metric("goodput_ops_per_s", OpsPerSecond, Derived, Higher, "operations within the limit, per \
    second"),
    metric("sustainable_ops_per_s", OpsPerSecond, Derived, Higher, "highest rate found that meets \
    the limit without growing debt"),
    metric("start_lag_ns_p50", Nanos, Derived, Lower, "lateness that half the starts of a waiting \
    client stayed within"),
    metric("start_lag_ns_p99", Nanos, Derived, Lower, "lateness that 99 % of the starts of a \
    waiting client stayed within"),
    metric("start_lag_ns_p999", Nanos, Derived, Lower, "lateness that 99.9 % of the starts of a \
    waiting client stayed within"),
    metric("start_lag_ns_max", Nanos, Derived, Lower, "longest lateness of a waiting client"),
    metric("censored_share", Share, Derived, Lower, "share of the arrivals not served when the \
    step ended"),
    metric("invalid_share", Share, Derived, Lower, "share of the intervals in which the client, \
    not the engine, was late"),
    metric("run_queue_share", Share, Derived, Lower, "share of the clients' time spent ready to \
    run without a CPU"),
    metric("busy_threads", Count, Derived, Neither, "CPUs used on average: clients, engine, \
    harness and server"),
    metric("cpu_us_per_op", Micros, Derived, Lower, "CPU per operation: the worker process, \
    clients, engine and kernel, and the server when there is one"),
    metric("client_cpu_us_per_op", Micros, Derived, Lower, "CPU of the client threads per \
    operation, engine calls included"),
    metric("background_cpu_us_per_op", Micros, Derived, Lower, "CPU of the engine's own threads \
    per operation"),
    metric("kernel_cpu_us_per_op", Micros, Derived, Lower, "kernel CPU of the worker process per \
    operation"),
    metric("context_switches_per_op", Count, Derived, Lower, "context switches of the worker \
    process per operation"),
    metric("device_reads_per_op", Count, Derived, Lower, "device read requests per operation"),
    metric("device_read_kib_per_op", Kibibytes, Derived, Lower, "KiB read from the device per \
    operation"),
    metric("device_writes_per_op", Count, Derived, Lower, "device write requests per operation"),
    metric("device_write_kib_per_op", Kibibytes, Derived, Lower, "KiB written to the device per \
    operation"),
    metric("fsyncs_per_op", Count, Derived, Lower, "syncs per operation"),
    metric("rows_per_op", Ratio, Derived, Neither, "rows returned or written per request"),
    metric("server_cpu_us_per_op", Micros, Derived, Lower, "CPU of the server per operation"),
    metric("server_reads_per_op", Count, Derived, Lower, "read requests of the server per \
    operation"),
    metric("server_read_kib_per_op", Kibibytes, Derived, Lower, "KiB the server had read per \
    operation"),
    metric("server_writes_per_op", Count, Derived, Lower, "write requests of the server per \
    operation"),
    metric("server_write_kib_per_op", Kibibytes, Derived, Lower, "KiB the server had written per \
    operation"),
    metric("server_context_switches_per_op", Count, Derived, Lower, "context switches of the \
    server per operation"),
    metric("heap_fetches_per_op", Count, Derived, Lower, "base rows fetched for index reads per \
    operation"),
    metric("commits_per_fsync", Ratio, Derived, Higher, "transactions committed per sync"),
    metric("writer_rows_per_s", OpsPerSecond, Derived, Higher, "rows per second that the \
    background writers reached, inserted and deleted each"),
    metric("writer_rate_share", Share, Derived, Higher, "rate of the background writers as a \
    share of the requested rate"),
    metric("write_amplification", Ratio, Derived, Lower, "bytes the engine wrote to data files \
    per byte put, log excluded"),
    metric("write_amplification_with_wal", Ratio, Derived, Lower, "bytes the engine wrote to data \
    files and log per byte put"),
    metric("write_amplification_process", Ratio, Derived, Lower, "bytes the process caused to be \
    written to storage per byte put"),
    metric("write_amplification_device", Ratio, Derived, Lower, "bytes written to the device per \
    byte put"),
    metric("space_amplification", Ratio, Derived, Lower, "bytes on storage per byte of live keys \
    and values"),
    metric("cache_hit_share", Share, Derived, Higher, "share of block cache look-ups that hit"),
    metric("stall_share", Share, Derived, Lower, "share of the step in which the engine delayed \
    or stopped writers"),
    metric("settle_s", Seconds, Derived, Lower, "time the engine took to settle"),
    metric("rss_peak_bytes", Bytes, Derived, Lower, "largest resident memory of the worker \
    process"),
    metric("rss_per_cache", Ratio, Derived, Lower, "largest resident memory per byte of \
    configured cache"),
    metric("read_amplification", Ratio, Derived, Lower, "blocks or pages accessed per point read \
    or range read"),
    metric("writer_bytes_per_s", Bytes, Derived, Higher, "rate the background writer reached"),
];

/// Returns the metric of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_meanings_are_sentences_without_a_stop() {
        for (index, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..index].iter().all(|other| other.name != metric.name), "{metric:?}");
            assert!(!metric.meaning.is_empty() && !metric.meaning.ends_with('.'), "{metric:?}");
        }
    }
}
