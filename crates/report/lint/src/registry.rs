//! Every rule.

use crate::rule::{self, Rule};

/// Every rule, by code.
pub static RULES: &[&Rule] = &[
    &rule::A001,
    &rule::A002,
    &rule::A003,
    &rule::A004,
    &rule::A005,
    &rule::A006,
    &rule::A007,
    &rule::A008,
    &rule::A009,
    &rule::A010,
    &rule::A011,
    &rule::A012,
    &rule::A013,
    &rule::A014,
    &rule::A015,
    &rule::A018,
    &rule::A019,
    &rule::A020,
    &rule::A021,
    &rule::A022,
    &rule::A023,
    &rule::A024,
    &rule::A026,
    &rule::A027,
    &rule::A028,
    &rule::A029,
    &rule::A030,
    &rule::A031,
    &rule::A032,
    &rule::A033,
    &rule::A034,
    &rule::A035,
    &rule::A036,
    &rule::A037,
    &rule::A038,
    &rule::A039,
    &rule::A041,
    &rule::A042,
    &rule::A043,
    &rule::A044,
    &rule::A045,
    &rule::A046,
    &rule::A047,
    &rule::A048,
    &rule::A049,
    &rule::A050,
    &rule::A051,
    &rule::A052,
    &rule::A053,
    &rule::A054,
    &rule::A055,
    &rule::A056,
    &rule::A057,
    &rule::A058,
];

/// Returns every rule, by code.
#[must_use]
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the rule of that code, whatever its case.
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
    fn every_file_of_a_rule_is_registered_under_the_code_it_is_named_after() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rule");
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        let named: BTreeSet<String> =
            names.filter_map(|name| Some(name.split_once('_')?.0.to_uppercase())).collect();
        let registered = rules().iter().map(|rule| rule.code.to_owned()).collect();
        assert_eq!(named, registered);
    }

    #[test]
    fn every_rule_says_when_why_what_to_do_and_who_says_so_and_ends_no_text_with_a_stop() {
        for rule in rules() {
            let looks = [rule.plan.is_some(), rule.run.is_some(), rule.comparison.is_some()];
            assert!(rule.is_recorded || looks.contains(&true), "{} sees nothing", rule.code);
            for text in [rule.name, rule.trigger, rule.remedy, rule.source] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", rule.code);
                assert!(!text.contains("  "), "{}: {text}", rule.code);
            }
            assert!(rule.why.ends_with('.') && !rule.why.contains("  "), "{}", rule.code);
        }
    }

    #[test]
    fn every_code_that_the_runner_records_is_that_of_a_rule_that_passes_it_on() {
        let texts = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../observe/runner/src"));
        let written = texts.split('"');
        let is_code = |word: &&str| {
            word.len() == 4
                && word.starts_with('A')
                && word[1..].bytes().all(|b| b.is_ascii_digit())
        };
        let codes: BTreeSet<&str> = written.filter(is_code).collect();
        let passed_on: BTreeSet<&str> =
            rules().iter().filter(|rule| rule.is_recorded).map(|rule| rule.code).collect();
        assert_eq!(codes, passed_on);
    }
}
