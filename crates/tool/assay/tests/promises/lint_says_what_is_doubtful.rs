//! Lint looks at plans, runs and comparisons, and ends with what it found.

use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::place::Place;

/// RocksDB against itself; the second variant's own words follow.
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

/// The experiment, run once for all tests of this file.
static RUN: LazyLock<Place> = LazyLock::new(|| Place::with_pair("sqlite", &[]));

/// Returns what lint says of a plan, those of the machine left out, and what it ends with.
fn of_plan(text: &str, arguments: &[&str]) -> (i32, Vec<String>) {
    let place = Place::new();
    place.write("twice.toml", text);
    let said = place.assay(&[&["lint", "twice.toml", "--format", "json"], arguments].concat());
    assert_eq!(said.err, "");
    assert!(!place.path("results").exists(), "nothing is run");
    let told: Value = serde_json::from_str(&said.out).expect("JSON");
    let found = told[0]["findings"].as_array().expect("a list");
    let own = found.iter().filter(|one| one["code"] != "A018" && one["code"] != "A020");
    let tell = |one: &Value| {
        let word = |name: &str| one[name].as_str().expect("a word").to_owned();
        format!("{} {}: {}", word("severity"), word("code"), word("seen"))
    };
    (said.code, own.map(tell).collect())
}

#[test]
fn a_plan_that_nothing_doubts_ends_with_0() {
    assert_eq!(of_plan(TWICE, &["--fail-on", "blocking"]), (0, Vec::new()));
}

#[test]
fn the_same_build_with_other_background_jobs_is_told() {
    let wrong = format!("{TWICE}options = {{ max_background_jobs = 1 }}\n");
    let (code, found) = of_plan(&wrong, &[]);
    assert_eq!(code, 0, "a doubt is no failure unless --fail-on asks for it");
    let expected = "doubt A048: variants of rocksdb differ in background jobs: its default, 1";
    assert_eq!(found, [expected]);
    assert_eq!(of_plan(&wrong, &["--fail-on", "doubt"]).0, 1);
}

#[test]
fn another_durability_class_is_blocking_unless_it_is_waived() {
    let wrong = format!("{TWICE}durability = \"sync\"\n");
    let (code, found) = of_plan(&wrong, &[]);
    assert_eq!(found, ["blocking A001: durability classes differ: os, sync"]);
    assert_eq!(code, 1);
    let waived = format!("{wrong}\n[[waive]]\ncode = \"A001\"\nreason = \"it is the question\"\n");
    assert_eq!(of_plan(&waived, &[]).0, 0);
    let place = Place::new();
    place.write("twice.toml", &waived);
    let said = place.assay(&["lint", "twice.toml"]);
    let first = said.out.lines().next().unwrap_or_default();
    assert!(first.contains("A001 waived: it is the question"), "{first}");
}

#[test]
fn results_are_told_with_their_label_first_and_the_gravest_before_the_others() {
    let said = RUN.assay(&["lint", "pair"]);
    assert_eq!(said.err, "");
    let first = said.out.lines().next().unwrap_or_default();
    assert!(first.starts_with("pair: TRUTHY, usable, with stated doubts. "), "{}", said.out);
    for words in ["Doubts\n", "A039 too few repetitions", "A027 too short", "Remedy   "] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert_eq!(said.code, 0);
    assert_eq!(RUN.assay(&["lint", "pair", "--fail-on", "doubt"]).code, 1);
}

#[test]
fn one_run_is_looked_at_alone() {
    let said = RUN.assay(&["lint", "pair/two.c1.r1"]);
    assert!(said.out.starts_with("pair/two.c1.r1: T"), "{}", said.out);
    assert!(!said.out.contains("A039") && !said.out.contains(" runs)"), "{}", said.out);
}

#[test]
fn a_rule_is_explained_alone_and_with_what_it_found() {
    let place = Place::new();
    let said = place.assay(&["lint", "--explain", "a029"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_snapshot!(said.out);
    let found = RUN.assay(&["lint", "pair", "--explain", "A029"]).out;
    let seen = "  Seen     readrandom: reads what `fillseq` left, in key order";
    assert!(found.lines().any(|line| line == seen), "{found}");
    let listed = place.assay(&["lint", "--rules"]).out;
    assert!(listed.lines().any(|line| line.starts_with("A029  doubt     key-order load")));
}

#[test]
fn what_cannot_be_asked_ends_with_2() {
    let place = Place::new();
    let said = place.assay(&["lint", "--explain", "A999"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no rule has the code `A999`"), "{}", said.err);
    for what in ["absent", "absent.toml", "pair/absent.c1.r1"] {
        let said = RUN.assay(&["lint", what]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{what}: {}", said.err);
        assert!(said.err.contains("absent"), "{what}: {}", said.err);
    }
    assert_eq!(place.assay(&["lint"]).code, 2);
    let said = place.assay(&["lint", "pair", "--format", "csv"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("text or json, not as csv"), "{}", said.err);
}
