//! The experiment of a file is run again: builds are checked, findings compared.

use std::fs;

use crate::busy_host::too_busy;
use crate::stored::PAIR;
use crate::workspace::Workspace;

/// An engine that is slower by a scripted delay at every call.
const SLOW: &str = r#"[experiment]
name = "slow"
question = "Is a scripted delay found again?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = 500
duration = "200ms"
warmup = "20ms"

[factors]
repetitions = 4

[[variant]]
name = "plain"
engine = "faulty"

[[variant]]
name = "delayed"
engine = "faulty"
options = { fault = "slow 500us every 2" }
"#;

/// Goal: a large difference is found again, with both intervals, and nothing of it is chosen anew.
#[test]
fn a_large_difference_is_reproduced() {
    let (here, workspace) = (Workspace::new(), Workspace::new());
    here.write("slow.toml", SLOW);
    let Some(_) = here.measured(&["run", "slow.toml"]) else { return };
    assert_eq!(here.assay(&["export", "slow", "-o", "slow.assay"]).code, 0);
    workspace.write("slow.assay", fs::read(here.path("slow.assay")).expect("exported"));
    let output = workspace.assay(&["rerun", "slow.assay"]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    if let Some(reason) = workspace.disturbance() {
        return too_busy(&reason);
    }
    assert!(output.out.contains("slow.assay rerun here: 1 reproduced."), "{}", output.out);
    let row = output.out.lines().find(|line| line.starts_with("readrandom, 1 client: delayed"));
    let row = row.expect("the finding has a row");
    assert_eq!(row.matches('[').count(), 2, "both intervals: {row}");
    assert!(row.contains("reproduced"), "{row}");
    assert!(output.out.contains("Hosts    no recorded fact differs"), "{}", output.out);
    assert!(output.err.contains("delayed: faulty, linked into Assay"), "{}", output.err);
    assert_eq!(workspace.assay(&["list", "slow"]).code, 0, "it is in the archive");
    let changed = workspace.assay(&["rerun", "slow.assay", "--rows", "9"]);
    assert_eq!(changed.code, 2, "a plan cannot be changed");
}

/// Goal: a changed byte is named before anything is run.
#[test]
fn a_changed_byte_is_an_error_before_the_run() {
    let workspace = Workspace::new();
    let mut bytes = PAIR.to_vec();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    workspace.write("pair.assay", bytes);
    let output = workspace.assay(&["rerun", "pair.assay"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("pair.assay"), "{}", output.err);
    assert!(!workspace.path("results").exists() && !workspace.path("assay-data").exists());
}

/// Goal: a build that cannot be had is named; without the base nothing is run.
#[test]
fn a_build_that_cannot_be_had_is_named() {
    let workspace = Workspace::with_pair();
    let experiments = fs::read_dir(workspace.path("results/pair")).expect("imported");
    let path = experiments.flatten().next().expect("one").path();
    let manifest = fs::read_to_string(path.join("manifest.json")).expect("a manifest");
    let change = |name: &str| {
        let mut json: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
        let variants = &mut json["plan"]["experiment"]["variants"];
        for variant in variants.as_array_mut().expect("variants") {
            if variant["name"] == name {
                variant["build"] = "rocksdb@0.0.1".into();
            }
        }
        fs::write(path.join("manifest.json"), json.to_string()).expect("it is written");
        workspace.assay(&["rerun", "pair"])
    };
    let base = change("one");
    assert_eq!(base.code, 1);
    assert!(
        base.err.contains("variant one: the build of the base variant cannot be obtained"),
        "{}",
        base.err
    );
    let other = change("two");
    assert_eq!(other.code, 1);
    assert!(other.err.contains("two: left out, as the build cannot be obtained"), "{}", other.err);
    assert!(other.err.contains("there is nothing to compare"), "{}", other.err);
    let count = fs::read_dir(workspace.path("results/pair")).expect("imported").count();
    assert_eq!(count, 1, "nothing was run");
}

/// Goal: an engine of the user's own is left out, and the next command compares both experiments.
/// Method: a third variant whose engine was added on another machine; another kernel there.
#[test]
fn own_engine_is_left_out_and_the_next_command_compares_with_the_original() {
    let workspace = Workspace::with_pair();
    let experiments = fs::read_dir(workspace.path("results/pair")).expect("imported");
    let path = experiments.flatten().next().expect("one").path().join("manifest.json");
    let manifest = fs::read_to_string(&path).expect("a manifest");
    let mut json: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    json["host"]["kernel"] = "Linux 0.1".into();
    json["builds"]["two"]["origin"] = "a server".into();
    let variants = json["plan"]["experiment"]["variants"].as_array_mut().expect("variants");
    let mut third = variants[1].clone();
    (third["name"], third["build"]) = ("three".into(), "mine@1".into());
    variants.push(third);
    let id = json["id"].as_str().expect("an identifier").to_owned();
    fs::write(&path, json.to_string()).expect("it is written");
    let output = workspace.assay(&["rerun", "pair"]).recorded();
    let left_out = "three: left out, as the build cannot be obtained: no engine is named `mine`";
    assert!(output.err.contains(left_out), "{}", output.err);
    assert!(output.err.contains("one: sqlite, linked into Assay"), "{}", output.err);
    assert!(output.err.contains("two: sqlite, maybe another: of unknown hash"), "{}", output.err);
    let next = output.out.lines().find_map(|line| line.strip_prefix("Next     assay "));
    let next: Vec<&str> = next.expect("a next command").split(' ').collect();
    let [_, first, second, ..] = next[..] else { panic!("{next:?}") };
    assert!(first != second && second == id, "{next:?}");
    let compared = workspace.assay(&next).recorded();
    assert!(compared.out.contains("Linux 0.1"), "{}", compared.out);
}
