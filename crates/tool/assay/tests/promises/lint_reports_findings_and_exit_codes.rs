//! `assay lint` reports findings and exits with their severity.

use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::workspace::Workspace;

/// RocksDB against itself; settings of the second variant are appended.
const TWICE: &str = r#"[experiment]
name = "twice"
question = "Does it differ from itself?"

[benchmark]
steps = ["filluniquerandom", "settle", "readrandom"]
rows = "10k"
duration = "60s"

[factors]
repetitions = 3

[[variant]]
name = "one"
engine = "rocksdb@9.10.0"

[[variant]]
name = "two"
engine = "rocksdb@9.10.0"
"#;

/// The stored experiment, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| Workspace::with_pair().until_exit());

/// Returns exit code and findings of a plan, those of the machine left out.
fn of_plan(text: &str, arguments: &[&str]) -> (i32, Vec<String>) {
    let workspace = Workspace::new();
    workspace.write("twice.toml", text);
    let output =
        workspace.assay(&[&["lint", "twice.toml", "--format", "json"], arguments].concat());
    assert_eq!(output.err, "");
    assert!(!workspace.path("results").exists(), "nothing is run");
    let json: Value = serde_json::from_str(&output.out).expect("JSON");
    let found = json[0]["findings"].as_array().expect("a list");
    let own = found.iter().filter(|one| one["code"] != "A018" && one["code"] != "A020");
    let describe = |one: &Value| {
        let word = |name: &str| one[name].as_str().expect("a text").to_owned();
        format!("{} {}: {}", word("severity"), word("code"), word("evidence"))
    };
    (output.code, own.map(describe).collect())
}

#[test]
fn plan_without_findings_exits_with_0() {
    assert_eq!(of_plan(TWICE, &["--fail-on", "blocking"]), (0, Vec::new()));
}

#[test]
fn differing_background_jobs_are_reported() {
    let wrong = format!("{TWICE}options = {{ max_background_jobs = 1 }}\n");
    let (code, found) = of_plan(&wrong, &[]);
    assert_eq!(code, 0, "a warning fails only with --fail-on warning");
    let expected = "warning A048: variants of rocksdb have different numbers of background jobs: \
                    its default, 1";
    assert_eq!(found, [expected]);
    assert_eq!(of_plan(&wrong, &["--fail-on", "warning"]).0, 1);
}

#[test]
fn differing_durability_is_blocking_unless_waived() {
    let wrong = format!("{TWICE}durability = \"sync\"\n");
    let (code, found) = of_plan(&wrong, &[]);
    assert_eq!(found, ["blocking A001: durability classes differ: os, sync"]);
    assert_eq!(code, 1);
    let waived = format!("{wrong}\n[[waive]]\ncode = \"A001\"\nreason = \"it is the question\"\n");
    assert_eq!(of_plan(&waived, &[]).0, 0);
    let workspace = Workspace::new();
    workspace.write("twice.toml", &waived);
    let output = workspace.assay(&["lint", "twice.toml"]);
    let first = output.out.lines().next().unwrap_or_default();
    assert!(first.contains("A001 waived: it is the question"), "{first}");
}

#[test]
fn results_show_label_first_and_most_severe_findings_before_others() {
    let output = RUN.assay(&["lint", "pair"]);
    assert_eq!(output.err, "");
    let first = output.out.lines().next().unwrap_or_default();
    let label = "pair: NOTHING DECIDED, these runs could not have shown a change by a factor of 2. \
                 ";
    assert!(first.starts_with(label), "{}", output.out);
    for text in ["Warnings\n", "A039 too few repetitions", "A027 too short", "Remedy   "] {
        assert!(output.out.contains(text), "{text}: {}", output.out);
    }
    assert_eq!(output.code, 3);
    assert_eq!(RUN.assay(&["lint", "pair", "--fail-on", "warning"]).code, 1);
}

#[test]
fn single_run_is_checked_alone() {
    let output = RUN.assay(&["lint", "pair/two.c1.r1"]);
    assert!(output.out.starts_with("pair/two.c1.r1: T"), "{}", output.out);
    assert!(!output.out.contains("A039") && !output.out.contains(" runs)"), "{}", output.out);
}

#[test]
fn rule_is_explained_with_and_without_findings() {
    let workspace = Workspace::new();
    let output = workspace.assay(&["lint", "--explain", "a029"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert_snapshot!(output.out);
    let found = RUN.assay(&["lint", "pair", "--explain", "A029"]).out;
    let evidence = "  Evidence  readrandom: the step reads rows that `fillseq` wrote in key order";
    assert!(found.lines().any(|line| line == evidence), "{found}");
    let listed = workspace.assay(&["lint", "--rules"]).out;
    assert!(listed.lines().any(|line| line.starts_with("A029  warning   key-order load")));
}

#[test]
fn failed_check_exits_with_2() {
    let workspace = Workspace::new();
    let output = workspace.assay(&["lint", "--explain", "A999"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("no rule has the code `A999`"), "{}", output.err);
    for what in ["absent", "absent.toml", "pair/absent.c1.r1"] {
        let output = RUN.assay(&["lint", what]);
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{what}: {}", output.err);
        assert!(output.err.contains("absent"), "{what}: {}", output.err);
    }
    assert_eq!(workspace.assay(&["lint"]).code, 2);
    let output = workspace.assay(&["lint", "pair", "--format", "csv"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("[possible values: text, json]"), "{}", output.err);
}
