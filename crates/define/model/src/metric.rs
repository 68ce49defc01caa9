//! The metrics: name, unit, kind, direction and meaning.
//!
//! Readings, records, tables, plots and the glossary take names and meanings from here. To add a
//! metric, add one line to the table and its term to GLOSSARY.md.

pub use crate::metric_groups::{CLIENT_CPU_US, PROCESS_CPU_US, SERVER_CPU_US, find};
pub use crate::metric_kind::{Better, Kind, Metric};
use crate::metric_kind::{lower_case, metrics};
pub use crate::readings::Readings;
pub use crate::units::Unit;

metrics! {
    // Sampled by the worker itself, exact at each interval's end.
    PROCESS_CPU_USER_US Micros Counter Lower "user CPU time of the whole worker process";
    PROCESS_CPU_KERNEL_US Micros Counter Lower "kernel CPU time of the whole worker process";
    CLIENT_CPU_USER_US Micros Counter Lower "user CPU time of the client threads, including engine \
        calls";
    CLIENT_CPU_KERNEL_US Micros Counter Lower "kernel CPU time of the client threads, including \
        engine calls";
    HARNESS_CPU_US Micros Counter Lower "CPU time of the thread that collects and sends the \
        intervals";
    CONTEXT_SWITCHES_VOLUNTARY Count Counter Lower "times a thread of the worker gave up the CPU \
        to wait";
    CONTEXT_SWITCHES_INVOLUNTARY Count Counter Lower "times the kernel preempted a thread of the \
        worker";
    CLIENT_CONTEXT_SWITCHES_VOLUNTARY Count Counter Lower "times a client thread gave up the CPU \
        to wait";
    CLIENT_CONTEXT_SWITCHES_INVOLUNTARY Count Counter Lower "times the kernel preempted a client \
        thread";
    MAJOR_FAULTS Count Counter Lower "page faults that had to read from storage";
    MINOR_FAULTS Count Counter Lower "page faults served from memory";
    CLIENT_RUN_QUEUE_US Micros Counter Lower "time the client threads were ready to run and had no \
        CPU";
    CLIENT_IDLE_US Micros Counter Neither "time the client threads had no operation due";
    CLIENT_STORAGE_WAIT_US Micros Counter Lower "time the client threads waited for storage, \
        estimated from samples of the threads' states; measured only in closed loops";
    CLIENT_SLEEP_US Micros Counter Lower "time the client threads waited for a lock, another \
        thread or a timer, estimated from samples of the threads' states; measured only in closed \
        loops";
    CLIENT_STATE_SAMPLES Count Counter Neither "samples of client threads from which \
        client_storage_wait_us and client_sleep_us are estimated; the number of samples determines \
        the sampling error of both metrics";
    WRITER_CPU_USER_US Micros Counter Lower "user CPU time of the background writers' threads, \
        also included in the user CPU time of the client threads";
    WRITER_CPU_KERNEL_US Micros Counter Lower "kernel CPU time of the background writers' threads, \
        also included in the kernel CPU time of the client threads";
    PAUSE_US Micros Counter Lower "time by which the worker's timed waits ended late";
    WORKER_SAMPLED_US Micros Counter Neither "time between the worker's readings of itself: the \
        length of the interval, unless the worker was paused or had no CPU";
    OFFERED_OPS Count Counter Neither "arrivals that became due";
    BACKLOG_US Micros Gauge Lower "age of the oldest arrival that no client has started";
    CLIENT_MEMORY_BYTES Bytes Gauge Neither "memory in which the clients count their results; this \
        memory is also included in the worker's memory";
    // The kernel's figures for the worker process.
    PROCESS_READ_BYTES Bytes Counter Lower "bytes the worker process caused to be read from \
        storage";
    PROCESS_WRITE_BYTES Bytes Counter Lower "bytes the worker process caused to be written to \
        storage, including page cache write-back";
    PROCESS_WRITE_CALL_BYTES Bytes Counter Lower "bytes the worker process passed to write calls";
    PROCESS_READ_CALL_BYTES Bytes Counter Lower "bytes the worker process got from read calls";
    PROCESS_WRITE_CALLS Count Counter Lower "write system calls of the worker process";
    PROCESS_READ_CALLS Count Counter Lower "read system calls of the worker process";
    UNCOUNTED_WRITE_MAPS Count Gauge Neither "mappings through which the process of the engine, or \
        processes of the server, can write without a write call: files mapped for writing, AIO, \
        io_uring; read at the ends of a step";
    RSS_BYTES Bytes Gauge Lower "resident memory of the worker process";
    RSS_ANON_BYTES Bytes Gauge Lower "anonymous resident memory of the worker process: heap and \
        stacks";
    RSS_FILE_BYTES Bytes Gauge Lower "resident pages of files that the worker process maps: \
        libraries, mapped data";
    RSS_SHMEM_BYTES Bytes Gauge Lower "resident shared memory of the worker process";
    PSS_BYTES Bytes Gauge Lower "proportional resident memory of the worker process";
    VSZ_BYTES Bytes Gauge Lower "address space of the worker process";
    SWAP_BYTES Bytes Gauge Lower "memory of the worker process in swap";
    THREADS Count Gauge Neither "threads of the worker process";
    // The kernel's figures for the server, all its processes together.
    SERVER_CPU_USER_US Micros Counter Lower "user CPU time of the server's processes";
    SERVER_CPU_KERNEL_US Micros Counter Lower "kernel CPU time of the server's processes";
    SERVER_CONTEXT_SWITCHES Count Counter Lower "context switches of the server's processes, \
        except processes that have ended";
    SERVER_READS Count Counter Lower "read requests of the server to the device";
    SERVER_READ_BYTES Bytes Counter Lower "bytes the server read from the device";
    SERVER_WRITES Count Counter Lower "write requests of the server to the device";
    SERVER_WRITE_BYTES Bytes Counter Lower "bytes the server wrote to the device";
    SERVER_WRITE_CALL_BYTES Bytes Counter Lower "bytes the server's processes passed to write calls";
    SERVER_DIRTIED_BYTES Bytes Counter Lower "bytes of pages that the server's processes made \
        dirty in the page cache, plus bytes of their direct writes";
    SERVER_MEMORY_BYTES Bytes Gauge Lower "memory charged to the server's control group, including \
        page cache";
    SERVER_PROCESSES Count Gauge Neither "processes of the server";
    SERVER_RUN_QUEUE_US Micros Counter Lower "time the server's threads were ready to run but had \
        no CPU";
    SERVER_RSS_BYTES Bytes Gauge Lower "resident memory of the server, with shared pages counted \
        once";
    SERVER_VSZ_BYTES Bytes Gauge Lower "largest address space among the server's processes";
    // The device the data lies on, and the host.
    DEVICE_READS Count Counter Lower "read requests completed by the device";
    DEVICE_READ_BYTES Bytes Counter Lower "bytes read from the device";
    DEVICE_WRITES Count Counter Lower "write requests completed by the device";
    DEVICE_WRITE_BYTES Bytes Counter Lower "bytes written to the device";
    DEVICE_FLUSHES Count Counter Lower "flush requests completed by the device";
    DEVICE_BUSY_US Micros Counter Neither "time the device had at least one request";
    DEVICE_READ_MERGES Count Counter Neither "read requests merged with a request that was already \
        queued";
    DEVICE_WRITE_MERGES Count Counter Neither "write requests merged with a request that was \
        already queued";
    DEVICE_READ_US Micros Counter Lower "sum of the times of the device's read requests, in the \
        queue and in the device";
    DEVICE_WRITE_US Micros Counter Lower "sum of the times of the device's write requests, in the \
        queue and in the device";
    DEVICE_FLUSH_US Micros Counter Lower "sum of the times of the device's flush requests";
    DEVICE_QUEUE_US Micros Counter Lower "sum of the times of all requests of the device";
    DEVICE_IN_FLIGHT Count Gauge Neither "requests that the device has received and not completed";
    DEVICE_DISCARDS Count Counter Neither "discard requests completed by the device";
    DEVICE_DISCARD_MERGES Count Counter Neither "discard requests merged with a request that was \
        already queued";
    DEVICE_DISCARD_BYTES Bytes Counter Neither "bytes discarded on the device";
    DEVICE_DISCARD_US Micros Counter Lower "sum of the times of the device's discard requests";
    DEVICE_TEMPERATURE_CELSIUS Celsius Gauge Lower "highest temperature that the device reports";
    HOST_TEMPERATURE_CELSIUS Celsius Gauge Lower "highest temperature that sensors of the \
        host report, except sensors of the device";
    HOST_CPU_CLOCK_MHZ Megahertz Gauge Higher "current clock of the host's fastest CPU";
    HOST_CPU_THROTTLES Count Counter Lower "times a CPU core or package of the host lowered its \
        clock because of heat; read at the ends of a step";
    HOST_ENERGY_UJ Microjoules Counter Lower "energy of the host's processors, from RAPL";
    // The processor's counters of worker and server, in experiments with CPU profiles.
    HARDWARE_CYCLES Count Counter Lower "CPU cycles of worker and server";
    HARDWARE_INSTRUCTIONS Count Counter Lower "instructions that worker and server completed";
    HARDWARE_CACHE_MISSES Count Counter Lower "misses of the last-level cache by worker and server";
    HARDWARE_BRANCH_MISSES Count Counter Lower "mispredicted branches of worker and server";
    HARDWARE_TLB_MISSES Count Counter Lower "loads of worker and server that missed the data TLB";
    HOST_SAMPLED_US Micros Counter Neither "time between Assay's readings of host, device and \
        worker: the length of the interval, unless Assay, the worker or the machine was paused";
    HOST_SUSPENDED_US Micros Counter Neither "time the machine was suspended";
    HOST_CPU_BUSY_US Micros Counter Neither "CPU time used on the whole host, including Assay";
    OTHERS_CPU_US Micros Counter Lower "user CPU time of processes outside of the experiment";
    OBSERVER_CPU_US Micros Counter Lower "Assay's CPU time on a server's host without clients";
    OBSERVER_CONTEXT_SWITCHES Count Counter Lower "Assay's context switches on a server's host \
        without clients";
    HOST_STEAL_US Micros Counter Lower "CPU time another guest took from this host";
    HOST_SOFTIRQ_US Micros Counter Neither "CPU time of the whole host in soft interrupts";
    HOST_CONTEXT_SWITCHES Count Counter Lower "context switches on the whole host";
    HOST_IO_PRESSURE_US Micros Counter Lower "time during which at least one task of the host \
        waited for storage";
    HOST_SWAP_IN_BYTES Bytes Counter Lower "memory read back from swap on the whole host";
    HOST_SWAP_OUT_BYTES Bytes Counter Lower "memory written to swap on the whole host";
    HOST_DIRECT_RECLAIMS Count Counter Lower "times a task of the host had to reclaim memory \
        before an allocation, except reclaims that the memory cap of the task's control group \
        caused";
    NETWORK_RECEIVED_BYTES Bytes Counter Lower "bytes received by the server's network interface";
    NETWORK_SENT_BYTES Bytes Counter Lower "bytes sent by the server's network interface";
    NETWORK_RECEIVED_PACKETS Count Counter Lower "packets that the server's interface received";
    NETWORK_SENT_PACKETS Count Counter Lower "packets that the server's network interface sent";
    TCP_RETRANSMITS Count Counter Lower "TCP segments that the server's machine sent again";
    DIRTY_BYTES Bytes Gauge Neither "page cache waiting to be written back on the host";
    CGROUP_MEMORY_BYTES Bytes Gauge Neither "memory charged to the run's control group";
    CGROUP_THROTTLED_US Micros Counter Lower "time the run's control group was throttled by its \
        CPU cap";
    CGROUP_OOM_KILLS Count Counter Lower "processes of the run's control group killed for memory";
    DATA_DIR_BYTES Bytes Gauge Lower "space the run's data directory takes on storage, including \
        logs";
    LOG_BYTES Bytes Gauge Lower "space the engine's write-ahead logs take on storage";
    DISK_FREE_BYTES Bytes Gauge Higher "free space of the file system that holds the data";
    DISK_SIZE_BYTES Bytes Gauge Neither "size of the file system that holds the data, without the \
        space reserved for root";
    // Reported by the engine.
    ENGINE_INGEST_BYTES Bytes Counter Neither "bytes of keys and values written to the engine, as \
        the engine counts them";
    ENGINE_FLUSH_WRITE_BYTES Bytes Counter Lower "bytes written by memtable flushes";
    ENGINE_COMPACTION_WRITE_BYTES Bytes Counter Lower "bytes written by compaction, without \
        flushes";
    ENGINE_COMPACTION_READ_BYTES Bytes Counter Lower "bytes read by compaction";
    ENGINE_WAL_WRITE_BYTES Bytes Counter Lower "bytes written to the write-ahead log";
    ENGINE_WAL_PAGE_IMAGES Count Counter Lower "full images of pages written to the write-ahead \
        log";
    ENGINE_BINLOG_WRITE_BYTES Bytes Counter Lower "bytes written to the binary log, which replicas \
        read";
    ENGINE_BLOB_WRITE_BYTES Bytes Counter Lower "bytes written to blob files";
    ENGINE_BLOB_READ_BYTES Bytes Counter Lower "bytes of blob files that compaction read";
    ENGINE_JOB_US Micros Counter Neither "sum of the times of all flushes and compactions";
    ENGINE_JOB_CPU_US Micros Counter Neither "CPU time of all flushes and compactions";
    ENGINE_PAGE_WRITE_BYTES Bytes Counter Lower "bytes of pages written by a B-tree engine";
    ENGINE_DOUBLEWRITE_BYTES Bytes Counter Lower "bytes of pages written a second time, as \
        protection against torn pages";
    ENGINE_FSYNCS Count Counter Lower "syncs the engine requested";
    ENGINE_STALL_US Micros Counter Lower "time during which the engine delayed or stopped writers";
    ENGINE_STALLS Count Counter Lower "times the engine delayed or stopped writers";
    ENGINE_CACHE_HITS Count Counter Higher "block cache hits";
    ENGINE_CACHE_MISSES Count Counter Lower "block cache misses";
    ENGINE_MEMTABLE_HITS Count Counter Neither "point reads that a memtable answered";
    ENGINE_MEMTABLE_MISSES Count Counter Neither "point reads that no memtable answered";
    ENGINE_CACHE_BYTES Bytes Gauge Neither "bytes held by the engine's cache";
    ENGINE_MEMTABLE_BYTES Bytes Gauge Neither "bytes held by memtables";
    ENGINE_CACHE_ENTRIES Count Gauge Neither "entries of the engine's cache: blocks, documents, \
        blob values";
    ENGINE_CACHE_DATA_BYTES Bytes Gauge Neither "bytes of the block cache that hold data blocks";
    ENGINE_CACHE_INDEX_BYTES Bytes Gauge Neither "bytes of the block cache that hold index blocks";
    ENGINE_CACHE_FILTER_BYTES Bytes Gauge Neither "bytes of the block cache that hold filter \
        blocks";
    ENGINE_CACHE_BLOB_BYTES Bytes Gauge Neither "bytes of the block cache that hold blob values";
    ENGINE_CACHE_OTHER_BYTES Bytes Gauge Neither "bytes of the block cache that hold other data";
    ENGINE_BLOB_FILES Count Gauge Neither "files of separated values";
    ENGINE_BLOB_BYTES Bytes Gauge Neither "bytes of the files of separated values";
    ENGINE_BLOB_GARBAGE_BYTES Bytes Gauge Lower "bytes of separated values to which no key refers \
        any more";
    ENGINE_BLOCK_LOOKUPS Count Counter Lower "blocks or pages that the clients' operations \
        accessed in the cache or read";
    ENGINE_BLOCK_READS Count Counter Lower "blocks or pages that the clients' operations read into \
        the cache";
    ENGINE_DEBT_BYTES Bytes Gauge Lower "deferred work: bytes that compaction has yet to rewrite";
    ENGINE_BACKGROUND_JOBS Count Gauge Neither "flushes and compactions running now";
    ENGINE_DIRTY_BYTES Bytes Gauge Lower "deferred work: changed pages in the engine's cache that \
        have yet to be written";
    ENGINE_GARBAGE_ROWS Count Gauge Lower "deferred work: row versions that vacuum or purge has \
        yet to remove";
    ENGINE_HEAP_FETCHES Count Counter Lower "base rows fetched for index reads";
    ENGINE_COMMITS Count Counter Neither "transactions committed";
    ENGINE_ROLLBACKS Count Counter Lower "transactions rolled back";
    ENGINE_CHECKPOINTS Count Counter Neither "checkpoints completed";
    ENGINE_CHECKPOINTS_RUNNING Count Gauge Neither "checkpoints running now";
    ENGINE_CHECKPOINT_WRITE_BYTES Bytes Counter Lower "bytes of pages written by checkpoints";
    ENGINE_CHECKPOINT_AGE_BYTES Bytes Gauge Lower "bytes that a recovery would read: bytes written \
        to the log since the last checkpoint";
    ENGINE_REPLICA_LAG_BYTES Bytes Gauge Lower "bytes of the log that the slowest standby has yet \
        to apply";
    ENGINE_REPLICA_LAG_US Micros Gauge Lower "time from the write of recent log until the slowest \
        standby applied it";
    ENGINE_VACUUMS Count Counter Neither "vacuums completed by the server's own workers";
    ENGINE_VACUUMS_RUNNING Count Gauge Neither "vacuums running now";
    ENGINE_PURGED_ROWS Count Counter Neither "deleted rows removed by purge";
    ENGINE_CONNECTIONS Count Gauge Neither "connections to the server, including Assay's \
        connections";
    ENGINE_ACTIVE_CONNECTIONS Count Gauge Neither "connections that execute a statement, including \
        the connection that counts them";
    ENGINE_LOCK_WAITERS Count Gauge Lower "sessions or transactions that currently wait for a lock";
    ENGINE_LOCK_WAITS Count Counter Lower "times a transaction waited for a row lock";
    SERVER_ROUND_TRIP_US Micros Gauge Lower "shortest of 20 exchanges of an empty query between \
        the first client host and the server";
    CLIENT_RECONNECTS Count Counter Lower "connections to the server that were lost and opened \
        again";
    ENGINE_L0_FILES Count Gauge Lower "files in level 0";
    ENGINE_LIVE_BYTES Bytes Gauge Neither "bytes of live keys and values, as the engine estimates \
        them";
    ENGINE_DISK_BYTES Bytes Gauge Lower "bytes of data files, as the engine counts them";
    // Reported by the allocator.
    MALLOC_ALLOCATED_BYTES Bytes Gauge Neither "bytes that the program has allocated";
    MALLOC_ACTIVE_BYTES Bytes Gauge Lower "bytes of the pages that hold an allocation";
    MALLOC_RESIDENT_BYTES Bytes Gauge Lower "bytes the allocator keeps resident, including its \
        metadata";
    MALLOC_MAPPED_BYTES Bytes Gauge Lower "bytes the allocator has mapped";
    MALLOC_RETAINED_BYTES Bytes Gauge Neither "address space that the allocator keeps without \
        backing memory";
    MALLOC_METADATA_BYTES Bytes Gauge Lower "bytes of the allocator's metadata";
    // Computed for a whole step.
    THROUGHPUT_OPS_PER_S OpsPerSecond Derived Higher "operations done per second over the whole \
        step";
    THROUGHPUT_ROWS_PER_S OpsPerSecond Derived Higher "rows returned or written per second over \
        the whole step";
    FAILED_OPS Count Derived Neither "operations that failed; a step in which no operation failed \
        has no value";
    FAILED_LOST_CONNECTION_OPS Count Derived Neither "operations that failed because the \
        connection was lost";
    FAILED_DEADLOCK_OPS Count Derived Neither "operations that failed in a deadlock";
    FAILED_SERIALISATION_OPS Count Derived Neither "operations that failed because another client \
        changed the data first";
    FAILED_TIMEOUT_OPS Count Derived Neither "operations that failed at a timeout of the engine";
    FAILED_CONSTRAINT_OPS Count Derived Neither "operations that a constraint rejected";
    FAILED_REFUSED_OPS Count Derived Neither "operations that failed because no server listened";
    FAILED_NO_ANSWER_OPS Count Derived Neither "operations that failed at the client's time limit";
    FAILED_STARTING_UP_OPS Count Derived Neither "operations that failed while the server started";
    FAILED_SHUTTING_DOWN_OPS Count Derived Neither "operations that failed while the server stopped";
    FAILED_DISK_FULL_OPS Count Derived Neither "operations that failed because the disk was full";
    FAILED_OTHER_OPS Count Derived Neither "operations that failed for any other reason";
    REPLACING_OPS Count Derived Neither "operations that succeeded after one or more failed \
        attempts; the time of such an operation includes the failed attempts";
    THROUGHPUT_P50_OPS_PER_S OpsPerSecond Derived Higher "operations done in the median second";
    THROUGHPUT_P1_OPS_PER_S OpsPerSecond Derived Higher "1st percentile of the operations done in a \
        second";
    RESPONSE_NS_P50 Nanos Derived Lower "median response time";
    RESPONSE_NS_P99 Nanos Derived Lower "99th percentile of response time";
    RESPONSE_NS_P999 Nanos Derived Lower "99.9th percentile of response time";
    RESPONSE_NS_P9999 Nanos Derived Lower "99.99th percentile of response time";
    RESPONSE_NS_MAX Nanos Derived Lower "longest response time";
    RESPONSE_NS_P90 Nanos Derived Lower "90th percentile of response time";
    SERVICE_NS_P50 Nanos Derived Lower "median service time";
    SERVICE_NS_P99 Nanos Derived Lower "99th percentile of service time";
    SERVICE_NS_P90 Nanos Derived Lower "90th percentile of service time";
    SERVICE_NS_P999 Nanos Derived Lower "99.9th percentile of service time";
    SERVICE_NS_P9999 Nanos Derived Lower "99.99th percentile of service time";
    SERVICE_NS_MAX Nanos Derived Lower "longest service time";
    OFFERED_OPS_PER_S OpsPerSecond Derived Neither "arrivals due per second over the whole step";
    GOODPUT_OPS_PER_S OpsPerSecond Derived Higher "operations per second whose response time was \
        within the limit";
    SUSTAINABLE_OPS_PER_S OpsPerSecond Derived Higher "highest rate found that meets the limit \
        while deferred work does not grow";
    START_LAG_NS_P50 Nanos Derived Lower "median start lag of operations for which a client was \
        already waiting";
    START_LAG_NS_P99 Nanos Derived Lower "99th percentile of the start lag of operations for which \
        a client was already waiting";
    START_LAG_NS_P999 Nanos Derived Lower "99.9th percentile of the start lag of operations for \
        which a client was already waiting";
    START_LAG_NS_MAX Nanos Derived Lower "longest start lag of an operation for which a client was \
        already waiting";
    CENSORED_SHARE Share Derived Lower "share of the arrivals that were not served when the step \
        ended";
    INVALID_SHARE Share Derived Lower "share of the intervals in which the client, not the engine, \
        was late";
    RUN_QUEUE_SHARE Share Derived Lower "share of the clients' time during which they were ready \
        to run but had no CPU";
    BUSY_THREADS Count Derived Neither "CPUs used on average: clients, engine, harness and server";
    CPU_US_PER_OP Micros Derived Lower "CPU time that the worker process and, if there is one, \
        the server used per operation";
    CLIENT_CPU_US_PER_OP Micros Derived Lower "CPU time per operation of the client and background \
        writer threads, including engine calls";
    BACKGROUND_CPU_US_PER_OP Micros Derived Lower "CPU time per operation of an embedded engine's \
        background threads";
    KERNEL_CPU_US_PER_OP Micros Derived Lower "kernel CPU time of the worker process per operation";
    INSTRUCTIONS_PER_CYCLE Ratio Derived Higher "instructions per CPU cycle of worker and server";
    INSTRUCTIONS_PER_OP Count Derived Lower "instructions per operation";
    CACHE_MISSES_PER_OP Count Derived Lower "last-level cache misses per operation";
    BRANCH_MISSES_PER_OP Count Derived Lower "mispredicted branches per operation";
    TLB_MISSES_PER_OP Count Derived Lower "data TLB misses per operation";
    ENERGY_UJ_PER_OP Microjoules Derived Lower "energy of the host's processors per operation";
    CONTEXT_SWITCHES_PER_OP Count Derived Lower "context switches of the worker process per \
        operation";
    DEVICE_READS_PER_OP Count Derived Lower "device read requests per operation";
    DEVICE_READ_KIB_PER_OP Kibibytes Derived Lower "KiB read from the device per operation";
    DEVICE_WRITES_PER_OP Count Derived Lower "device write requests per operation";
    DEVICE_WRITE_KIB_PER_OP Kibibytes Derived Lower "KiB written to the device per operation";
    DEVICE_READ_AWAIT_US Micros Derived Neither "time per device read request, in the queue and in \
        the device: r_await of iostat";
    DEVICE_WRITE_AWAIT_US Micros Derived Neither "time per device write request, in the queue and in \
        the device: w_await of iostat";
    DEVICE_FLUSH_AWAIT_US Micros Derived Neither "time per device flush request: f_await of iostat";
    DEVICE_READ_SIZE_KIB Kibibytes Derived Neither "KiB per device read request: rareq-sz of iostat";
    DEVICE_WRITE_SIZE_KIB Kibibytes Derived Neither "KiB per device write request: wareq-sz of \
        iostat";
    DEVICE_READ_MERGED_SHARE Share Derived Neither "share of the read requests that were merged \
        before the device got them: %rrqm of iostat";
    DEVICE_WRITE_MERGED_SHARE Share Derived Neither "share of the write requests that were merged \
        before the device got them: %wrqm of iostat";
    DEVICE_QUEUE_LENGTH Count Derived Neither "average number of requests in the queue and in the \
        device: aqu-sz of iostat";
    DEVICE_BUSY_SHARE Share Derived Neither "share of the time during which the device had a \
        request: %util of iostat";
    FSYNCS_PER_OP Count Derived Lower "syncs per operation";
    WAL_BYTES_PER_OP Bytes Derived Lower "bytes written to the write-ahead log per operation";
    WAL_PAGE_IMAGES_PER_OP Count Derived Lower "full images of pages written to the write-ahead log \
        per operation";
    BINLOG_BYTES_PER_OP Bytes Derived Lower "bytes written to the binary log per operation";
    WRITE_BACK_KIB_PER_OP Kibibytes Derived Lower "KiB the engine wrote to data files per \
        operation, without the log, including doublewrite and writes until the engine settled";
    DOUBLEWRITE_KIB_PER_OP Kibibytes Derived Lower "KiB of pages written a second time per \
        operation, as protection against torn pages, including writes until the engine settled";
    ROWS_PER_OP Ratio Derived Neither "rows returned or written per request";
    SERVER_CPU_US_PER_OP Micros Derived Lower "CPU time of the server per operation";
    SERVER_STORAGE_ENGINE_CPU_US_PER_OP Micros Derived Lower "CPU time of a SQL server per \
        operation inside its storage engine, by its CPU profile";
    SERVER_SQL_LAYER_CPU_US_PER_OP Micros Derived Lower "CPU time of a SQL server per operation \
        outside its storage engine, by its CPU profile";
    SERVER_READS_PER_OP Count Derived Lower "read requests of the server per operation";
    SERVER_READ_KIB_PER_OP Kibibytes Derived Lower "KiB the server read from the device per \
        operation";
    SERVER_WRITES_PER_OP Count Derived Lower "write requests of the server per operation";
    SERVER_WRITE_KIB_PER_OP Kibibytes Derived Lower "KiB the server wrote to the device per \
        operation";
    SERVER_CONTEXT_SWITCHES_PER_OP Count Derived Lower "context switches of the server per \
        operation";
    SERVER_WRITES_PER_ROW_PUT Count Derived Lower "write requests of the server per row put";
    SERVER_WRITE_KIB_PER_ROW_PUT Kibibytes Derived Lower "KiB the server wrote to the device per \
        row put";
    DEVICE_WRITES_PER_ROW_PUT Count Derived Lower "device write requests per row put or indexed";
    DEVICE_WRITE_KIB_PER_ROW_PUT Kibibytes Derived Lower "KiB written to the device per row put";
    HEAP_FETCHES_PER_OP Count Derived Lower "base rows fetched for index reads per operation";
    COMMITS_PER_FSYNC Ratio Derived Higher "transactions committed per sync";
    WRITER_ROWS_PER_S OpsPerSecond Derived Higher "rows per second that the background writers \
        inserted; deletes do not count";
    WRITER_RATE_SHARE Share Derived Higher "rate of the background writers as a share of the \
        requested rate";
    BYTES_WRITTEN_PER_BYTE_PUT Ratio Derived Lower "bytes the engine wrote per byte put, including \
        the log: bytes passed to write calls, or the engine's own counters if it also writes \
        without write calls";
    BYTES_WRITTEN_PER_BYTE_PUT_MIN Ratio Derived Neither "lower bound of \
        bytes_written_per_byte_put, for engines that also write without write calls and do not \
        count all bytes they write";
    WRITE_AMPLIFICATION Ratio Derived Lower "bytes the engine wrote to data files per byte put, \
        without the log";
    WRITE_AMPLIFICATION_WITH_WAL Ratio Derived Lower "bytes the engine wrote to data files and log \
        per byte put";
    WRITE_AMPLIFICATION_PROCESS Ratio Derived Lower "bytes the worker process wrote to storage per \
        byte put, without bytes that the page cache absorbed";
    WRITE_AMPLIFICATION_DEVICE Ratio Derived Lower "bytes written to the device per byte put, by all \
        processes";
    SPACE_AMPLIFICATION Ratio Derived Lower "bytes on storage per byte of live keys and values";
    CACHE_AMPLIFICATION Ratio Derived Lower "memory per byte of the rows that uniform point reads \
        find without a read from storage";
    CACHE_BYTES_PER_ENTRY Bytes Derived Neither "bytes of the engine's cache per cache entry, at \
        the end of the step";
    CACHE_HIT_SHARE Share Derived Higher "share of block cache lookups that hit";
    MEMTABLE_HIT_SHARE Share Derived Neither "share of the point reads that a memtable answered \
        without a block of a file";
    STALL_SHARE Share Derived Lower "share of the step during which the engine delayed or stopped \
        writers";
    SETTLE_S Seconds Derived Lower "time the engine took to settle";
    SETTLE_CPU_US Micros Derived Lower "CPU time used by worker and server while the engine \
        settled";
    SETTLE_READ_BYTES Bytes Derived Lower "bytes the engine read from storage while it settled";
    SETTLE_WRITE_BYTES Bytes Derived Lower "bytes the engine wrote to storage while it settled";
    SETTLE_US_PER_OP Micros Derived Lower "time the engine took to settle after a step, per \
        operation of the step";
    SETTLE_CPU_US_PER_OP Micros Derived Lower "CPU time used while the engine settled after a \
        step, per operation of the step";
    SETTLE_READ_KIB_PER_OP Kibibytes Derived Lower "KiB read while the engine settled after a \
        step, per operation of the step";
    SETTLE_WRITE_KIB_PER_OP Kibibytes Derived Lower "KiB written while the engine settled after a \
        step, per operation of the step";
    RSS_PEAK_BYTES Bytes Derived Lower "largest resident memory of the worker process";
    RSS_PER_CACHE Ratio Derived Lower "largest resident memory per byte of configured cache";
    READ_AMPLIFICATION Ratio Derived Lower "blocks or pages accessed per point read or range read \
        of a step; for a whole run, blocks or pages accessed per point read";
    STORAGE_READS_PER_POINT_READ Count Derived Lower "read requests to storage per row read, in \
        steps with point reads only";
    STORAGE_READS_PER_RANGE_ROW Count Derived Lower "read requests to storage per row returned, in \
        steps with range reads only";
    WRITER_BYTES_PER_S Bytes Derived Higher "bytes per second that the background writer wrote";
    UNAVAILABLE_S Seconds Derived Lower "time after the events of a step in which operations waited \
        and no client had a success";
    // Of a part of a step: a kind of operation, a procedure, a statement, an event.
    DONE_OPS Count Derived Neither "completed operations of a kind, or completed calls of a \
        procedure";
    COMMITTED_PER_MIN Count Derived Higher "calls of a procedure per minute that completed without \
        a rollback; for new orders, the value that tools call NOPM";
    ROLLED_BACK_OPS Count Derived Neither "calls of a procedure that rolled back on purpose";
    REPEATED_ATTEMPTS Count Derived Lower "failed attempts of procedure calls that were repeated";
    REPEATED_NS Nanos Derived Lower "time lost in repeated attempts of procedure calls, including \
        pauses";
    WITHIN_LIMIT_SHARE Share Derived Higher "share of a procedure's calls within its limit";
    STATEMENT_CALLS Count Derived Neither "executions of a statement as its server counts them, \
        including the warm-up";
    SERVER_US_PER_CALL Micros Derived Lower "time in the server per execution of a statement";
    ROWS_PER_CALL Count Derived Neither "rows returned or changed per execution of a statement";
    EXAMINED_ROWS_PER_CALL Count Derived Lower "rows read per execution of a statement";
    PAGES_PER_CALL Count Derived Lower "pages accessed per execution of a statement";
    SESSION_SHARE Share Derived Neither "share of the clients' or writers' sessions that samples \
        found in a wait event";
}
