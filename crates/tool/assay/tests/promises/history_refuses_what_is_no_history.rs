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
    assert_snapshot!(refused("", &[]), @"
    × mine.csv
    ╰─▶ the file has no header: the first line names the columns, the first column is a time, a
        commit or an index, every further column one metric
    ");
    assert_snapshot!(refused("time,ops\n", &[]), @"
    × mine.csv
    ╰─▶ the file has no rows: the first line names the columns, the first column is a time, a commit
        or an index, every further column one metric
    ");
    assert_snapshot!(refused("time,ops\n1,10\n2,NaN\n", &[]), @"
    × mine.csv
    ╰─▶ line 3: `NaN` in column `ops` is no finite number: leave the field empty where nothing was
        measured
    ");
    assert_snapshot!(refused("time,ops\n1,10\n2,ten\n", &[]), @"
    × mine.csv
    ╰─▶ line 3: `ten` in column `ops` is no finite number: leave the field empty where nothing was
        measured
    ");
    assert_snapshot!(refused("time,ops\n1,10\n2\n", &[]), @"
    × mine.csv
    ╰─▶ line 3 has 1 fields, and the header 2
    ");
    assert_snapshot!(refused("time,ops\n2026-01-02,10\n2026-01-01,11\n", &[]), @"
    × mine.csv
    ╰─▶ line 3: 2026-01-01 stands after 2026-01-02: sort the rows by their first column, oldest
        first
    ");
    assert_snapshot!(refused("time,ops,ops\n1,10,11\n", &[]), @"
    × mine.csv
    ╰─▶ two columns are named `ops`: each metric has a name of its own
    ");
}

#[test]
fn too_few_values_are_named_with_what_would_be_needed() {
    assert_snapshot!(refused("time,ops\n1,10\n", &[]), @"
    × ops has one value: a change needs at least 4 values, two before it and two after; 25 and more
    │ tell changes from the noise that runs share
    ");
    assert_snapshot!(refused("time,ops\n1,10\n2,\n3,\n4,11\n5,\n", &[]), @"
    × ops has 2 values in 5 rows: a change needs at least 4 values, two before it and two after; 25
    │ and more tell changes from the noise that runs share
    ");
}

#[test]
fn a_metric_must_be_known_and_its_better_side_too() {
    assert_snapshot!(refused(FIVE, &["--metric", "opps"]), @"
    × no metric is named `opps`
    help: did you mean `ops`?
    ");
    assert_snapshot!(refused(FIVE, &["--metric", "throughput"]), @"
    × no metric is named `throughput`
    help: columns: ops
    ");
    assert_snapshot!(refused(FIVE, &["--fail-on-regression"]), @"
    × which way is `ops` better? a regression cannot be told without: add --higher-is-better ops or
    │ --lower-is-better ops, or choose metrics with --metric
    ");
    assert_snapshot!(refused(FIVE, &["--higher-is-better", "qps"]), @"
    × no metric is named `qps`
    help: did you mean `ops`?
    ");
    let both = ["--higher-is-better", "ops", "--lower-is-better", "ops"];
    assert_snapshot!(refused(FIVE, &both), @"  × `ops` is said to be better both ways: name it once");
    assert_snapshot!(refused(FIVE, &["--since", "6"]), @"  × no point is labelled `6`: labels run from 1 to 5");
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
    assert_snapshot!(said(&[], 1), @"
    × nothing has been run yet (looked in results)
    help: run an experiment first, or read a file with --import
    ");
    assert_snapshot!(said(&["--import", "yours.csv"], 1), @"
    × cannot read yours.csv
    ╰─▶ No such file or directory (os error 2)
    ");
    let few = ["--import", "mine.csv", "--min-effect", "2"];
    assert_snapshot!(said(&few, 2), @"
    error: invalid value '2' for '--min-effect <SHARE>': `2` is no share below 1: write 2% or 0.02

    For more information, try '--help'.
    ");
    let strict = ["--import", "mine.csv", "--strictness", "none"];
    assert_snapshot!(said(&strict, 2), @"
    error: invalid value 'none' for '--strictness <N>': `none` is no strictness: write a number such as 4, or 3

    For more information, try '--help'.
    ");
    assert!(said(&["--import", "mine.csv", "--engine", "lmdb"], 2).contains("cannot be used with"));
}
