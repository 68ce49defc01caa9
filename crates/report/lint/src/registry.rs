//! Every rule with its code.

pub use model::rule_code as code;

use crate::rule::{self, Rule};

/// Declares the list of rules in their order.
macro_rules! registry {
    ($($file:ident,)*) => {
        /// Every rule, by code.
        pub static RULES: &[&Rule] = &[$(&rule::$file::RULE,)*];
    };
}

registry! {
    a001_durability,
    a002_no_durability,
    a003_inherited_debt,
    a004_not_steady,
    a005_cache,
    a006_size_vs_intent,
    a007_page_cache,
    a008_client_bound,
    a009_busy_threads,
    a010_omission,
    a011_client_late,
    a012_durations,
    a013_keys,
    a014_failed,
    a015_not_found,
    a018_frequency,
    a019_smt,
    a020_clock,
    a021_neighbours,
    a022_throttled,
    a023_swap,
    a024_memory_growth,
    a026_disk_full,
    a027_too_short,
    a028_noisy,
    a029_key_order,
    a030_degenerate_tree,
    a031_writer_rate,
    a032_compressibility,
    a033_numa,
    a034_build,
    a035_config_drift,
    a036_order,
    a037_outlier,
    a038_platform,
    a039_one_run,
    a041_found_nothing,
    a042_lower_limit,
    a043_stalls,
    a044_runs_missing,
    a045_incomplete,
    a046_hosts,
    a047_control,
    a048_background_jobs,
    a049_cache_size,
    a050_known_defect,
    a051_unknown_code,
    a052_allocator,
    a053_rows_per_query,
    a054_client_cost,
    a055_protocol,
    a056_free_placement,
    a057_same_cpu,
    a058_foreign_server,
}

/// Returns every rule, by code.
#[must_use]
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the rule of that code, in any case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code))
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
            let checks = [rule.plan.is_some(), rule.run.is_some(), rule.comparison.is_some()];
            assert!(rule.is_recorded || checks.contains(&true), "{} checks nothing", rule.code);
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
