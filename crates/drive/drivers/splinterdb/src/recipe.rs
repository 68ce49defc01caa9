//! Compile recipe of the shim: source, header and probes.

use shim::Recipe;

/// A C file that compiles where the function body does.
macro_rules! probe {
    ($($body:tt)*) => {
        concat!(
            "#define SPLINTERDB_PLATFORM_DIR platform_linux\n",
            "#include \"splinterdb/splinterdb.h\"\n",
            "#include \"splinterdb/default_data_config.h\"\n",
            "void probe(splinterdb *db, splinterdb_config *config, splinterdb_iterator *it, ",
            "splinterdb_lookup_result *result, data_config *data, slice any) {\n",
            "(void)db; (void)config; (void)it; (void)result; (void)data; (void)any;\n",
            $($body)*,
            "\n}\n"
        )
    };
}

/// Compile recipe of SplinterDB's shim.
///
/// Source of the dates: [SplinterDB source], history of `include`, September 2022 to June 2026.
pub const RECIPE: Recipe = Recipe {
    source: include_str!("../shim/splinterdb.c"),
    header: "splinterdb/splinterdb.h",
    probes: &[
        // Until June 2026 the longest key was configured.
        ("HAS_KEY_SIZE", probe!("default_data_config_init(8, data);")),
        // Until January 2026 threads were registered with an engine.
        ("HAS_ENGINE_REGISTER", probe!("splinterdb_register_thread(db);")),
        // October 2022: statistics; November 2022: log streams.
        ("HAS_STATISTICS", probe!("splinterdb_stats_print_lookup(db);")),
        ("HAS_LOG_STREAMS", probe!("platform_set_log_streams(stdout, stderr);")),
        // December 2022: background threads.
        ("HAS_BACKGROUND_THREADS", probe!("config->num_normal_bg_threads = 1;")),
        // April and May 2026: iterators that begin below a key.
        ("HAS_COMPARISON_LAST", probe!("splinterdb_iterator_init(db, &it, any, less_than);")),
        ("HAS_COMPARISON_FIRST", probe!("splinterdb_iterator_init(db, &it, less_than, any);")),
        // March and April 2026: flags of a lookup; the old value of an insert and a delete.
        ("HAS_LOOKUP_FLAGS", probe!("splinterdb_lookup_result_init(db, result, 0, 0, (char *)0);")),
        ("HAS_OLD_RESULT", probe!("splinterdb_delete(db, any, result);")),
        // May 2026: values larger than a third of a page. June 2026: compaction on demand.
        ("HAS_BLOBS", probe!("message large; (void)large.cc;")),
        ("HAS_OPTIMIZE", probe!("splinterdb_optimize(db, any, any, 1, (void *)0);")),
        // Fields of the configuration that were added or removed.
        ("HAS_MAX_BRANCHES", probe!("config->max_branches_per_node = 1;")),
        ("HAS_FILTER_REMAINDER", probe!("config->filter_remainder_size = 1;")),
        ("HAS_FILTER_HASH", probe!("config->filter_hash_size = 1;")),
        ("HAS_QUEUE_SCALE", probe!("config->queue_scale_percent = 1;")),
        ("HAS_PREFETCH_BUDGET", probe!("config->prefetch_budget = 1;")),
    ],
};
