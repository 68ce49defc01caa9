//! The rules: a file each, named after code and subject.
//!
//! Codes are stable: a rule that goes leaves a gap. To add a rule: its file, its `mod` line and its
//! entry in `RULES`.

mod a001_durability;
mod a002_no_durability;
mod a003_inherited_debt;
mod a004_not_steady;
mod a005_cache;
mod a006_size_vs_intent;
mod a007_page_cache;
mod a008_client_bound;
mod a009_busy_threads;
mod a010_omission;
mod a011_client_late;
mod a012_durations;
mod a013_keys;
mod a014_failed;
mod a015_not_found;
mod a018_frequency;
mod a019_smt;
mod a020_clock;
mod a021_neighbours;
mod a022_throttled;
mod a023_swap;
mod a024_memory_growth;
mod a026_disk_full;
mod a027_too_short;
mod a028_noisy;
mod a029_key_order;
mod a030_degenerate_tree;
mod a031_writer_rate;
mod a032_compressibility;
mod a033_numa;
mod a034_build;
mod a035_config_drift;
mod a036_order;
mod a037_outlier;
mod a038_platform;
mod a039_one_run;
mod a041_found_nothing;
mod a042_lower_limit;
mod a043_stalls;
mod a044_runs_missing;
mod a045_incomplete;
mod a046_hosts;
mod a047_control;
mod a048_background_jobs;
mod a049_cache_size;
mod a050_known_defect;
mod a051_unknown_code;
mod a052_allocator;
mod a053_rows_per_query;
mod a054_client_cost;
mod a055_protocol;
mod a056_free_placement;
mod a057_same_cpu;
mod a058_foreign_server;
mod a059_paused;
mod a060_ways;
mod a061_bound;
mod a062_never_written;
mod a063_one_load;
mod a064_drive;
mod a065_memtable;
mod a066_plans;
mod a067_mixed_loads;
mod a068_slowing_samples;
mod a069_failed_check;
mod a070_lower_bound;
mod a071_durability_not_had;
mod a072_data_apart;
mod a073_watched;
mod a074_profile_refused;
mod a075_mixed_block;
mod a076_machine_classes;
mod a077_partial_block;
mod a078_host_clocks;
mod a079_client_with_server;
mod a080_crash_test;
mod define;
mod observation;

pub use a045_incomplete::RULE as INCOMPLETE;
pub use a047_control::RULE as CONTROL;
pub(crate) use a069_failed_check::RULE as FAILED_CHECK;
pub use define::{Checks, Origin, Rule, moments};
pub(crate) use model::rule_code as code;
pub(crate) use observation::Observation;

/// Every rule, by code.
pub(crate) static RULES: &[&Rule] = &[
    &a001_durability::RULE,
    &a002_no_durability::RULE,
    &a003_inherited_debt::RULE,
    &a004_not_steady::RULE,
    &a005_cache::RULE,
    &a006_size_vs_intent::RULE,
    &a007_page_cache::RULE,
    &a008_client_bound::RULE,
    &a009_busy_threads::RULE,
    &a010_omission::RULE,
    &a011_client_late::RULE,
    &a012_durations::RULE,
    &a013_keys::RULE,
    &a014_failed::RULE,
    &a015_not_found::RULE,
    &a018_frequency::RULE,
    &a019_smt::RULE,
    &a020_clock::RULE,
    &a021_neighbours::RULE,
    &a022_throttled::RULE,
    &a023_swap::RULE,
    &a024_memory_growth::RULE,
    &a026_disk_full::RULE,
    &a027_too_short::RULE,
    &a028_noisy::RULE,
    &a029_key_order::RULE,
    &a030_degenerate_tree::RULE,
    &a031_writer_rate::RULE,
    &a032_compressibility::RULE,
    &a033_numa::RULE,
    &a034_build::RULE,
    &a035_config_drift::RULE,
    &a036_order::RULE,
    &a037_outlier::RULE,
    &a038_platform::RULE,
    &a039_one_run::RULE,
    &a041_found_nothing::RULE,
    &a042_lower_limit::RULE,
    &a043_stalls::RULE,
    &a044_runs_missing::RULE,
    &a045_incomplete::RULE,
    &a046_hosts::RULE,
    &a047_control::RULE,
    &a048_background_jobs::RULE,
    &a049_cache_size::RULE,
    &a050_known_defect::RULE,
    &a051_unknown_code::RULE,
    &a052_allocator::RULE,
    &a053_rows_per_query::RULE,
    &a054_client_cost::RULE,
    &a055_protocol::RULE,
    &a056_free_placement::RULE,
    &a057_same_cpu::RULE,
    &a058_foreign_server::RULE,
    &a059_paused::RULE,
    &a060_ways::RULE,
    &a061_bound::RULE,
    &a062_never_written::RULE,
    &a063_one_load::RULE,
    &a064_drive::RULE,
    &a065_memtable::RULE,
    &a066_plans::RULE,
    &a067_mixed_loads::RULE,
    &a068_slowing_samples::RULE,
    &a069_failed_check::RULE,
    &a070_lower_bound::RULE,
    &a071_durability_not_had::RULE,
    &a072_data_apart::RULE,
    &a073_watched::RULE,
    &a074_profile_refused::RULE,
    &a075_mixed_block::RULE,
    &a076_machine_classes::RULE,
    &a077_partial_block::RULE,
    &a078_host_clocks::RULE,
    &a079_client_with_server::RULE,
    &a080_crash_test::RULE,
];
