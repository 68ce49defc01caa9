//! The doctor reports on the machine at hand, and its values are in manifests.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::workspace::Workspace;

#[test]
fn wrong_directories_formats_and_severities_are_rejected() {
    let error = |arguments: &[&str]| {
        let output = Workspace::new().assay(arguments);
        assert_eq!((output.code, output.out.as_str()), (2, ""));
        output.err
    };
    assert_snapshot!(error(&["doctor", "--path", "nowhere"]), @"
    × cannot use nowhere: the directory does not exist
    help: name another directory with --path
    ");
    let csv = error(&["doctor", "--format", "csv"]);
    assert!(csv.contains("[possible values: text, markdown, json]"), "{csv}");
    let severe = error(&["doctor", "--fail-on", "severe"]);
    assert!(severe.contains("write one of note, warning, blocking"), "{severe}");
    error(&["doctor", "--script", "--format", "json"]);
}

/// Goal: whatever machine the test runs on, every check has a state, and the script is one.
#[test]
fn every_check_has_a_state_and_remedies_are_one_script() {
    let workspace = Workspace::new();
    let report = workspace.assay(&["doctor", "--format", "json"]);
    assert!(report.code <= 1, "{}", report.err);
    let found: Value = serde_json::from_str(&report.out).expect("JSON");
    let checks = found["checks"].as_array().expect("a list");
    assert!(checks.len() > 20, "{found}");
    assert!(checks.iter().all(|one| one["state"].is_string()), "{found}");
    let script = workspace.assay(&["doctor", "--script"]);
    assert!(script.out.starts_with("#!/bin/sh\n"), "{}", script.out);
}

#[test]
fn manifests_have_the_values_of_quick_checks() {
    let workspace = Workspace::with_pair_file();
    workspace.recorded(&["run", "pair.toml", "--repetitions", "1"]);
    let mut all = fs::read_dir(workspace.path("results/pair")).expect("the experiment");
    let dir = all.next().expect("one").expect("an entry").path();
    let manifest = fs::read_to_string(dir.join("manifest.json")).expect("the manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let checks = manifest["host"]["doctor"].as_array().expect("the checks");
    let names: Vec<&str> = checks.iter().filter_map(|one| one["check"].as_str()).collect();
    assert!(names.contains(&"clock_source") && !names.contains(&"clock_read"), "{names:?}");
}
