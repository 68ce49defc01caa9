//! `assay explain` finds experiments by variant names.

use std::sync::LazyLock;

use crate::workspace::Workspace;

/// The stored experiment, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| Workspace::with_pair().until_exit());

/// Returns the stderr of a failed command, its lines joined.
fn rejection(arguments: &[&str]) -> String {
    let output = RUN.assay(arguments);
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    output.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn newest_experiment_with_both_variants_is_explained() {
    let output = RUN.assay(&["explain", "one", "two"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with("Verdict: "), "{}", output.out);
    // Its steps are too short.
    assert!(output.out.contains("Not explained: "), "{}", output.out);
    let one = RUN.assay(&["explain", "one", "two", "readrandom", "--in", "pair"]);
    assert!(
        one.out.contains("readrandom, 1 client") && !one.out.contains("fillseq, "),
        "{}",
        one.out
    );
    let json = RUN.assay(&["explain", "one", "two", "readrandom", "--format", "json"]).out;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["explanations"][0]["rung"], "nothing");
}

#[test]
fn metric_of_the_verdict_or_a_requested_one_is_explained() {
    let explained = |metric: &[&str]| {
        let format = ["--format", "json"];
        let arguments = [&["explain", "one", "two", "readrandom"], metric, &format].concat();
        let json: serde_json::Value = serde_json::from_str(&RUN.assay(&arguments).out).unwrap();
        json["explanations"][0]["metric"].clone()
    };
    assert_eq!(explained(&[]), "throughput_ops_per_s");
    assert_eq!(explained(&["--metric", "cpu_us_per_op"]), "cpu_us_per_op");
    let text = RUN.assay(&["explain", "one", "two", "readrandom", "--metric", "cpu_us_per_op"]).out;
    assert!(text.contains("cpu_us_per_op: "), "{text}");
}

#[test]
fn unknown_names_are_rejected_with_suggestions() {
    let cases: &[(&[&str], &str)] = &[
        (&["explain", "one", "one"], "`one` does not differ from itself"),
        (&["explain", "one", "tow"], "no experiment has both variants, `one` and `tow`"),
        (&["explain", "one", "tow"], "the newest, pair, has one, two"),
        (&["explain", "onne", "two", "--in", "pair"], "`pair` has no variant `onne`"),
        (&["explain", "onne", "two", "--in", "pair"], "did you mean `one`?"),
        (&["explain", "one", "two", "readrandm"], "no run has a step `readrandm`"),
        (&["explain", "one", "two", "readrandm"], "did you mean `readrandom`?"),
        (&["explain", "one", "two", "vacuum"], "steps: fillseq, readrandom"),
        (&["explain", "one", "two", "--clients", "7"], "no run had 7 clients"),
        (&["explain", "one", "two", "--clients", "7"], "levels of clients: 1"),
        (&["explain", "one", "two", "--in", "nothing"], "nothing"),
        (&["explain", "one", "two", "--metric", "cpu_us"], "no metric is named `cpu_us`"),
        (&["explain", "one", "two", "--metric", "fsyncs_per_op"], "has `fsyncs_per_op`"),
    ];
    for (arguments, expected) in cases {
        let output = rejection(arguments);
        assert!(output.contains(expected), "{arguments:?}: {output}");
    }
    let nowhere = Workspace::new();
    let output = nowhere.assay(&["explain", "one", "two"]);
    assert!(
        output.code == 1 && output.err.contains("run an experiment: assay run"),
        "{}",
        output.err
    );
}
