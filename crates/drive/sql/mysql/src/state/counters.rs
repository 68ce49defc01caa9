//! Mapping of server counters to common metrics.

use model::{Metric, metric};

/// Counters summed to a metric; of several lines the first complete one counts.
pub(super) type CounterSum = (Metric, &'static [&'static str]);

/// Metrics of `InnoDB`, by status variable and, after `metric:`, by name in `innodb_metrics`.
///
/// Source: MySQL's reference manual, "Server Status Variables" and "InnoDB INFORMATION_SCHEMA
/// Metrics Table".
#[rustfmt::skip]
pub(super) const INNODB: &[CounterSum] = &[
    (metric::ENGINE_WAL_WRITE_BYTES, &["innodb_os_log_written"]),
    (metric::ENGINE_FSYNCS, &["innodb_data_fsyncs"]),
    (metric::ENGINE_ROLLBACKS, &["com_rollback"]),
    (metric::ENGINE_STALLS, &["innodb_log_waits", "innodb_buffer_pool_wait_free"]),
    (metric::ENGINE_CACHE_BYTES, &["innodb_buffer_pool_bytes_data"]),
    (metric::ENGINE_DIRTY_BYTES, &["innodb_buffer_pool_bytes_dirty"]),
    (metric::ENGINE_CACHE_MISSES, &["innodb_buffer_pool_reads"]),
    (metric::ENGINE_GARBAGE_ROWS, &["metric:trx_rseg_history_len"]),
    (metric::ENGINE_GARBAGE_ROWS, &["innodb_history_list_length"]),
    (metric::ENGINE_PURGED_ROWS, &["metric:purge_del_mark_records"]),
    (metric::ENGINE_CHECKPOINT_AGE_BYTES, &["metric:log_lsn_checkpoint_age"]),
    (metric::ENGINE_CHECKPOINT_AGE_BYTES, &["innodb_checkpoint_age"]),
    (metric::ENGINE_LOCK_WAITERS, &["innodb_row_lock_current_waits"]),
    (metric::ENGINE_LOCK_WAITS, &["innodb_row_lock_waits"]),
];

/// Metrics of Aria, by status variable; `InnoDB`'s count none of its writes.
///
/// Source: MariaDB's documentation, "Aria Status Variables".
pub(super) const ARIA: &[CounterSum] = &[
    (metric::ENGINE_FSYNCS, &["aria_transaction_log_syncs"]),
    (metric::ENGINE_ROLLBACKS, &["com_rollback"]),
];

/// Metrics of the server above its storage engines.
pub(super) const SERVER: &[CounterSum] = &[
    (metric::ENGINE_CONNECTIONS, &["threads_connected"]),
    (metric::ENGINE_ACTIVE_CONNECTIONS, &["threads_running"]),
];

/// Metrics of `MyRocks`, by status variable.
///
/// Source: MariaDB's documentation, "MyRocks Status Variables".
#[rustfmt::skip]
pub(super) const MYROCKS: &[CounterSum] = &[
    (metric::ENGINE_CACHE_HITS, &["rocksdb_block_cache_hit"]),
    (metric::ENGINE_CACHE_MISSES, &["rocksdb_block_cache_miss"]),
    (metric::ENGINE_MEMTABLE_HITS, &["rocksdb_memtable_hit"]),
    (metric::ENGINE_MEMTABLE_MISSES, &["rocksdb_memtable_miss"]),
    (metric::ENGINE_WAL_WRITE_BYTES, &["rocksdb_wal_bytes"]),
    (metric::ENGINE_INGEST_BYTES, &["rocksdb_bytes_written"]),
    (metric::ENGINE_FSYNCS, &["rocksdb_wal_synced"]),
    (metric::ENGINE_FLUSH_WRITE_BYTES, &["rocksdb_flush_write_bytes"]),
    (metric::ENGINE_COMPACTION_WRITE_BYTES, &["rocksdb_compact_write_bytes"]),
    (metric::ENGINE_COMPACTION_READ_BYTES, &["rocksdb_compact_read_bytes"]),
    (metric::ENGINE_STALL_US, &["rocksdb_stall_micros"]),
    (metric::ENGINE_STALLS, &["rocksdb_stall_total_slowdowns", "rocksdb_stall_total_stops"]),
    (metric::ENGINE_MEMTABLE_BYTES, &["rocksdb_memtable_total"]),
    (metric::ENGINE_ROLLBACKS, &["com_rollback"]),
];

/// Counters stored under their own names, to explain results.
#[rustfmt::skip]
pub(super) const OWN: &[&str] = &[
    "binlog_commits", "binlog_group_commits", "bytes_received", "bytes_sent", "com_stmt_execute",
    "com_stmt_reprepare", "created_tmp_disk_tables", "created_tmp_tables", "handler_commit",
    "handler_delete", "handler_prepare", "handler_read_first", "handler_read_key",
    "handler_read_last", "handler_read_next", "handler_read_prev", "handler_read_rnd_next",
    "handler_rollback", "handler_update", "handler_write", "innodb_buffer_pool_pages_flushed",
    "innodb_buffer_pool_read_ahead", "innodb_buffer_pool_read_requests", "innodb_buffer_pool_reads",
    "innodb_buffer_pool_wait_free", "innodb_buffer_pool_write_requests", "innodb_data_fsyncs",
    "innodb_data_reads", "innodb_data_writes", "innodb_dblwr_pages_written", "innodb_dblwr_writes",
    "innodb_ibuf_merges", "innodb_log_waits", "innodb_log_write_requests", "innodb_log_writes",
    "innodb_os_log_fsyncs", "innodb_os_log_written", "innodb_pages_read", "innodb_pages_written",
    "innodb_row_lock_waits", "innodb_rows_deleted", "innodb_rows_inserted", "innodb_rows_read",
    "innodb_rows_updated", "innodb_secondary_index_triggered_cluster_reads", "questions",
    "rocksdb_block_cache_data_hit", "rocksdb_block_cache_data_miss",
    "rocksdb_block_cache_filter_miss", "rocksdb_block_cache_index_miss",
    "rocksdb_bloom_filter_useful", "rocksdb_bytes_read", "rocksdb_no_file_opens",
    "rocksdb_number_keys_read", "rocksdb_number_keys_written", "rocksdb_rows_deleted",
    "rocksdb_rows_inserted", "rocksdb_rows_read", "rocksdb_rows_updated",
    "rocksdb_snapshot_conflict_errors", "rocksdb_wal_group_syncs", "rocksdb_write_self",
    "select_full_join", "select_scan", "sort_merge_passes", "threads_created",
];

/// Queried names of `innodb_metrics`; disabled ones return nothing.
#[rustfmt::skip]
pub(super) const METRICS: &[&str] = &[
    "adaptive_hash_searches", "adaptive_hash_searches_btree", "buffer_pages_written", "ibuf_merges",
    "ibuf_size", "index_page_merge_attempts", "index_page_splits", "log_lsn_checkpoint_age",
    "log_lsn_current", "log_lsn_last_checkpoint", "purge_del_mark_records", "purge_dml_delay_usec",
    "trx_rseg_history_len", "trx_rw_commits", "trx_nl_ro_commits", "trx_ro_commits",
    "trx_rollbacks",
];
