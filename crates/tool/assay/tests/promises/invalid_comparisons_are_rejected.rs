//! Invalid comparisons are rejected with the reason.
//!
//! Comparisons that are possible but meaningless are labelled bogus.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::rejection::unwrapped;
use crate::stored::{ALONE, UNLIKE};
use crate::workspace::{ProgramOutput, Workspace};

/// The stored experiment `alone` and variations of it, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    workspace.import(ALONE);
    UNLIKE.iter().for_each(|stored| workspace.import(stored));
    workspace.until_exit()
});

fn rejection(arguments: &[&str]) -> String {
    let ProgramOutput { code, out, err } = RUN.assay(arguments);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    without_stamps(&unwrapped(&err))
}

/// Returns the text with `STAMP` in place of identifiers of experiments.
fn without_stamps(text: &str) -> String {
    let is_stamp = |word: &str| word.len() == 21 && word.as_bytes()[8] == b'T';
    let parts = text.split_inclusive([' ', '\n', '/']).map(|word| {
        let bare = word.trim_end_matches([' ', '\n', '/', ':', ',']);
        if is_stamp(bare) { word.replace(bare, "STAMP") } else { word.to_owned() }
    });
    parts.collect()
}

/// Returns the directory of the experiment of that name.
fn directory(workspace: &Workspace, name: &str) -> PathBuf {
    let entries = fs::read_dir(workspace.path("results").join(name)).expect("it was run");
    let mut found = entries.map(|entry| entry.expect("an entry").path());
    found.next().expect("it was run")
}

/// Replaces a text in a file.
fn replace(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).expect("a file of the results");
    assert!(text.contains(old), "{old}");
    fs::write(path, text.replace(old, new)).expect("a file of the results");
}

#[test]
fn different_experiments_are_rejected_with_both_values() {
    assert_snapshot!(rejection(&["compare", "alone", "big"]), @"  × alone/STAMP and big/STAMP \
                                                                cannot be compared: the data are \
                                                                500 rows of 20 + 400 bytes and \
                                                                5000 rows of 20 + 400 bytes; run \
                                                                their variants in one experiment, \
                                                                or repeat one experiment with the \
                                                                settings of the other experiment");
    assert_snapshot!(rejection(&["compare", "alone", "long"]), @"  × alone/STAMP and long/STAMP \
                                                                 cannot be compared: readrandom \
                                                                 ends after 50.0 ms and after 70.0 \
                                                                 ms; run their variants in one \
                                                                 experiment, or repeat one \
                                                                 experiment with the settings of \
                                                                 the other experiment");
    assert_snapshot!(rejection(&["compare", "alone", "steps"]), @"  × alone/STAMP and steps/STAMP \
                                                                  cannot be compared: the steps \
                                                                  are fillseq, readrandom and \
                                                                  fillrandom, readrandom; run \
                                                                  their variants in one \
                                                                  experiment, or repeat one \
                                                                  experiment with the settings of \
                                                                  the other experiment");
    assert_snapshot!(rejection(&["compare", "alone", "meaning"]), @"  × alone/STAMP and \
                                                                    meaning/STAMP cannot be \
                                                                    compared: variant `one` has \
                                                                    two builds, sqlite and lmdb; \
                                                                    run their variants in one \
                                                                    experiment, or repeat one \
                                                                    experiment with the settings \
                                                                    of the other experiment");
}

