//! What options of MySQL and MariaDB reach beyond their data.
//!
//! Source: [MySQL Manual], "Server System Variables", "InnoDB Startup Options and System
//! Variables"; [MariaDB Docs], the same, "Aria System Variables" and "MyRocks System Variables".

use driver_sql::OWN_NAMES;
use engine::OptionReach;

use crate::kind::{FILES, canonical};

/// What options of MySQL and MariaDB reach.
pub static REACH: OptionReach = OptionReach {
    canonical,
    paths: PATHS,
    files: &FILES,
    libraries: LIBRARIES,
    commands: COMMANDS,
    hosts: HOSTS,
    plain: &[
        ("", SERVER),
        ("assay.", OWN_NAMES),
        ("", "performance_schema"),
        ("aria_", ARIA),
        ("innodb_", INNODB),
        ("performance_schema_", PERFORMANCE_SCHEMA),
        ("rocksdb_", MYROCKS),
    ],
    strings: &[("rocksdb_default_cf_options", COLUMN_FAMILY)],
    ..OptionReach::UNKNOWN
};

/// Files and directories.
const PATHS: &str = "
    basedir character_sets_dir chroot datadir ft_stopword_file innodb_buffer_pool_filename
    innodb_data_home_dir innodb_directories innodb_log_group_home_dir
    innodb_redo_log_archive_dirs innodb_temp_data_file_path innodb_temp_tablespaces_dir
    innodb_tmpdir innodb_undo_directory lc_messages_dir log_error master_info_file pid_file
    relay_log_index relay_log_info_file replica_load_tmpdir rocksdb_persistent_cache_path
    rocksdb_tmpdir secure_file_priv slave_load_tmpdir socket ssl_ca ssl_capath ssl_cert ssl_crl
    ssl_crlpath ssl_key tmpdir
";

/// Libraries that the server loads.
const LIBRARIES: &str = "
    component early_plugin_load malloc_lib plugin_dir plugin_load plugin_load_add wsrep_provider
    wsrep_provider_options
";

/// Commands and statements that the server runs.
const COMMANDS: &str = "
    init_connect init_file init_replica init_slave wsrep_notify_cmd wsrep_sst_auth
    wsrep_sst_method
";

/// Addresses at which it listens, and to which it connects.
const HOSTS: &str = "
    admin_address admin_port bind_address mysqlx mysqlx_bind_address mysqlx_port mysqlx_socket
    networking port proxy_protocol_networks report_host report_port wsrep_cluster_address
    wsrep_node_address wsrep_sst_receive_address
";

/// Sizes, counts, times and switches of the server.
const SERVER: &str = "
    back_log binlog_cache_size binlog_checksum binlog_commit_wait_count binlog_commit_wait_usec
    binlog_expire_logs_seconds binlog_format binlog_group_commit_sync_delay
    binlog_group_commit_sync_no_delay_count binlog_max_flush_queue_time binlog_order_commits
    binlog_row_event_max_size binlog_row_image binlog_row_metadata binlog_row_value_options
    binlog_stmt_cache_size binlog_transaction_compression binlog_transaction_dependency_tracking
    bulk_insert_buffer_size character_set_server collation_server completion_type
    concurrent_insert connect_timeout default_storage_engine default_tmp_storage_engine
    delay_key_write enforce_gtid_consistency eq_range_index_dive_limit expire_logs_days
    explicit_defaults_for_timestamp flush flush_time gtid_mode histogram_size host_cache_size
    interactive_timeout internal_tmp_disk_storage_engine internal_tmp_mem_storage_engine
    join_buffer_size join_buffer_space_limit join_cache_level key_buffer_size large_pages
    lock_wait_timeout log_bin_trust_function_creators log_queries_not_using_indexes
    log_slave_updates log_slow_verbosity long_query_time low_priority_updates
    lower_case_table_names max_allowed_packet max_binlog_cache_size max_binlog_size
    max_connect_errors max_connections max_heap_table_size max_length_for_sort_data
    max_prepared_stmt_count max_seeks_for_key max_sort_length max_user_connections
    mrr_buffer_size net_buffer_length net_read_timeout net_retry_count net_write_timeout
    open_files_limit optimizer_prune_level optimizer_search_depth optimizer_switch
    optimizer_use_condition_selectivity preload_buffer_size query_alloc_block_size
    query_cache_limit query_cache_size query_cache_type query_prealloc_size
    range_alloc_block_size range_optimizer_max_mem_size read_buffer_size read_rnd_buffer_size
    server_id slow_query_log sort_buffer_size sql_mode stored_program_cache sync_binlog sync_frm
    sync_master_info sync_relay_log sync_relay_log_info table_definition_cache table_open_cache
    table_open_cache_instances temptable_max_mmap temptable_max_ram temptable_use_mmap
    thread_cache_size thread_handling thread_pool_idle_timeout thread_pool_max_threads
    thread_pool_oversubscribe thread_pool_prio_kickup_timer thread_pool_priority
    thread_pool_size thread_pool_stall_limit thread_stack time_zone tmp_memory_table_size
    tmp_table_size transaction_alloc_block_size transaction_isolation transaction_prealloc_size
    tx_isolation use_stat_tables userstat wait_timeout
