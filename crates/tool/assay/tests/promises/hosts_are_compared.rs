//! The same experiment on two hosts is compared by host; here the second is one CPU of the first.

use std::collections::BTreeMap;
use std::fs;

use archive::Results;
use assert_cmd::Command;

use crate::workspace::Workspace;

/// Runs each variant of `pair` once.
const RUN: [&str; 6] = ["run", "pair.toml", "--repetitions", "1", "--disk-floor", "1MiB"];

/// Returns the command that does so on the first CPU.
fn run_on_one(workspace: &Workspace) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "0"]).arg(assert_cmd::cargo::cargo_bin("assay")).args(RUN);
    command.current_dir(workspace.path("")).env("XDG_CACHE_HOME", workspace.path("cache"));
    command
}

/// Returns why there are not two hosts here.
fn missing() -> Option<&'static str> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let has_taskset = Command::new("taskset").arg("--version").output().is_ok();
    match (cpus, has_taskset) {
        (1, _) => Some("one CPU"),
        (_, false) => Some("no taskset"),
        _ => None,
    }
}

/// Returns the identifiers of the experiments by the CPUs that each had.
fn ids_by_cpus(workspace: &Workspace) -> BTreeMap<model::CpuCount, String> {
    let all = Results::at(&workspace.path("results")).newest();
    let manifests = all.iter().map(|dir| dir.manifest().expect("a manifest"));
    manifests.map(|manifest| (manifest.host.cpus, manifest.id)).collect()
}

/// Goal: means, variation and ratios stand by host in every format, and on a page.
#[test]
fn hosts_stand_side_by_side() {
    if let Some(why) = missing() {
        println!("skipped: {why}");
        return;
    }
    let workspace = Workspace::with_pair_file();
    for command in [workspace.program(&RUN), run_on_one(&workspace)] {
        let Some(_) = workspace.measured_by(command) else { return };
    }
    let ids = ids_by_cpus(&workspace);
    let [second, first] = &ids.into_values().collect::<Vec<_>>()[..] else {
        panic!("experiments on one CPU and on two")
    };
    let compare = |more: &[&str]| {
        workspace.assay(&[&["compare", first, second, "--across", "hosts"], more].concat())
    };

    let text = compare(&[]);
    assert_eq!((text.code, text.err.as_str()), (0, ""), "{}", text.out);
    let line = |start: &str| text.out.lines().find(|line| line.starts_with(start)).expect(start);
    assert!(line("host ").ends_with("cpus"), "{}", text.out);
    assert!(line("h2 ").ends_with(" 1"), "{}", text.out);
    for expected in ["A046 is not applied", "CoV of hosts", "max/mean", "Relative to the base"] {
        assert!(text.out.contains(expected), "{expected}: {}", text.out);
    }
    let markdown = compare(&["--format", "markdown"]).out;
    assert!(markdown.contains("| readrandom |") || markdown.contains("|readrandom"), "{markdown}");
    let csv = compare(&["--format", "csv"]).out;
    // Two steps, two variants, two hosts, below a header.
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let json: serde_json::Value =
        serde_json::from_str(&compare(&["--format", "json"]).out).unwrap();
    assert_eq!(json["across"]["cells"].as_array().map(Vec::len), Some(4), "{json}");
    assert_eq!(json["across"]["differences"][0]["fact"], "cpus");

    let cpu = compare(&["--metric", "cpu_us_per_op"]);
    assert!(cpu.out.contains("cpu_us_per_op: "), "{}{}", cpu.out, cpu.err);
    let page = ["report", first, second, "--across", "hosts", "--output", "hosts.html"];
    assert_eq!(workspace.assay(&page).code, 0);
    let page = fs::read_to_string(workspace.path("hosts.html")).expect("it was written");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("CoV of hosts"));
}

#[test]
fn one_host_is_no_comparison_of_hosts() {
    let workspace = Workspace::with_pair();
    let one = workspace.assay(&["compare", "pair", "--across", "hosts"]);
    assert_eq!(one.code, 1);
    assert!(one.err.contains("come from one host"), "{}", one.err);
    let two = workspace.assay(&["report", "pair", "pair"]);
    assert!(two.code == 1 && two.err.contains("a report shows one experiment"), "{}", two.err);
}