#[test]
fn single_run_is_rejected_for_comparison() {
    assert_snapshot!(rejection(&["compare", "alone/one.c1.r1"]), @"
    × alone/one.c1.r1 is one run of `one`, and there is no other variant to compare it with
    help: add a run of another variant; `assay show EXPERIMENT RUN` shows it alone
    ");
    // The same run twice is one run.
    assert_snapshot!(rejection(&["compare", "alone/one.c1.r1", "alone/one.c1.r1"]), @"
    × alone/one.c1.r1, alone/one.c1.r1 are runs of `one`, and there is no other variant to compare them with
    help: add a run of another variant; `assay show EXPERIMENT RUN` shows them alone
    ");
}

#[test]
fn unknown_base_is_rejected_with_known_variants() {
    assert_snapshot!(rejection(&["compare", "alone", "other", "--base", "tow"]), @"  × no variant is named `tow`; the variants are one, two");
}

#[test]
fn one_run_each_is_inconclusive() {
    let output = RUN.assay(&["compare", "alone", "other"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("no verdict (one run may be noise)"), "{}", output.out);
    let output = RUN.assay(&["compare", "alone", "other", "--format", "json"]);
    let json: Value = serde_json::from_str(&output.out).expect("JSON");
    let steps = json["comparison"]["steps"].as_array().expect("steps");
    let metrics = |step: &Value| step["cells"][1]["metrics"].as_object().expect("metrics").clone();
    let effects: Vec<Value> =
        steps.iter().flat_map(metrics).map(|(_, metric)| metric["versus_base"].clone()).collect();
    let of_ratios = effects.iter().filter(|effect| !effect.is_null());
    assert!(of_ratios.clone().count() > 20, "{effects:?}");
    for effect in of_ratios {
        assert_eq!(
            (&effect["verdict"], &effect["why"]),
            (&json!("inconclusive"), &json!("one_run"))
        );
    }
}

/// Goal: a variant lacks no runs of an experiment that does not have it, and the command that the
/// verdict names checks the same results. Method: one repetition is joined with two, and with one
/// of these.
#[test]
fn joined_experiments_keep_their_planned_runs() {
    for (other, planned) in [("twice", [1_u64, 2]), ("twice/two.c1.r2", [1, 1])] {
        let output = RUN.assay(&["compare", "alone", other, "--format", "json"]);
        let json: Value = serde_json::from_str(&output.out).expect("JSON");
        let variants = json["comparison"]["variants"].as_array().expect("variants");
        let found: Vec<_> = variants.iter().map(|one| one["planned"].as_u64()).collect();
        assert_eq!(found, planned.map(Some), "{other}");
        assert!(!output.out.contains("A044"), "{other}: {}", output.out);
        let text = RUN.assay(&["compare", "alone", other]).out;
        let verdict = text.lines().next().unwrap_or_default();
        assert!(verdict.contains(&format!("(assay lint alone {other})")), "{verdict}");
        let linted = RUN.assay(&["lint", "alone", other, "--format", "json"]);
        let linted: Value = serde_json::from_str(&linted.out).expect("JSON");
        assert_eq!(linted[0]["findings"], json["findings"], "{other}");
    }
}

#[test]
fn differing_durability_is_labelled_bogus() {
    let output = RUN.assay(&["compare", "alone", "careless"]);
    assert_eq!(output.code, 0, "{}", output.err);
    for word in ["BOGUS", "A001", "durability classes differ: none, os"] {
        assert!(output.out.contains(word), "{word}: {}", output.out);
    }
}

#[test]
fn unknown_metric_is_rejected_with_similar_ones() {
    let of = |name: &str| rejection(&["compare", "alone", "other", "--metric", name]);
    assert_snapshot!(of("cpu_us_per_ops"), @"
    × no metric is named `cpu_us_per_ops`
    help: did you mean `cpu_us_per_op`?
    ");
    assert_snapshot!(of("write_stalls"), @"
    × no metric is named `write_stalls`
    help: similar metrics: device_writes_per_op, device_write_kib_per_op, device_write_await_us,
          device_write_size_kib, device_write_merged_share, write_back_kib_per_op
    ");
    assert_snapshot!(of("speed"), @"
    × no metric is named `speed`
    help: CSV and JSON contain all metrics; docs/reference/metrics.md defines them
    ");
    let output = of("goodput_ops_per_s");
    assert!(output.contains("no step of these runs has `goodput_ops_per_s`"), "{output}");
    assert!(
        output.contains("these runs have the metrics ") && output.contains("cpu_us_per_op"),
        "{output}"
    );
}

#[test]
fn metric_without_direction_is_never_called_faster() {
    let output = RUN.assay(&["compare", "alone", "other", "--metric", "busy_threads"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("neither higher nor lower is better"), "{}", output.out);
    assert!(output.out.contains("inconclusive; detectable"), "{}", output.out);
    for word in ["faster", "slower", "\u{25b2}", "\u{25bc}"] {
        assert!(!output.out.contains(word), "{word}: {}", output.out);
    }
}

/// Goal: figures of two machines are never reported as a difference between engines.
/// Method: the fingerprint in one manifest is changed.
#[test]
fn differing_hosts_are_labelled_bogus() {
    let workspace = copy(&["alone", "other"]);
    let manifest = directory(&workspace, "other").join("manifest.json");
    replace(&manifest, "\"fingerprint\": \"", "\"fingerprint\": \"0");
    let output = workspace.assay(&["compare", "alone", "other"]);
    assert_eq!(output.code, 0, "{}", output.err);
    for word in ["BOGUS", "A046"] {
        assert!(output.out.contains(word), "{word}: {}", output.out);
    }
}

#[test]
fn record_of_a_newer_schema_is_rejected_and_listed() {
    let workspace = copy(&["alone"]);
    let dir = directory(&workspace, "alone");
    let record = dir.join("runs/one.c1.r1/record.json");
    replace(&record, "\"schema\": 1,", "\"schema\": 7,");
    let output = workspace.assay(&["compare", "alone"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    let message = unwrapped(&output.err);
    assert!(message.contains("record.json has schema 7; this Assay reads up to 1"), "{message}");
    let output = workspace.assay(&["list"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("its run is not complete, 1 record is damaged"), "{}", output.out);
    assert!(output.err.contains("runs/one.c1.r1/record.json has schema 7"), "{}", output.err);
}

/// Goal: one damaged file hides no other. Method: a record is truncated, then the manifest; it is
/// listed both with and without its derived files.
#[test]
fn damaged_file_is_listed_and_hides_no_other() {
    let workspace = copy(&["alone", "other"]);
    let listed = |args: &[&str]| {
        let output = workspace.assay(args);
        assert_eq!(output.code, 0, "{}", output.err);
        (output.out, output.err)
    };
    assert_eq!(listed(&["list"]).1, "");
    let dir = directory(&workspace, "other");
    fs::write(dir.join("runs/two.c1.r1/record.json"), "{\"schema\": 1, \"id\"").expect("a file");
    let (out, err) = listed(&["list"]);
    assert_eq!(out.matches("its run is complete  ").count(), 1, "{out}");
    assert_eq!(out.matches("its run is not complete, 1 record is damaged  ").count(), 1, "{out}");
    assert!(err.contains("runs/two.c1.r1/record.json is damaged: EOF"), "{err}");
    assert_eq!(listed(&["list"]), (out, err), "the derived files give the same output");
    let (_, err) = listed(&["list", "other"]);
    assert!(err.contains("runs/two.c1.r1/record.json is damaged: EOF"), "{err}");
    fs::write(dir.join("manifest.json"), "{}").expect("a file");
    let (out, err) = listed(&["list"]);
    assert!(out.lines().count() == 1 && out.starts_with("alone/"), "{out}");
    assert!(err.contains("manifest.json is damaged: missing field"), "{err}");
}

/// Returns a place with copies of some of the experiments.
fn copy(names: &[&str]) -> Workspace {
    let workspace = Workspace::new();
    for name in names {
        copy_dir(&RUN.path("results").join(name), &workspace.path("results").join(name));
    }
    workspace
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a scratch directory");
    for entry in fs::read_dir(from).expect("a scratch directory") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_dir(&path, &target);
        } else {
            fs::copy(&path, target).expect("a scratch file");
        }
    }
}
