//! What Postgres' options reach beyond its data.
//!
//! Source: Postgres' documentation, "Server Configuration", of 12 to 18.

use driver_sql::OWN_NAMES;
use engine::OptionReach;

/// What Postgres' options reach.
pub static REACH: OptionReach = OptionReach {
    canonical: str::to_ascii_lowercase,
    paths: PATHS,
    libraries: LIBRARIES,
    commands: COMMANDS,
    hosts: HOSTS,
    plain: &[("", PLAIN), ("assay.", OWN_NAMES)],
    ..OptionReach::UNKNOWN
};

/// Files and directories.
const PATHS: &str = "
    config_file data_directory default_tablespace extension_control_path external_pid_file
    hba_file ident_file include include_dir include_if_exists krb_server_keyfile log_directory
    log_filename promote_trigger_file ssl_ca_file ssl_cert_file ssl_crl_dir ssl_crl_file
    ssl_dh_params_file ssl_key_file stats_temp_directory temp_tablespaces trigger_file
    unix_socket_directories
";

/// Libraries that the server loads.
const LIBRARIES: &str = "
    archive_library dynamic_library_path jit_provider local_preload_libraries
    oauth_validator_libraries session_preload_libraries shared_preload_libraries
";

/// Commands that the server runs in a shell.
const COMMANDS: &str = "
    archive_cleanup_command archive_command recovery_end_command restore_command
    ssl_passphrase_command
";

/// Addresses at which it listens, and to which it connects.
const HOSTS: &str = "
    bonjour bonjour_name listen_addresses port primary_conninfo primary_slot_name ssl
    unix_socket_group unix_socket_permissions
";

/// Sizes, counts, costs, times and switches.
const PLAIN: &str = "
    archive_mode archive_timeout autovacuum autovacuum_analyze_scale_factor
    autovacuum_analyze_threshold autovacuum_freeze_max_age autovacuum_max_workers
    autovacuum_multixact_freeze_max_age autovacuum_naptime autovacuum_vacuum_cost_delay
    autovacuum_vacuum_cost_limit autovacuum_vacuum_insert_scale_factor
    autovacuum_vacuum_insert_threshold autovacuum_vacuum_max_threshold
    autovacuum_vacuum_scale_factor autovacuum_vacuum_threshold autovacuum_work_mem
    autovacuum_worker_slots backend_flush_after bgwriter_delay bgwriter_flush_after
    bgwriter_lru_maxpages bgwriter_lru_multiplier checkpoint_completion_target
    checkpoint_flush_after checkpoint_timeout checkpoint_warning client_min_messages
    commit_delay commit_siblings commit_timestamp_buffers compute_query_id constraint_exclusion
    cpu_index_tuple_cost cpu_operator_cost cpu_tuple_cost cursor_tuple_fraction data_sync_retry
    deadlock_timeout debug_io_direct debug_parallel_query default_statistics_target
    default_toast_compression default_transaction_deferrable default_transaction_isolation
    default_transaction_read_only effective_cache_size effective_io_concurrency
    enable_async_append enable_bitmapscan enable_distinct_reordering enable_gathermerge
    enable_group_by_reordering enable_hashagg enable_hashjoin enable_incremental_sort
    enable_indexonlyscan enable_indexscan enable_material enable_memoize enable_mergejoin
    enable_nestloop enable_parallel_append enable_parallel_hash enable_partition_pruning
    enable_partitionwise_aggregate enable_partitionwise_join enable_presorted_aggregate
    enable_self_join_elimination enable_seqscan enable_sort enable_tidscan extra_float_digits
    file_copy_method file_extend_method force_parallel_mode from_collapse_limit fsync
    full_page_writes geqo geqo_effort geqo_generations geqo_pool_size geqo_seed
    geqo_selection_bias geqo_threshold gin_fuzzy_search_limit gin_pending_list_limit
    hash_mem_multiplier hot_standby hot_standby_feedback huge_page_size huge_pages
    idle_in_transaction_session_timeout idle_session_timeout io_combine_limit
    io_max_combine_limit io_max_concurrency io_method io_workers jit jit_above_cost
    jit_inline_above_cost jit_optimize_above_cost join_collapse_limit lock_timeout
    log_autovacuum_min_duration log_checkpoints log_lock_waits log_min_duration_statement
    log_min_messages log_statement log_temp_files logical_decoding_work_mem
    maintenance_io_concurrency maintenance_work_mem max_connections max_files_per_process
    max_locks_per_transaction max_parallel_maintenance_workers max_parallel_workers
    max_parallel_workers_per_gather max_pred_locks_per_page max_pred_locks_per_relation
    max_pred_locks_per_transaction max_prepared_transactions max_replication_slots
    max_slot_wal_keep_size max_stack_depth max_standby_archive_delay max_standby_streaming_delay
    max_wal_senders max_wal_size max_worker_processes min_dynamic_shared_memory
    min_parallel_index_scan_size min_parallel_table_scan_size min_wal_size
    multixact_member_buffers multixact_offset_buffers notify_buffers old_snapshot_threshold
    parallel_leader_participation parallel_setup_cost parallel_tuple_cost password_encryption
    pg_stat_statements.max pg_stat_statements.save pg_stat_statements.track
    pg_stat_statements.track_planning pg_stat_statements.track_utility plan_cache_mode
    random_page_cost recovery_prefetch recursive_worktable_factor restart_after_crash
    seq_page_cost serializable_buffers shared_buffers shared_memory_type statement_timeout
    stats_fetch_consistency subtransaction_buffers superuser_reserved_connections
    synchronize_seqscans synchronous_commit synchronous_standby_names tcp_keepalives_count
    tcp_keepalives_idle tcp_keepalives_interval tcp_user_timeout temp_buffers temp_file_limit
    timezone track_activities track_activity_query_size track_commit_timestamp
    track_cost_delay_timing track_counts track_functions track_io_timing track_wal_io_timing
    transaction_buffers transaction_timeout vacuum_buffer_usage_limit vacuum_cost_delay
    vacuum_cost_limit vacuum_cost_page_dirty vacuum_cost_page_hit vacuum_cost_page_miss
    vacuum_defer_cleanup_age vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age
    vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age
    vacuum_multixact_freeze_min_age vacuum_multixact_freeze_table_age vacuum_truncate
    wal_buffers wal_compression wal_decode_buffer_size wal_init_zero wal_keep_segments
    wal_keep_size wal_level wal_log_hints wal_receiver_status_interval wal_receiver_timeout
    wal_recycle wal_sender_timeout wal_skip_threshold wal_sync_method wal_writer_delay
    wal_writer_flush_after work_mem
";
