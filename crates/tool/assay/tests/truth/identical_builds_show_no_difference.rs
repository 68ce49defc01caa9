//! A/A comparison: identical builds show no difference.
//!
//! Goal: on a real, noisy machine two names for one RocksDB show no difference, and a build with
//! other settings is flagged. Method: five small blocks of an A/A control; then plans and
//! comparisons that lint must flag.
//!
//! Verdicts on a control are adjusted for their number: true nulls have a false positive in at most
//! one campaign in twenty. A campaign with one is repeated: two in a row are one in four hundred
//! where the noise is the same throughout. A load that begins between the blocks is a disturbance.

use std::process::Command;

use serde_json::Value;

use crate::disturbance::{HostWatch, on_quiet_host_once};
use crate::host::take_turn;
use crate::measured::{Run, measure};
use crate::sandbox::{NAME, Sandbox, note, output_text};

const BENCHMARK: &str = "steps = [\"filluniquerandom\", \"settle\", \"readrandom\", \
                         \"fwdrange\"]\nrows = \"10k\"\nduration = \"100ms\"\ndurability = \
                         \"os\"\ncache = \"64MiB\"";
const RELEASE: &str = "rocksdb@9.10.0";

/// Returns the experiment, or prints why it is unavailable.
fn sandbox(variants: &[(&str, &str)]) -> Option<Sandbox> {
    let variants: Vec<_> =
        variants.iter().map(|(name, options)| (*name, RELEASE, (*options).to_owned())).collect();
    let sandbox = Sandbox::with_options(BENCHMARK, &variants);
    let got = sandbox.assay(&["engine", "get", RELEASE]).output().expect("the program starts");
    if got.status.success() {
        return Some(sandbox);
    }
    assert!(std::env::var_os("CI").is_none(), "required in CI: {}", output_text(&got));
    note(&format!("skipped: {RELEASE} is unavailable: {}", output_text(&got)));
    None
}

/// Returns the steps of a comparison with a variant's effect.
fn verdicts(sandbox: &Sandbox, variant: &str) -> Vec<(String, Value)> {
    let json = sandbox.result_of(&["compare", NAME, "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let steps = json["comparison"]["steps"].as_array().expect("steps").iter();
    let of_step = |step: &Value| {
        let cells = step["cells"].as_array()?.iter();
        let cell = cells.into_iter().find(|cell| cell["variant"] == variant)?;
        let effect = cell["metrics"].get("throughput_ops_per_s")?.get("versus_base")?.clone();
        Some((step["name"].as_str()?.to_owned(), effect))
    };
    steps.filter_map(of_step).collect()
}

/// Every verdict that a control can have.
const VERDICTS: [&str; 5] = ["above", "below", "small_but_real", "equivalent", "inconclusive"];

/// Runs five blocks and returns the steps on which there is a verdict of above or below.
fn false_verdicts(host: &HostWatch, sandbox: &Sandbox) -> Vec<(String, Value)> {
    measure(&mut sandbox.run(&["--control", "--repetitions", "5"]));
    for cell in sandbox.records().keys() {
        Run::on(host, sandbox, cell);
    }
    let control = verdicts(sandbox, "itself-control");
    assert_eq!(control.len(), 3, "{control:?}");
    for (step, effect) in &control {
        let of = |name: &str| effect[name].as_f64().unwrap_or(f64::NAN);
        note(&format!(
            "A/A {step}: ratio {:.4}, detectable {:.1} %, {}",
            of("ratio"),
            of("detectable") * 100.0,
            effect["verdict"]
        ));
        let verdict = effect["verdict"].as_str();
        assert!(verdict.is_some_and(|verdict| VERDICTS.contains(&verdict)), "{effect:#}");
        assert!(of("ratio") > 0.0 && of("detectable") > 0.0, "{effect:#}");
    }
    let is_false = |effect: &Value| effect["verdict"] == "above" || effect["verdict"] == "below";
    control.into_iter().filter(|(_, effect)| is_false(effect)).collect()
}

#[test]
fn release_shows_no_difference_from_itself() {
    let _turn = take_turn();
    let Some(sandbox) = sandbox(&[("itself", "")]) else { return };
    on_quiet_host_once(|host| {
        let first = false_verdicts(host, &sandbox);
        if !first.is_empty() {
            note(&format!("expected in one of twenty campaigns: {first:?}; repeating"));
            let second = false_verdicts(host, &sandbox);
            assert!(second.is_empty(), "twice in a row: {first:?}, then {second:?}");
        }
    });
}

/// Returns exit code and output of lint.
fn linted(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().expect("the program starts");
    (output.status.code(), output_text(&output))
}

#[test]
fn differing_options_and_durability_are_flagged_before_the_run() {
    let _turn = take_turn();
    let Some(sandbox) = sandbox(&[("right", ""), ("wrong", "max_background_jobs = 64")]) else {
        return;
    };
    let (_, message) = linted(sandbox.assay(&["lint", "experiment.toml"]));
    assert!(message.contains("A048") && message.contains("64"), "{message}");
    let text =
        std::fs::read_to_string(sandbox.path("experiment.toml")).expect("the experiment file");
    let mixed = text.replace("options = { max_background_jobs = 64 }", "durability = \"none\"");
    assert_ne!(text, mixed);
    std::fs::write(sandbox.path("experiment.toml"), mixed).expect("the experiment file");
    let (code, message) = linted(sandbox.assay(&["lint", "experiment.toml"]));
    assert!(message.contains("A001") && code != Some(0), "{code:?}: {message}");
    let refused = sandbox.run(&[]).output().expect("the program starts");
    assert!(
        !refused.status.success() && sandbox.experiment().is_none(),
        "{}",
        output_text(&refused)
    );
}