";

/// Those of InnoDB.
const INNODB: &str = "
    adaptive_flushing adaptive_flushing_lwm adaptive_hash_index adaptive_hash_index_parts
    adaptive_max_sleep_delay autoextend_increment autoinc_lock_mode buffer_pool_chunk_size
    buffer_pool_dump_at_shutdown buffer_pool_dump_pct buffer_pool_in_core_file
    buffer_pool_instances buffer_pool_load_at_startup buffer_pool_size buffer_pool_size_max
    change_buffer_max_size change_buffering checksum_algorithm checksums commit_concurrency
    compression_default compression_failure_threshold_pct compression_level
    compression_pad_pct_max concurrency_tickets data_file_buffering data_file_write_through
    ddl_buffer_size ddl_threads deadlock_detect dedicated_server default_row_format doublewrite
    doublewrite_batch_size doublewrite_files doublewrite_pages extend_and_initialize
    fast_shutdown file_format file_format_max file_per_table fill_factor flush_log_at_timeout
    flush_log_at_trx_commit flush_method flush_neighbors flush_sync flushing_avg_loops
    fsync_threshold idle_flush_pct immediate_scrub_data_uncompressed io_capacity io_capacity_max
    large_prefix lock_schedule_algorithm lock_wait_timeout log_buffer_size log_checksums
    log_compressed_pages log_file_buffering log_file_mmap log_file_size log_files_in_group
    log_spin_cpu_abs_lwm log_spin_cpu_pct_hwm log_spin_wait_delay log_wait_for_flush_spin_hwm
    log_write_ahead_size log_writer_threads lru_flush_size lru_scan_depth max_dirty_pages_pct
    max_dirty_pages_pct_lwm max_purge_lag max_purge_lag_delay max_purge_lag_wait
    max_undo_log_size monitor_enable numa_interleave old_blocks_pct old_blocks_time open_files
    page_cleaners page_size parallel_read_threads print_all_deadlocks purge_batch_size
    purge_rseg_truncate_frequency purge_threads random_read_ahead read_ahead_threshold
    read_io_threads redo_log_capacity replication_delay rollback_on_timeout rollback_segments
    segment_reserve_factor snapshot_isolation sort_buffer_size spin_wait_delay
    spin_wait_pause_multiplier stats_auto_recalc stats_include_delete_marked stats_method
    stats_on_metadata stats_persistent stats_persistent_sample_pages
    stats_transient_sample_pages status_output status_output_locks strict_mode sync_array_size
    sync_spin_loops table_locks thread_concurrency thread_sleep_delay undo_log_truncate
    undo_logs undo_tablespaces use_atomic_writes use_fallocate use_fdatasync use_native_aio
    use_trim write_io_threads
";

/// Those of Aria.
const ARIA: &str = "
    block_size checkpoint_interval checkpoint_log_activity group_commit group_commit_interval
    log_file_size log_purge_type page_checksum pagecache_age_threshold pagecache_buffer_size
    pagecache_division_limit recover_options sort_buffer_size sync_log_dir
