//! An experiment is completed as it was begun: with its plan, on its machine, with its builds.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::rejection::unwrapped;
use crate::workspace::Workspace;

/// Returns the directory of the experiment.
fn experiment(workspace: &Workspace) -> PathBuf {
    let mut dirs = fs::read_dir(workspace.path("results/pair")).expect("the experiment");
    dirs.next().expect("one").expect("readable").path()
}

#[test]
fn options_that_would_change_the_plan_are_refused() {
    let workspace = Workspace::with_pair();
    for (flag, value) in
        [("--duration", "9s"), ("--engine", "lmdb"), ("--option", "a=1"), ("--waive", "A001=why")]
    {
        let output = workspace.assay(&["run", "--resume", "pair", flag, value]);
        assert_eq!(output.code, 1, "{}", output.out);
        let expected = format!("--resume completes the stored plan: {flag} does not apply");
        assert!(output.err.contains(&expected), "{}", output.err);
        assert!(output.err.ends_with("  nothing was run\n"), "{}", output.err);
    }
}

/// Goal: one run of each cell becomes as many as were requested, once; an experiment that has a
/// verdict gets none.
#[test]
fn repetitions_are_added_to_one_run_of_each_cell() {
    let workspace = Workspace::new();
    let steps = ["run", "fillseq", "--engine", "memory", "--rows", "200"];
    let one = workspace.recorded(&steps);
    assert!(one.out.lines().count() < 24 && !one.out.contains("n=1"), "{}", one.out);
    let three = workspace.assay(&["run", "--resume", "quick-fillseq", "--repetitions", "3"]);
    assert!(three.err.contains("repetition 3 of 3"), "{}", three.err);
    assert!(!three.err.contains("repetition 1 of 3"), "{}", three.err);
    assert!(three.out.contains("3 runs show a level and its range"), "{}", three.out);
    assert!(!three.out.contains("--repetitions"), "{}", three.out);
    let listed = workspace.assay(&["list"]).out;
    assert!(listed.contains("  3 of 3 runs are complete"), "{listed}");
    for (more, expected) in [
        ("5", "adds runs to an experiment of one run per cell"),
        ("0", "adds runs to an experiment of one run per cell"),
        ("many", "--repetitions: `many`"),
    ] {
        let refused = workspace.assay(&["run", "--resume", "quick-fillseq", "--repetitions", more]);
        assert_eq!(refused.code, 1, "{}", refused.out);
        assert!(unwrapped(&refused.err).contains(expected), "{}", refused.err);
        assert!(refused.err.ends_with("  nothing was run\n"), "{}", refused.err);
    }
}

#[test]
fn another_machine_or_build_completes_nothing() {
    let workspace = Workspace::with_pair_file();
    workspace.recorded(&["run", "pair.toml", "--repetitions", "1"]);
    let path = experiment(&workspace).join("manifest.json");
    let text = fs::read_to_string(&path).expect("the manifest");
    for (field, expected) in [
        ("fingerprint", "was begun on host elsewhere, but"),
        ("version", "was sqlite elsewhere when"),
    ] {
        let start = format!("\"{field}\": \"");
        let (before, after) = text.split_once(&start).expect("the field");
        let (_, after) = after.split_once('"').expect("its end");
        fs::write(&path, format!("{before}{start}elsewhere\"{after}")).expect("writable");
        let output = workspace.assay(&["run", "--resume", "pair"]);
        assert_eq!(output.code, 1, "{}", output.out);
        assert!(output.err.contains(expected), "{}", output.err);
    }
}

