//! Mapping of server counters to common metrics.

/// Counters summed to a metric; of several lines the first complete one counts.
pub(super) type CounterSum = (&'static str, &'static [&'static str]);

/// Metrics of `InnoDB`, by status variable and, after `metric:`, by name in `innodb_metrics`.
///
/// Source: MySQL's reference manual, "Server Status Variables" and "InnoDB INFORMATION_SCHEMA
/// Metrics Table".
#[rustfmt::skip]
pub(super) const INNODB: &[CounterSum] = &[
    ("engine_wal_write_bytes", &["innodb_os_log_written"]),
    ("engine_fsyncs", &["innodb_data_fsyncs"]),
    ("engine_rollbacks", &["com_rollback"]),
    ("engine_stalls", &["innodb_log_waits", "innodb_buffer_pool_wait_free"]),
    ("engine_cache_bytes", &["innodb_buffer_pool_bytes_data"]),
    ("engine_dirty_bytes", &["innodb_buffer_pool_bytes_dirty"]),
    ("engine_cache_misses", &["innodb_buffer_pool_reads"]),
    ("engine_garbage_rows", &["metric:trx_rseg_history_len"]),
    ("engine_garbage_rows", &["innodb_history_list_length"]),
];

/// Metrics of `MyRocks`, by status variable.
///
/// Source: MariaDB's documentation, "MyRocks Status Variables".
#[rustfmt::skip]
pub(super) const MYROCKS: &[CounterSum] = &[
    ("engine_cache_hits", &["rocksdb_block_cache_hit"]),
    ("engine_cache_misses", &["rocksdb_block_cache_miss"]),
    ("engine_wal_write_bytes", &["rocksdb_wal_bytes"]),
    ("engine_ingest_bytes", &["rocksdb_bytes_written"]),
    ("engine_fsyncs", &["rocksdb_wal_synced"]),
    ("engine_flush_write_bytes", &["rocksdb_flush_write_bytes"]),
    ("engine_compaction_write_bytes", &["rocksdb_compact_write_bytes"]),
    ("engine_compaction_read_bytes", &["rocksdb_compact_read_bytes"]),
    ("engine_stall_us", &["rocksdb_stall_micros"]),
    ("engine_stalls", &["rocksdb_stall_total_slowdowns", "rocksdb_stall_total_stops"]),
    ("engine_memtable_bytes", &["rocksdb_memtable_total"]),
    ("engine_rollbacks", &["com_rollback"]),
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
    "innodb_buffer_pool_wait_free", "innodb_data_fsyncs", "innodb_data_reads", "innodb_data_writes",
    "innodb_dblwr_pages_written", "innodb_dblwr_writes", "innodb_ibuf_merges", "innodb_log_waits",
    "innodb_log_write_requests", "innodb_log_writes", "innodb_os_log_fsyncs",
    "innodb_os_log_written", "innodb_pages_read", "innodb_pages_written", "innodb_row_lock_waits",
    "innodb_rows_deleted", "innodb_rows_inserted", "innodb_rows_read", "innodb_rows_updated",
    "innodb_secondary_index_triggered_cluster_reads", "questions", "rocksdb_block_cache_data_hit",
    "rocksdb_block_cache_data_miss", "rocksdb_block_cache_filter_miss",
    "rocksdb_block_cache_index_miss", "rocksdb_bloom_filter_useful", "rocksdb_bytes_read",
    "rocksdb_no_file_opens", "rocksdb_number_keys_read", "rocksdb_number_keys_written",
    "rocksdb_rows_deleted", "rocksdb_rows_inserted", "rocksdb_rows_read", "rocksdb_rows_updated",
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