";

/// Those of MyRocks.
const MYROCKS: &str = "
    access_hint_on_compaction_start advise_random_on_open allow_concurrent_memtable_write
    allow_mmap_reads allow_mmap_writes block_cache_size block_restart_interval block_size
    block_size_deviation bulk_load bulk_load_allow_unsorted bulk_load_size bytes_per_sync
    cache_dump cache_high_pri_pool_ratio cache_index_and_filter_blocks
    cache_index_and_filter_with_high_priority checksums_pct commit_in_the_middle
    commit_time_batch_for_recovery compaction_readahead_size compaction_sequential_deletes
    compaction_sequential_deletes_count_sd compaction_sequential_deletes_file_size
    compaction_sequential_deletes_window concurrent_prepare db_write_buffer_size deadlock_detect
    deadlock_detect_depth delayed_write_rate enable_bulk_load_api enable_pipelined_write
    enable_thread_tracking enable_ttl enable_ttl_read_filtering
    enable_write_thread_adaptive_yield flush_log_at_trx_commit force_compute_memtable_stats
    hash_index_allow_collision index_type keep_log_file_num large_prefix lock_wait_timeout
    log_file_time_to_roll manifest_preallocation_size manual_compaction_threads manual_wal_flush
    max_background_compactions max_background_flushes max_background_jobs max_latest_deadlocks
    max_log_file_size max_manifest_file_size max_open_files max_row_locks max_subcompactions
    max_total_wal_size merge_buf_size merge_combine_read_size merge_tmp_file_removal_delay_ms
    new_table_reader_for_compaction_inputs no_block_cache paranoid_checks perf_context_level
    pin_l0_filter_and_index_blocks_in_cache rate_limiter_bytes_per_sec records_in_range
    rollback_on_timeout seconds_between_stat_computes signal_drop_index_thread sim_cache_size
    skip_bloom_filter_on_read skip_fill_cache sst_mgr_rate_bytes_per_sec stats_dump_period_sec
    stats_level stats_recalc_rate store_row_debug_checksums strict_collation_check
    table_cache_numshardbits table_stats_sampling_pct two_write_queues use_adaptive_mutex
    use_clock_cache use_default_sk_cf use_direct_io_for_flush_and_compaction use_direct_reads
    use_fsync validate_tables verify_row_debug_checksums wal_bytes_per_sync wal_recovery_mode
    wal_size_limit_mb wal_ttl_seconds whole_key_filtering write_batch_max_bytes
    write_disable_wal write_ignore_missing_column_families write_policy
";

/// Those of the performance schema.
const PERFORMANCE_SCHEMA: &str = "
    accounts_size consumer_events_stages_current consumer_events_statements_current
    consumer_events_statements_history consumer_events_transactions_current
    consumer_events_waits_current consumer_events_waits_history consumer_global_instrumentation
    consumer_statements_digest consumer_thread_instrumentation digests_size
    events_statements_history_size events_waits_history_size hosts_size instrument
    max_cond_instances max_digest_length max_file_instances max_mutex_instances
    max_rwlock_instances max_sql_text_length max_table_handles max_table_instances
    max_thread_instances
";

/// Those of MyRocks' column families, as RocksDB names them.
const COLUMN_FAMILY: &str = "
    block_based_table_factory block_size bottommost_compression bottommost_compression_opts
    cache_index_and_filter_blocks compaction_pri compaction_style compression compression_opts
    compression_per_level disable_auto_compactions filter_policy format_version index_type
    level0_file_num_compaction_trigger level0_slowdown_writes_trigger level0_stop_writes_trigger
    level_compaction_dynamic_level_bytes max_bytes_for_level_base max_bytes_for_level_multiplier
    max_compaction_bytes max_write_buffer_number memtable_prefix_bloom_size_ratio
    min_write_buffer_number_to_merge num_levels optimize_filters_for_hits
    pin_l0_filter_and_index_blocks_in_cache prefix_extractor soft_pending_compaction_bytes_limit
    target_file_size_base target_file_size_multiplier ttl whole_key_filtering write_buffer_size
";
