//! What RocksDB's options reach beyond its data.
//!
//! Source: [RocksDB source] `include/rocksdb/options.h`, `advanced_options.h`, `table.h`, of 5.18
//! to 11.

use engine::OptionReach;

/// What RocksDB's options reach.
pub static REACH: OptionReach = OptionReach {
    paths: "wal_dir db_log_dir db_paths cf_paths block_based_table_factory.persistent_cache",
    libraries: LIBRARIES,
    plain: &[
        ("", DATABASE),
        ("", COLUMN_FAMILY),
        ("assay.", DRIVER),
        ("block_based_table_factory.", TABLE),
        ("bottommost_compression_opts.", COMPRESSION),
        ("compaction_options_universal.", UNIVERSAL),
        ("compression_opts.", COMPRESSION),
    ],
    ..OptionReach::UNKNOWN
};

/// Objects that the engine makes by a name or an address, files included.
const LIBRARIES: &str = "
    block_based_table_factory.flush_block_policy_factory
    block_based_table_factory.user_defined_index_factory compaction_filter
    compaction_filter_factory compaction_service comparator env file_checksum_gen_factory
    file_system fs info_log listeners merge_operator rate_limiter row_cache sst_file_manager
    sst_partitioner_factory statistics table_factory table_properties_collector_factories
    wal_filter write_buffer_manager
";

/// Sizes, counts and switches of the database.
const DATABASE: &str = "
    WAL_size_limit_MB WAL_ttl_seconds access_hint_on_compaction_start advise_random_on_open
    allow_2pc allow_concurrent_memtable_write allow_data_in_errors allow_fallocate
    allow_ingest_behind allow_mmap_reads allow_mmap_writes async_wal_precreate atomic_flush
    avoid_flush_during_recovery avoid_flush_during_shutdown avoid_unnecessary_blocking_io
    background_close_inactive_wals base_background_compactions best_efforts_recovery
    bgerror_resume_retry_interval bytes_per_sync compaction_readahead_size
    compaction_verify_record_count create_if_missing create_missing_column_families
    daily_offpeak_time_utc db_write_buffer_size delayed_write_rate
    delete_obsolete_files_period_micros dump_malloc_stats enable_pipelined_write
    enable_thread_tracking enable_write_thread_adaptive_yield enforce_single_del_contracts
    error_if_exists fail_if_options_file_error flush_verify_memtable_count info_log_level
    is_fd_close_on_exec keep_log_file_num log_file_time_to_roll log_readahead_size
    lowest_used_cache_tier manifest_preallocation_size manual_wal_flush
    max_background_compactions max_background_flushes max_background_jobs
    max_bgerror_resume_count max_compaction_trigger_wakeup_seconds max_file_opening_threads
    max_log_file_size max_manifest_file_size max_manifest_space_amp_pct max_open_files
    max_subcompactions max_total_wal_size max_write_batch_group_size_bytes
    metadata_write_temperature new_table_reader_for_compaction_inputs open_files_async
    paranoid_checks persist_stats_to_disk prefix_seek_opt_in_only preserve_deletes
    random_access_max_buffer_size recycle_log_file_num skip_checking_sst_file_sizes_on_db_open
    skip_stats_update_on_db_open stats_dump_period_sec stats_history_buffer_size
    stats_persist_period_sec strict_bytes_per_sync table_cache_numshardbits
    track_and_verify_wals track_and_verify_wals_in_manifest two_write_queues unordered_write
    use_adaptive_mutex use_direct_io_for_flush_and_compaction use_direct_reads use_fsync
    verify_sst_unique_id_in_manifest wal_bytes_per_sync wal_compression wal_recovery_mode
    wal_write_temperature writable_file_max_buffer_size write_dbid_to_manifest
    write_identity_file write_thread_max_yield_usec write_thread_slow_yield_usec
";

