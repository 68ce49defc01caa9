//! What WiredTiger's options reach beyond its data.
//!
//! Source: [WiredTiger source] `src/config/config_def.c`, of 2.9 to 12.

use engine::OptionReach;

/// What WiredTiger's options reach.
pub static REACH: OptionReach = OptionReach {
    // Those of the table are those of the connection.
    canonical: |name| name.strip_prefix("table.").unwrap_or(name).to_owned(),
    paths: PATHS,
    libraries: "app_metadata collator encryption.name extensions extractor",
    hosts: "tiered_storage.bucket tiered_storage.name",
    plain: &[
        ("", PLAIN),
        ("assay.", "table value_changes"),
        ("eviction.", EVICTION),
        ("log.", LOG),
        ("lsm.", LSM),
        ("lsm_manager.", "merge worker_thread_max"),
    ],
    ..OptionReach::UNKNOWN
};

/// Files and directories.
const PATHS: &str = "
    block_cache.nvram_path block_cache.path chunk_cache.storage_path home huffman_key
    huffman_value log.path operation_tracking.path source statistics_log.path
    statistics_log.sources tiered_storage.cache_directory
";

/// Sizes, counts, switches and algorithms.
const PLAIN: &str = "
    access_pattern_hint allocation_size block_allocation block_compressor buffer_alignment
    cache_cursors cache_max_wait_ms cache_overhead cache_resident cache_size
    cache_stuck_timeout_ms checkpoint.log_size checkpoint.wait checkpoint_cleanup checksum
    dictionary direct_io eviction_checkpoint_target eviction_dirty_target eviction_dirty_trigger
    eviction_target eviction_trigger eviction_updates_target eviction_updates_trigger
    file_extend file_manager.close_handle_minimum file_manager.close_idle_time
    file_manager.close_scan_interval format hash.buckets hash.dhandle_buckets hazard_max
    ignore_in_memory_cache_size immutable internal_item_max internal_key_max
    internal_key_truncate internal_page_max io_capacity.total key_gap leaf_item_max leaf_key_max
    leaf_page_max leaf_value_max memory_page_image_max memory_page_max mmap mmap_all
    multiprocess os_cache_dirty_max os_cache_max prefetch.available prefetch.default
    prefix_compression prefix_compression_min session_max session_scratch_max
    session_table_cache shared_cache.chunk shared_cache.quota shared_cache.reserve
    shared_cache.size split_deepen_min_child split_deepen_per_child split_pct statistics
    transaction_sync.method write_through
";

/// Those of eviction.
const EVICTION: &str = "
    evict_sample_inmem legacy_page_visit_strategy threads_max threads_min
";

/// Those of the log.
const LOG: &str = "
    archive compressor file_max force_write_wait os_cache_dirty_pct prealloc prealloc_init_count
    recover remove zero_fill
";

/// Those of an LSM tree.
const LSM: &str = "
    auto_throttle bloom bloom_bit_count bloom_hash_count bloom_oldest chunk_count_limit
    chunk_max chunk_size merge_max merge_min
";
