//! The label states no more than the runs can show: in every output and exit code.
//!
//! Method: a stored experiment whose records are changed, so that their figures are known.

use std::fs;
use std::path::PathBuf;

use model::record::{Finding, Severity};
use serde_json::{Value, json};

use crate::stored::ALONE;
use crate::workspace::Workspace;

/// Exit code of a result that answers nothing.
const NO_ANSWER: i32 = 3;

/// The stored pair of variants, and its directory.
fn pair() -> (Workspace, PathBuf) {
    let workspace = Workspace::with_pair();
    let mut experiments = fs::read_dir(workspace.path("results/pair")).expect("imported");
    let dir = experiments.next().expect("one experiment").expect("it can be read").path();
    (workspace, dir)
}

/// Changes a JSON file of the experiment.
fn change(path: PathBuf, by: impl Fn(&mut Value)) {
    let text = fs::read_to_string(&path).expect("a file of the experiment");
    let mut value = serde_json::from_str(&text).expect("JSON");
    by(&mut value);
    fs::write(path, value.to_string()).expect("it is written");
}

/// Sets the operations of `readrandom` in both runs of both variants.
fn with_operations(done: [u64; 4]) -> (Workspace, PathBuf) {
    let (workspace, dir) = pair();
    for (run, done) in ["one.c1.r1", "one.c1.r2", "two.c1.r1", "two.c1.r2"].iter().zip(done) {
        change(dir.join("runs").join(run).join("record.json"), |record| {
            let step = &mut record["steps"][1];
            step["time_profile"] = Value::Null;
            step["duration_ns"] = json!(50_000_000);
            step["clients"]["get"]["counts"]["done"] = json!(done);
        });
    }
    (workspace, dir)
}

/// Goal: a comparison that cannot show a doubling has a label and an exit code for it everywhere.
/// Method: each variant has a run that did 400 times the operations of its other.
#[test]
fn comparison_that_cannot_show_a_doubling_decides_nothing() {
    let (workspace, _) = with_operations([20_000, 50, 50, 20_100]);
    let label = "Verdict: NOTHING DECIDED. The smallest difference these runs could show is ";
    let output = workspace.assay(&["compare", "pair"]);
    assert_eq!(output.code, NO_ANSWER, "{}{}", output.out, output.err);
    let text = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with(label), "{text}");
    assert!(text.contains("x (readrandom); the margin is 2 %"), "{text}");
    assert!(text.contains("assay plan --half-width 2%"), "{text}");
    let percents = text.split(' ').zip(text.split(' ').skip(1)).filter(|(_, unit)| *unit == "%");
    let size = |size: &str| size.trim_matches(['+', '-', '[']).parse().ok();
    let mut sizes = percents.filter_map(|(text, _)| size(text));
    assert!(sizes.all(|size: f64| size <= 1_000.0), "large factors are factors: {text}");
    for format in ["markdown", "csv", "json"] {
        let output = workspace.assay(&["compare", "pair", "--format", format]);
        assert_eq!(output.code, NO_ANSWER, "{format}");
        let expected = match format {
            "markdown" => "**Verdict: NOTHING DECIDED.",
            "csv" => ",undecided,",
            _ => "\"label\": \"undecided\"",
        };
        assert!(output.out.contains(expected), "{format}: {}", output.out);
    }
    let lint = workspace.assay(&["lint", "pair"]);
    assert_eq!(lint.code, NO_ANSWER, "{}", lint.out);
    assert!(lint.out.starts_with("pair: NOTHING DECIDED, these runs"), "{}", lint.out);
    assert_eq!(workspace.assay(&["report", "pair", "-o", "page.html"]).code, 0);
    let page = fs::read_to_string(workspace.path("page.html")).expect("a page");
    assert!(page.contains(label), "the page lacks the label");
}

/// Goal: a difference that was found is decided.
#[test]
fn difference_that_is_found_is_decided() {
    let (workspace, _) = with_operations([20_000, 20_100, 50, 51]);
    let output = workspace.assay(&["compare", "pair"]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(output.out.starts_with("Verdict: TRUTHY."), "{}", output.out);
    assert!(output.out.contains('\u{25bc}'), "{}", output.out);
}

/// Goal: what a control contradicts is not trusted, and its step is named.
#[test]
fn control_that_differs_blocks_its_step() {
    let (workspace, dir) = with_operations([20_000, 20_010, 16_600, 16_610]);
    change(dir.join("manifest.json"), |manifest| {
        manifest["plan"]["experiment"]["variants"][1]["is_control"] = json!(true);
    });
    let output = workspace.assay(&["compare", "pair"]);
    assert!(output.out.starts_with("Verdict: BOGUS. No verdict may be drawn"), "{}", output.out);
    let text = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("A047 control differs"), "{text}");
    assert!(text.contains("readrandom: two, a copy of the base, is 0.83x the base"), "{text}");
    assert!(text.contains("but a difference was found in readrandom"), "{text}");
}

/// Goal: a step without a valid second blocks its variant there.
/// Method: the finding that the runner records for such a step.
#[test]
fn step_without_a_valid_second_has_no_verdict() {
    let (workspace, dir) = with_operations([20_000, 20_100, 50, 51]);
    for run in ["two.c1.r1", "two.c1.r2"] {
        change(dir.join("runs").join(run).join("record.json"), |record| {
            record["steps"][1]["findings"] = json!([Finding {
                code: "A021".to_owned(),
                severity: Severity::Blocking,
                evidence: "3 of 3 intervals are invalid: other processes took the CPU (3)".into(),
                remedy: "stop them".to_owned(),
            }]);
        });
    }
    let output = workspace.assay(&["compare", "pair"]);
    let text = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("Verdict: BOGUS. No verdict may be drawn from"), "{text}");
    assert!(text.contains("A021 steal and neighbours"), "{text}");
    assert_eq!(workspace.assay(&["lint", "pair"]).code, 1);
}

/// Goal: `--until` on a stored experiment that is no pilot is refused, whatever it lacks.
#[test]
fn precision_of_a_stored_experiment_without_a_pilot_is_refused() {
    let (workspace, _) = pair();
    workspace.import(ALONE);
    let name = fs::read_dir(workspace.path("results")).expect("two").flatten();
    let name = name.map(|one| one.file_name().into_string().expect("ASCII"));
    let alone = name.into_iter().find(|one| one != "pair" && !one.starts_with('.')).expect("ALONE");
    for (name, has) in [("pair", "has 2 x 2"), (&*alone, "has 1 x 1")] {
        let output = workspace.assay(&["run", "--resume", name, "--until", "2%"]);
        assert_eq!(output.code, 1, "{}", output.err);
        let text = output.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(has) && text.contains("anew with --until"), "{text}");
        assert!(!workspace.path("assay-data").exists(), "nothing was begun");
    }
}