/// Sizes, counts, switches and algorithms of a column family.
const COLUMN_FAMILY: &str = "
    arena_block_size blob_cache blob_compaction_readahead_size blob_compression_type
    blob_file_size blob_file_starting_level blob_garbage_collection_age_cutoff
    blob_garbage_collection_force_threshold block_protection_bytes_per_key bloom_locality
    bottommost_compression bottommost_compression_opts bottommost_file_compaction_delay
    bottommost_temperature compaction_options_fifo.age_for_warm
    compaction_options_fifo.allow_compaction compaction_options_fifo.max_table_files_size
    compaction_options_fifo.ttl compaction_pri compaction_style compression compression_opts
    compression_per_level default_temperature default_write_temperature disable_auto_compactions
    enable_blob_files enable_blob_garbage_collection experimental_mempurge_threshold
    force_consistency_checks hard_pending_compaction_bytes_limit hard_rate_limit
    ignore_max_compaction_bytes_for_input inplace_update_num_locks inplace_update_support
    last_level_temperature level0_file_num_compaction_trigger level0_slowdown_writes_trigger
    level0_stop_writes_trigger level_compaction_dynamic_file_size
    level_compaction_dynamic_level_bytes max_bytes_for_level_base max_bytes_for_level_multiplier
    max_bytes_for_level_multiplier_additional max_compaction_bytes max_mem_compaction_level
    max_sequential_skip_in_iterations max_successive_merges max_write_buffer_number
    max_write_buffer_number_to_maintain max_write_buffer_size_to_maintain
    memtable_avg_op_scan_flush_trigger memtable_factory memtable_huge_page_size
    memtable_max_range_deletions memtable_op_scan_flush_trigger memtable_prefix_bloom_size_ratio
    memtable_protection_bytes_per_key memtable_whole_key_filtering min_blob_size
    min_write_buffer_number_to_merge num_levels optimize_filters_for_hits paranoid_file_checks
    periodic_compaction_seconds persist_user_defined_timestamps preclude_last_level_data_seconds
    prefix_extractor prepopulate_blob_cache preserve_internal_time_seconds
    purge_redundant_kvs_while_flush rate_limit_delay_max_milliseconds report_bg_io_stats
    sample_for_compression soft_pending_compaction_bytes_limit soft_rate_limit
    strict_max_successive_merges target_file_size_base target_file_size_is_upper_bound
    target_file_size_multiplier ttl uncache_aggressiveness verify_checksums_in_compaction
    write_buffer_size
";

/// Those of block-based tables.
const TABLE: &str = "
    block_align block_cache block_cache_compressed block_restart_interval block_size
    block_size_deviation cache_index_and_filter_blocks
    cache_index_and_filter_blocks_with_high_priority checksum data_block_hash_table_util_ratio
    data_block_index_type decouple_partitioned_filters detect_filter_construct_corruption
    enable_index_compression filter_policy format_version hash_index_allow_collision
    index_block_restart_interval index_block_search_type index_shortening index_type
    initial_auto_readahead_size max_auto_readahead_size metadata_block_size no_block_cache
    num_file_reads_for_auto_readahead optimize_filters_for_memory partition_filters
    pin_l0_filter_and_index_blocks_in_cache pin_top_level_index_and_filter
    prepopulate_block_cache read_amp_bytes_per_bit super_block_alignment_size
    super_block_alignment_space_overhead_ratio use_delta_encoding verify_compression
    whole_key_filtering
";

/// Those of universal compaction.
const UNIVERSAL: &str = "
    allow_trivial_move compression_size_percent incremental max_merge_width max_read_amp
    max_size_amplification_percent min_merge_width reduce_file_locking size_ratio stop_style
";

/// Those of a compression.
const COMPRESSION: &str = "
    checksum enabled level max_compressed_bytes_per_kb max_dict_buffer_bytes max_dict_bytes
    parallel_threads strategy use_zstd_dict_trainer window_bits zstd_max_train_bytes
";

/// The driver's own.
const DRIVER: &str = "
    blob_cache cache cache_high_priority_share cache_low_priority_share cache_shard_bits
    default_compression multi_get perf_context statistics value_changes
";