#[test]
fn runs_are_counted_against_the_plan_and_listed_names_are_accepted() {
    let workspace = Workspace::with_pair();
    fs::remove_dir_all(experiment(&workspace).join("runs/one.c1.r1")).expect("a run");
    let listed = workspace.assay(&["list", "pair"]);
    assert!(listed.out.contains("  3 of 4 runs are complete\n"), "{}", listed.out);
    let all = workspace.assay(&["list"]).out;
    assert!(all.contains("  3 of 4 runs are complete"), "{all}");
    let name = all.split_whitespace().next().expect("a name");
    let shown = workspace.assay(&["show", name]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{}", shown.out);
    let typo = workspace.assay(&["compare", "/pair"]);
    assert!(typo.err.contains("no results named `/pair`"), "{}", typo.err);
}

#[test]
fn an_archive_without_experiments_is_not_sound() {
    let output = Workspace::new().assay(&["verify"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    assert!(output.err.contains("no experiment found in results"), "{}", output.err);
}

/// A field of a stored plan, what is written there, and what the refusal states.
type Change = (&'static str, fn() -> Value, &'static str);

/// What the planner refuses, and so do all who read the plan.
const UNREADABLE: [Change; 9] = [
    ("data/rows", || json!(0), "data.rows is 0"),
    ("clients", || json!([1, 1]), "clients has the level 1 twice"),
    ("base", || json!("gone"), "base is \"gone\""),
    ("steps/1/stop", || json!({ "duration": u64::MAX >> 11 }), "stop is"),
    ("steps/1/load", || json!({ "pipelined": 2_000 }), "load is 2000"),
    ("steps/1/load", || json!({ "find_rate": pace() }), "but has no limit"),
    ("steps/1/load", || open(1e10), "a rate that is not above 0 and at most 1e9/s"),
    ("steps/1/settle_cap", || json!(u64::MAX >> 11), "settle_cap is"),
    ("application", application, "application.procedures[0].policy.retry.attempts is 999"),
];

/// What the planner refuses and readers can show: it is not run.
const UNUSABLE: [Change; 3] = [
    ("steps/1/distribution", || json!("zipf:99"), "zipf"),
    ("steps/1/load", || open(1e-9), "no operation is due"),
    ("steps/1/name", || json!("readnothing"), "readnothing"),
];

fn pace() -> Value {
    json!({ "arrivals": "poisson", "pacing": "auto" })
}

fn open(rate: f64) -> Value {
    let piece = json!({ "length": 1, "from_ops_per_s": rate, "to_ops_per_s": rate });
    let mut open = pace();
    open["rate"] = json!({ "pieces": [piece] });
    json!({ "open": open })
}

fn application() -> Value {
    let none = json!({ "postgres": [], "mysql": [] });
    let retry = json!({ "attempts": 999, "pause": 1, "pause_max": 2 });
    let procedure = json!({
        "name": "p", "kind": "get", "table": 0, "is_transaction": false, "statements": none,
        "arguments": [], "row": [], "rows": 0, "rows_expected": null, "policy": { "retry": retry },
    });
    let table = json!({ "name": "t", "copies": "per_client", "create": none, "id": null });
    json!({
        "name": "a", "about": "", "row_bytes": 1, "tables": [table], "procedures": [procedure],
        "steps": [], "order": [],
    })
}

/// Goal: a plan that was changed by hand has the limits of one that is written.
#[test]
fn limits_of_the_planner_apply_to_a_stored_plan() {
    let workspace = Workspace::with_pair();
    let path = experiment(&workspace).join("manifest.json");
    let stored: Value = serde_json::from_slice(&fs::read(&path).expect("stored")).expect("JSON");
    let runs = ["run --resume pair --trust", "rerun pair --trust"];
    let readers = ["compare pair", "show pair", "list pair", "report pair"];
    let refused = |(field, value, reason): Change, calls: &[&str]| {
        let mut changed = stored.clone();
        let (parent, key) = field.rsplit_once('/').unwrap_or(("", field));
        let experiment = &mut changed["plan"]["experiment"];
        let parent = match parent {
            "" => experiment,
            nested => experiment.pointer_mut(&format!("/{nested}")).expect("a field"),
        };
        parent[key] = value();
        fs::write(&path, changed.to_string()).expect("writable");
        for call in calls {
            let output = workspace.assay(&call.split(' ').collect::<Vec<_>>());
            let err = unwrapped(&output.err);
            assert!(output.code == 1 && err.contains(reason), "{field}, {call}: {err}");
        }
        assert!(!workspace.path("assay-data").exists(), "{field}: nothing was run");
    };
    for change in UNREADABLE {
        refused(change, &[&runs[..], &readers].concat());
    }
    for change in UNUSABLE {
        refused(change, &runs);
    }
}
