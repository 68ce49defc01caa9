//! `assay history` rejects invalid files and arguments with the remedy.

use insta::assert_snapshot;

use crate::workspace::Workspace;

/// Returns the error for a file.
fn rejected(content: &str, more: &[&str]) -> String {
    let workspace = Workspace::new();
    workspace.write("mine.csv", content);
    let output = workspace.assay(&[&["history", "--import", "mine.csv"], more].concat());
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    output.err
}

const FIVE: &str = "time,ops\n1,10\n2,11\n3,10\n4,11\n5,10\n";

#[test]
fn invalid_history_file_is_rejected_with_its_line() {
    assert_snapshot!(rejected("", &[]), @"
    × mine.csv
    ╰─▶ the file has no header: the first line names the columns, the first column is a time, a
        commit or an index, every further column one metric
    ");
    assert_snapshot!(rejected("time,ops\n", &[]), @"
    × mine.csv
    ╰─▶ the file has no rows: the first line names the columns, the first column is a time, a commit
        or an index, every further column one metric
    ");
    assert_snapshot!(rejected("time,ops\n1,10\n2,NaN\n", &[]), @"
    × mine.csv
    ╰─▶ line 3: `NaN` in column `ops` is no finite number: leave the field empty where nothing was
        measured
    ");
    assert_snapshot!(rejected("time,ops\n1,10\n2,ten\n", &[]), @"
    × mine.csv
    ╰─▶ line 3: `ten` in column `ops` is no finite number: leave the field empty where nothing was
        measured
    ");
    assert_snapshot!(rejected("time,ops\n1,10\n2\n", &[]), @"
    × mine.csv
    ╰─▶ line 3 has 1 fields, and the header 2
    ");
    assert_snapshot!(rejected("time,ops\n2026-01-02,10\n2026-01-01,11\n", &[]), @"
    × mine.csv
    ╰─▶ line 3: 2026-01-01 stands after 2026-01-02: sort the rows by their first column, oldest
        first
    ");
    assert_snapshot!(rejected("time,ops,ops\n1,10,11\n", &[]), @"
    × mine.csv
    ╰─▶ two columns are named `ops`: each metric has a name of its own
    ");
}

#[test]
fn too_few_values_are_rejected_with_the_minimum() {
    assert_snapshot!(rejected("time,ops\n1,10\n", &[]), @"
    × ops has one value: a change needs at least 4 values, two before it and two after; with 25 or
    │ more, autocorrelated noise is recognised
    ");
    assert_snapshot!(rejected("time,ops\n1,10\n2,\n3,\n4,11\n5,\n", &[]), @"
    × ops has 2 values in 5 rows: a change needs at least 4 values, two before it and two after;
    │ with 25 or more, autocorrelated noise is recognised
    ");
}

#[test]
fn metric_and_direction_must_be_known() {
    assert_snapshot!(rejected(FIVE, &["--metric", "opps"]), @"
    × no metric is named `opps`
    help: did you mean `ops`?
    ");
    assert_snapshot!(rejected(FIVE, &["--metric", "throughput"]), @"
    × no metric is named `throughput`
    help: columns: ops
    ");
    assert_snapshot!(rejected(FIVE, &["--fail-on-regression"]), @"
    × `ops` has no better direction, so it has no regressions: add --higher-is-better ops or
    │ --lower-is-better ops, or choose metrics with --metric
    ");
    assert_snapshot!(rejected(FIVE, &["--higher-is-better", "qps"]), @"
    × no metric is named `qps`
    help: did you mean `ops`?
    ");
    let both = ["--higher-is-better", "ops", "--lower-is-better", "ops"];
    assert_snapshot!(rejected(FIVE, &both), @"  × `ops` is given both directions: name it once");
    assert_snapshot!(rejected(FIVE, &["--since", "6"]), @"  × no point is labelled `6`: labels run from 1 to 5");
}

#[test]
fn missing_values_are_reported_and_skipped() {
    let workspace = Workspace::new();
    workspace.write("mine.csv", "time,ops\n1,10\n2,\n3,10\n4,11\n5,10\n");
    let output = workspace.assay(&["history", "--import", "mine.csv"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("1 of 5 values missing: left out, never filled"), "{}", output.out);
}

#[test]
fn invalid_history_arguments_are_rejected() {
    let workspace = Workspace::new();
    workspace.write("mine.csv", FIVE);
    let output = |more: &[&str], code: i32| {
        let output = workspace.assay(&[&["history"], more].concat());
        assert_eq!((output.code, output.out.as_str()), (code, ""));
        output.err
    };
    assert_snapshot!(output(&[], 1), @"
    × no experiment found in results
    help: run an experiment first, or read a file with --import
    ");
    assert_snapshot!(output(&["--import", "yours.csv"], 1), @"
    × cannot read yours.csv
    ╰─▶ No such file or directory (os error 2)
    ");
    let few = ["--import", "mine.csv", "--min-effect", "2"];
    assert_snapshot!(output(&few, 2), @"
    error: invalid value '2' for '--min-effect <PERCENT>': `2` is not a percentage: write 2% or 0.5%

    For more information, try '--help'.
    ");
    let strict = ["--import", "mine.csv", "--strictness", "none"];
    assert_snapshot!(output(&strict, 2), @"
    error: invalid value 'none' for '--strictness <N>': `none` is not a penalty between 0.5 and 100: write a number such as 4, or 3

    For more information, try '--help'.
    ");
    assert!(
        output(&["--import", "mine.csv", "--engine", "lmdb"], 2).contains("cannot be used with")
    );
}
