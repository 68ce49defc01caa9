//! Every rule with its code.

use crate::rule::{self, Rule};

/// Declares the codes, and the list of rules in their order, from one table.
macro_rules! registry {
    ($($code:ident $file:ident,)*) => {
        /// The codes of the rules.
        pub mod code {
            $(
                #[doc = concat!("Code of `rule/", stringify!($file), ".rs`.")]
                pub const $code: &str = stringify!($code);
            )*
        }

        /// Every rule, by code.
        pub static RULES: &[&Rule] = &[$(&rule::$file::RULE,)*];
    };
}

registry! {
    A001 a001_durability,
    A002 a002_no_durability,
    A003 a003_inherited_debt,
    A004 a004_not_steady,
    A005 a005_cache,
    A006 a006_size_vs_intent,
    A007 a007_page_cache,
    A008 a008_client_bound,
    A009 a009_busy_threads,
    A010 a010_omission,
    A011 a011_client_late,
    A012 a012_durations,
    A013 a013_keys,
    A014 a014_failed,
    A015 a015_not_found,
    A018 a018_frequency,
    A019 a019_smt,
    A020 a020_clock,
    A021 a021_neighbours,
    A022 a022_throttled,
    A023 a023_swap,
    A024 a024_memory_growth,
    A026 a026_disk_full,
    A027 a027_too_short,
    A028 a028_noisy,
    A029 a029_key_order,
    A030 a030_degenerate_tree,
    A031 a031_writer_rate,
    A032 a032_compressibility,
    A033 a033_numa,
    A034 a034_build,
    A035 a035_config_drift,
    A036 a036_order,
    A037 a037_outlier,
    A038 a038_platform,
    A039 a039_one_run,
    A041 a041_found_nothing,
    A042 a042_lower_limit,
    A043 a043_stalls,
    A044 a044_runs_missing,
    A045 a045_incomplete,
    A046 a046_hosts,
    A047 a047_control,
    A048 a048_background_jobs,
    A049 a049_cache_size,
    A050 a050_known_defect,
    A051 a051_unknown_code,
    A052 a052_allocator,
    A053 a053_rows_per_query,
    A054 a054_client_cost,
    A055 a055_protocol,
    A056 a056_free_placement,
    A057 a057_same_cpu,
    A058 a058_foreign_server,
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
        let literals = texts.split('"');
        let is_code = |text: &&str| {
            text.len() == 4
                && text.starts_with('A')
                && text[1..].bytes().all(|b| b.is_ascii_digit())
        };
        let codes: BTreeSet<&str> = literals.filter(is_code).collect();
        let recorded: BTreeSet<&str> =
            rules().iter().filter(|rule| rule.is_recorded).map(|rule| rule.code).collect();
        assert_eq!(codes, recorded);
    }
}
