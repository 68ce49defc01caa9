//! Every rule with its code.

use crate::rule::{self, Rule};

/// Every rule, by code.
static RULES: &[&Rule] = &[
    &rule::a001_durability::RULE,
    &rule::a002_no_durability::RULE,
    &rule::a003_inherited_debt::RULE,
    &rule::a004_not_steady::RULE,
    &rule::a005_cache::RULE,
    &rule::a006_size_vs_intent::RULE,
    &rule::a007_page_cache::RULE,
    &rule::a008_client_bound::RULE,
    &rule::a009_busy_threads::RULE,
    &rule::a010_omission::RULE,
    &rule::a011_client_late::RULE,
    &rule::a012_durations::RULE,
    &rule::a013_keys::RULE,
    &rule::a014_failed::RULE,
    &rule::a015_not_found::RULE,
    &rule::a018_frequency::RULE,
    &rule::a019_smt::RULE,
    &rule::a020_clock::RULE,
    &rule::a021_neighbours::RULE,
    &rule::a022_throttled::RULE,
    &rule::a023_swap::RULE,
    &rule::a024_memory_growth::RULE,
    &rule::a026_disk_full::RULE,
    &rule::a027_too_short::RULE,
    &rule::a028_noisy::RULE,
    &rule::a029_key_order::RULE,
    &rule::a030_degenerate_tree::RULE,
    &rule::a031_writer_rate::RULE,
    &rule::a032_compressibility::RULE,
    &rule::a033_numa::RULE,
    &rule::a034_build::RULE,
    &rule::a035_config_drift::RULE,
    &rule::a036_order::RULE,
    &rule::a037_outlier::RULE,
    &rule::a038_platform::RULE,
    &rule::a039_one_run::RULE,
    &rule::a041_found_nothing::RULE,
    &rule::a042_lower_limit::RULE,
    &rule::a043_stalls::RULE,
    &rule::a044_runs_missing::RULE,
    &rule::a045_incomplete::RULE,
    &rule::a046_hosts::RULE,
    &rule::a047_control::RULE,
    &rule::a048_background_jobs::RULE,
    &rule::a049_cache_size::RULE,
    &rule::a050_known_defect::RULE,
    &rule::a051_unknown_code::RULE,
    &rule::a052_allocator::RULE,
    &rule::a053_rows_per_query::RULE,
    &rule::a054_client_cost::RULE,
    &rule::a055_protocol::RULE,
    &rule::a056_free_placement::RULE,
    &rule::a057_same_cpu::RULE,
    &rule::a058_foreign_server::RULE,
    &rule::a059_paused::RULE,
    &rule::a060_ways::RULE,
    &rule::a061_bound::RULE,
    &rule::a062_never_written::RULE,
    &rule::a063_one_load::RULE,
    &rule::a064_drive::RULE,
    &rule::a065_memtable::RULE,
    &rule::a066_plans::RULE,
    &rule::a067_mixed_loads::RULE,
    &rule::a068_slowing_samples::RULE,
    &rule::a069_failed_check::RULE,
    &rule::a070_lower_bound::RULE,
    &rule::a071_durability_not_had::RULE,
    &rule::a072_data_apart::RULE,
];

/// Returns every rule, by code.
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the rule of that code, in any case.
pub fn find(code: &str) -> Option<&'static Rule> {
    rules().iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Returns every file below a directory as one text.
    fn texts(dir: &Path) -> String {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let text = |path: std::path::PathBuf| match path.is_dir() {
            true => texts(&path),
            false => fs::read_to_string(path).expect("a file of this repository"),
        };
        entries.map(text).collect()
    }

    #[test]
    fn codes_are_unique_and_ascend() {
        let codes: Vec<&str> = rules().iter().map(|rule| rule.code).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        assert!(find("a001").is_some_and(|rule| rule.code == "A001") && find("A999").is_none());
    }

    #[test]
    fn every_file_is_registered_under_the_code_of_its_name() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rule");
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        let named: BTreeSet<String> =
            names.filter_map(|name| Some(name.split_once('_')?.0.to_uppercase())).collect();
        let registered = rules().iter().map(|rule| rule.code.to_owned()).collect();
        assert_eq!(named, registered);
    }

    #[test]
    fn every_rule_has_trigger_reason_remedy_and_source_without_a_final_stop() {
        for rule in rules() {
            assert!(!rule.moments().is_empty(), "{} checks nothing", rule.code);
            for text in [rule.name, rule.trigger, rule.remedy, rule.source] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", rule.code);
                assert!(!text.contains("  "), "{}: {text}", rule.code);
            }
            assert!(rule.why.ends_with('.') && !rule.why.contains("  "), "{}", rule.code);
        }
    }

    #[test]
    fn codes_of_the_runner_are_those_of_recorded_rules() {
        let texts = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../observe/runner/src"));
        let codes: BTreeSet<&str> =
            texts.split("rule_code::").skip(1).map(|text| &text[..4]).collect();
        let recorded: BTreeSet<&str> =
            rules().iter().filter(|rule| rule.is_recorded).map(|rule| rule.code).collect();
        assert_eq!(codes, recorded);
    }
}
