//! Every rule with its code.

use crate::rule::{RULES, Rule};

/// Returns every rule, by code.
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the rule of that code, in any case.
pub fn find(code: &str) -> Option<&'static Rule> {
    rules().iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Returns whether a rule has that code, in any case.
pub fn has_rule(code: &str) -> bool {
    find(code).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::rule::moments;

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
            assert!(!moments(rule).is_empty(), "{} checks nothing", rule.code);
            for text in [rule.name, rule.trigger, rule.remedy, rule.source] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", rule.code);
                assert!(!text.contains("  "), "{}: {text}", rule.code);
            }
            assert!(rule.why.ends_with('.') && !rule.why.contains("  "), "{}", rule.code);
        }
    }

    #[test]
    fn recorded_codes_are_codes_of_rules_that_the_runner_records() {
        let texts = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../observe/runner/src"));
        let codes: BTreeSet<&str> =
            texts.split("rule_code::").skip(1).map(|text| &text[..4]).collect();
        assert_eq!(codes, model::rule_code::ALL.iter().copied().collect());
        assert!(codes.into_iter().all(has_rule));
    }
}
