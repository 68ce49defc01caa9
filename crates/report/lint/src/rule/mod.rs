//! The rules: a file each, named after code and subject.
//!
//! Codes are stable: a rule that goes leaves a gap. To add a rule, add its file, its `mod` line
//! here and its line in [`crate::registry`].

pub(crate) mod a001_durability;
pub(crate) mod a002_no_durability;
pub(crate) mod a003_inherited_debt;
pub(crate) mod a004_not_steady;
pub(crate) mod a005_cache;
pub(crate) mod a006_size_vs_intent;
pub(crate) mod a007_page_cache;
pub(crate) mod a008_client_bound;
pub(crate) mod a009_busy_threads;
pub(crate) mod a010_omission;
pub(crate) mod a011_client_late;
pub(crate) mod a012_durations;
pub(crate) mod a013_keys;
pub(crate) mod a014_failed;
pub(crate) mod a015_not_found;
pub(crate) mod a018_frequency;
pub(crate) mod a019_smt;
pub(crate) mod a020_clock;
pub(crate) mod a021_neighbours;
pub(crate) mod a022_throttled;
pub(crate) mod a023_swap;
pub(crate) mod a024_memory_growth;
pub(crate) mod a026_disk_full;
pub(crate) mod a027_too_short;
pub(crate) mod a028_noisy;
pub(crate) mod a029_key_order;
pub(crate) mod a030_degenerate_tree;
pub(crate) mod a031_writer_rate;
pub(crate) mod a032_compressibility;
pub(crate) mod a033_numa;
pub(crate) mod a034_build;
pub(crate) mod a035_config_drift;
pub(crate) mod a036_order;
pub(crate) mod a037_outlier;
pub(crate) mod a038_platform;
pub(crate) mod a039_one_run;
pub(crate) mod a041_found_nothing;
pub(crate) mod a042_lower_limit;
pub(crate) mod a043_stalls;
pub(crate) mod a044_runs_missing;
pub(crate) mod a045_incomplete;
pub(crate) mod a046_hosts;
pub(crate) mod a047_control;
pub(crate) mod a048_background_jobs;
pub(crate) mod a049_cache_size;
pub(crate) mod a050_known_defect;
pub(crate) mod a051_unknown_code;
pub(crate) mod a052_allocator;
pub(crate) mod a053_rows_per_query;
pub(crate) mod a054_client_cost;
pub(crate) mod a055_protocol;
pub(crate) mod a056_free_placement;
pub(crate) mod a057_same_cpu;
pub(crate) mod a058_foreign_server;
pub(crate) mod a059_paused;
pub(crate) mod a060_ways;
pub(crate) mod a061_bound;
pub(crate) mod a062_never_written;
mod define;
mod observation;

pub use define::Rule;
pub(crate) use model::rule_code as code;
pub(crate) use observation::Observation;
