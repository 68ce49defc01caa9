//! `assay history` says what is wrong with a file or a question, and what would be needed.

use insta::assert_snapshot;

use crate::place::Place;

/// Returns what is said of a file.
fn refused(content: &str, more: &[&str]) -> String {
    let place = Place::new();
    place.write("mine.csv", content);
    let said = place.assay(&[&["history", "--import", "mine.csv"], more].concat());
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    said.err
}

const FIVE: &str = "time,ops\n1,10\n2,11\n3,10\n4,11\n5,10\n";

#[test]
fn a_file_that_is_no_history_is_refused_by_its_line() {
    assert_snapshot!(refused("", &[]), @"");
    assert_snapshot!(refused("time,ops\n", &[]), @"");
    assert_snapshot!(refused("time,ops\n1,10\n2,NaN\n", &[]), @"");
    assert_snapshot!(refused("time,ops\n1,10\n2,ten\n", &[]), @"");
    assert_snapshot!(refused("time,ops\n1,10\n2\n", &[]), @"");
    assert_snapshot!(refused("time,ops\n2026-01-02,10\n2026-01-01,11\n", &[]), @"");
    assert_snapshot!(refused("time,ops,ops\n1,10,11\n", &[]), @"");
}

#[test]
fn too_few_values_are_named_with_what_would_be_needed() {
    assert_snapshot!(refused("time,ops\n1,10\n", &[]), @"");
    assert_snapshot!(refused("time,ops\n1,10\n2,\n3,\n4,11\n5,\n", &[]), @"");
}

#[test]
fn a_metric_must_be_known_and_its_better_side_too() {
    assert_snapshot!(refused(FIVE, &["--metric", "opps"]), @"");
    assert_snapshot!(refused(FIVE, &["--metric", "throughput"]), @"");
    assert_snapshot!(refused(FIVE, &["--fail-on-regression"]), @"");
    assert_snapshot!(refused(FIVE, &["--higher-is-better", "qps"]), @"");
    let both = ["--higher-is-better", "ops", "--lower-is-better", "ops"];
    assert_snapshot!(refused(FIVE, &both), @"");
    assert_snapshot!(refused(FIVE, &["--since", "6"]), @"");
}

#[test]
fn a_gap_is_no_error_and_is_told() {
    let place = Place::new();
    place.write("mine.csv", "time,ops\n1,10\n2,\n3,10\n4,11\n5,10\n");
    let said = place.assay(&["history", "--import", "mine.csv"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(said.out.contains("1 of 5 values missing: left out, never filled"), "{}", said.out);
}

#[test]
fn wrong_words_on_the_command_line_are_refused() {
    let place = Place::new();
    place.write("mine.csv", FIVE);
    let said = |more: &[&str], code: i32| {
        let said = place.assay(&[&["history"], more].concat());
        assert_eq!((said.code, said.out.as_str()), (code, ""));
        said.err
    };
    assert_snapshot!(said(&[], 1), @"");
    assert_snapshot!(said(&["--import", "yours.csv"], 1), @"");
    let few = ["--import", "mine.csv", "--min-effect", "2"];
    assert_snapshot!(said(&few, 2), @"");
    let strict = ["--import", "mine.csv", "--strictness", "none"];
    assert_snapshot!(said(&strict, 2), @"");
    assert!(said(&["--import", "mine.csv", "--engine", "lmdb"], 2).contains("cannot be used with"));
}
