//! A question names its metrics: headline, tables, verdict and page follow.

use std::fs;

use serde_json::Value;

use crate::rejection::rejected_at_once;
use crate::workspace::Workspace;

/// Two simulated servers, one with more work per operation.
const EXPERIMENT: &str = r#"[experiment]
name = "named"
question = "What does an operation take of the CPU?"
measure = ["readrandom"]
answer = ["context_switches_per_op", "service_ns_p50", "cache_hit_share"]

[benchmark]
steps = ["fillseq", "readrandom"]
rows = 20
duration = "150ms"
warmup = "10ms"

[factors]
repetitions = 2

[[variant]]
name = "quick"
engine = "faulty"
[variant.options]
"server.work" = "2ms"

[[variant]]
name = "slow"
engine = "faulty"
[variant.options]
"server.work" = "4ms"
"#;

/// Goal: one answer in every output. Method: the second metric differs by a known factor of two,
/// the third is unknown to the engine.
#[test]
fn metrics_of_the_question_are_the_answer_in_every_output() {
    let workspace = Workspace::new();
    workspace.write("named.toml", EXPERIMENT);
    let plan = workspace.assay(&["plan", "named.toml"]).out;
    let line = "answer    context_switches_per_op, service_ns_p50, cache_hit_share, in readrandom";
    assert!(plan.lines().any(|printed| printed == line), "{plan}");
    let Some(_) = workspace.measured(&["run", "named.toml", "--report"]) else { return };
    let text = workspace.assay(&["compare", "named"]).out;
    // On a busy host neither difference may be a verdict; both metrics have their sentence.
    for metric in ["context switches/op", "service p50"] {
        let is_answered = |line: &str| line.starts_with("readrandom: ") && line.contains(metric);
        assert!(text.lines().any(is_answered), "{metric}: {text}");
    }
    assert!(text.contains("readrandom: no cache hit share of quick was measured."), "{text}");
    assert!(!text.contains("fillseq: "), "a step that only prepares has no headline: {text}");
    let json = workspace.assay(&["compare", "named", "--format", "json"]).out;
    let json: Value = serde_json::from_str(&json).expect("valid JSON");
    let step = &json["comparison"]["steps"][1];
    assert_eq!(step["primary"], "context_switches_per_op");
    let metrics = &step["cells"][1]["metrics"];
    let ratio = metrics["service_ns_p50"]["versus_base"]["ratio"].as_f64().expect("a ratio");
    assert!((1.5..3.0).contains(&ratio), "{ratio}");
    assert_eq!(metrics["cache_hit_share"], Value::Null);
    let page = fs::read_dir(workspace.path("results/named")).expect("results").flatten();
    let page = page.map(|entry| entry.path().join("report.html")).find(|path| path.exists());
    let page = fs::read_to_string(page.expect("a page")).expect("its text");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("missing: {text}"));
    assert!(place("id=\"context_switches_per_op\"") < place("id=\"throughput\""));
}

#[test]
fn unknown_metric_is_rejected_before_any_run() {
    let workspace = Workspace::new();
    workspace.write("named.toml", EXPERIMENT.replace("cache_hit_share", "cache_hit_shaer"));
    let output = rejected_at_once(&workspace, &["run", "named.toml"]);
    assert!(output.contains("no metric is named `cache_hit_shaer`"), "{output}");
    assert!(output.contains("did you mean `cache_hit_share`?"), "{output}");
}

/// Goal: a question that these engines cannot answer costs no machine time.
#[test]
fn metric_that_no_engine_of_the_experiment_has_is_rejected_before_any_run() {
    let workspace = Workspace::new();
    workspace.write("named.toml", EXPERIMENT.replace("cache_hit_share", "server_reads_per_op"));
    let output = rejected_at_once(&workspace, &["run", "named.toml"]);
    assert!(output.contains("no variant reports `server_reads_per_op`"), "{output}");
    assert!(output.contains("named here") && output.contains("quick, slow"), "{output}");
}
