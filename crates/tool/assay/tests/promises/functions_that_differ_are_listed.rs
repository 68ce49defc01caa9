//! A function that one of two builds executes longer is the first that `assay explain` lists.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::own_engines_need_one_library::{SORTED, folders, records};
use crate::workspace::Workspace;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
/// Functions of equal cost.
const FUNCTIONS: usize = 12;
/// The function that the second build executes sixteen times as long.
const SLOWED: usize = 7;
/// Samples of all runs that show it in each comparison; a CPU of its own gives three times as many.
const SAMPLES: f64 = 1_000.0;

/// Returns an engine whose point reads call functions of equal cost, but for one.
fn source(slowed: Option<usize>) -> String {
    let function = |place: usize| {
        let rounds = if slowed == Some(place) { 1600 } else { 100 };
        format!(
            "__attribute__((noinline)) static unsigned work_{place:02}(unsigned x) {{\n  \
             for (int n = 0; n < {rounds}; n++) x = x * 1664525u + 1013904223u + {place};\n  \
             return x;\n}}\n"
        )
    };
    let functions: String = (0..FUNCTIONS).map(function).collect();
    let calls: String = (0..FUNCTIONS).map(|it| format!("  x ^= work_{it:02}(x);\n")).collect();
    format!(
        "#define assay_get sorted_get\n{SORTED}\n#undef assay_get\n{functions}\n\
         volatile unsigned sink;\n\
         int assay_get(void *s, const void *key, size_t bytes, assay_row row_of, void *rows,\n  \
         assay_error *error) {{\n  unsigned x = (unsigned)bytes;\n{calls}  sink = x;\n  \
         return sorted_get(s, key, bytes, row_of, rows, error);\n}}\n"
    )
}

/// Compiles and adds an engine; prints why where there is no compiler.
fn add(workspace: &Workspace, name: &str, slowed: Option<usize>) -> bool {
    let file = workspace.path(&format!("{name}.c"));
    workspace.write(&format!("{name}.c"), source(slowed));
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O2", "-fno-omit-frame-pointer", "-I"]);
    command.arg(Path::new(ROOT).join("crates/drive/shim/include")).arg(file);
    let library = format!("./lib{name}.so");
    command.arg("-o").arg(workspace.path(&library));
    if !command.output().is_ok_and(|output| output.status.success()) {
        return false;
    }
    let added = workspace.assay(&["engine", "add", &format!("{name}@1"), &library]);
    assert_eq!(added.code, 0, "{}", added.err);
    true
}

/// Profiles both builds for a time per step; the reason where this machine cannot.
fn profiled(duration: &str) -> Result<Workspace, String> {
    let workspace = Workspace::new();
    if !add(&workspace, "plain", None) {
        return Err("no cc: apt install gcc libc6-dev".to_owned());
    }
    assert!(add(&workspace, "slow", Some(SLOWED)));
    let steps =
        ["run", "filluniquerandom", "readrandom", "--engine", "plain@1", "--engine", "slow@1"];
    let rest = ["--rows", "1k", "--repetitions", "6", "--durability", "none", "--profile"];
    let rest = [&rest[..], &["--duration", duration, "--waive", "A021=a test"]].concat();
    let run = workspace.assay(&[&steps[..], &rest].concat());
    if run.err.contains("perf") && run.err.contains("nothing was run") {
        return Err(run.err.lines().next().unwrap_or_default().to_owned());
    }
    Ok(workspace)
}

/// Checks the profiles of a workspace; returns whether they have the samples that the test needs.
fn has_samples(workspace: &Workspace) -> bool {
    let (mut samples, mut expected) = (0.0, 0.0);
    for record in records(workspace, "quick-filluniquerandom-readrandom") {
        let profile = &record["steps"][1]["profiles"][0];
        assert_eq!(profile["refusal"], Value::Null, "{profile}");
        assert!(profile["rooted_share"].as_f64().expect("a figure") > 0.9, "{profile}");
        samples += profile["samples"].as_f64().expect("a figure");
        expected += profile["expected"].as_f64().expect("a figure");
    }
    let share: f64 = samples / expected;
    assert!(samples < SAMPLES || (0.9..=1.1).contains(&share), "{samples} of {expected}");
    samples >= SAMPLES
}

/// Goal: the slower function is found, everything adds up, and evidence is small and counted.
/// Method: two builds of 12 equal functions; one differs by more than half of an operation. Where
/// others leave the engine too little CPU for its samples, steps are longer.
#[test]
fn slowed_function_is_listed_first_and_the_account_adds_up() {
    for duration in ["1s", "8s"] {
        match profiled(duration) {
            Err(reason) => return println!("skipped: {reason}"),
            Ok(workspace) if has_samples(&workspace) => return is_listed_first(&workspace),
            Ok(_) => {}
        }
    }
    panic!("steps of 8 s have fewer than {SAMPLES} samples");
}

fn is_listed_first(workspace: &Workspace) {
    let dirs = folders(&workspace.path("results/quick-filluniquerandom-readrandom"));
    for run in folders(&dirs[0].join("runs")) {
        let file = run.join("1.readrandom.profile.folded.gz");
        assert!(file.metadata().expect("a file").len() < 300_000);
    }
    let explained =
        workspace.assay(&["explain", "plain-1", "slow-1", "readrandom", "--format", "json"]);
    let json: Value = serde_json::from_str(&explained.out).expect("JSON");
    let functions = &json["explanations"][0]["functions"];
    let listed = functions["listed"].as_array().expect("a list");
    assert_eq!(functions["listed"][0]["name"], format!("work_{SLOWED:02}"), "{functions}");
    assert_eq!(listed[0]["group"], "engine", "{functions}");
    let us = |value: &Value| value.as_f64().expect("a figure");
    let listed: Vec<f64> = listed.iter().map(|one| us(&one["difference_us"])).collect();
    // One comparison in twenty lists an equal function, with a difference as small as its noise.
    assert!(listed[1..].iter().all(|other| other.abs() < listed[0] / 10.0), "{functions}");
    let sum =
        listed.iter().sum::<f64>() + us(&functions["same_factor_us"]) + us(&functions["rest_us"]);
    assert!((sum - us(&functions["total"]["difference"])).abs() < 1e-9, "{functions}");
    let text = workspace.assay(&["explain", "plain-1", "slow-1", "readrandom"]).out;
    assert!(
        text.contains("the same factor in all functions") && text.contains("  work_07"),
        "{text}"
    );
    let flame = workspace
        .assay(&["flame", "quick-filluniquerandom-readrandom", "slow-1", "readrandom"])
        .out;
    assert!(flame.contains("work_07"), "{flame}");
}
