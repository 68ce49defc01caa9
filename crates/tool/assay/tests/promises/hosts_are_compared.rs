//! The same experiment on two hosts is compared by host; here the second is one CPU of the first.

use std::fs;
use std::process::Command;

use crate::workspace::{ProgramOutput, Workspace};

/// Runs the experiment `pair` in a workspace on these CPUs.
fn run_on(workspace: &Workspace, cpus: &str) -> ProgramOutput {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", cpus]).arg(assert_cmd::cargo::cargo_bin("assay"));
    command.args(["run", "pair.toml"]).current_dir(workspace.path(""));
    ProgramOutput::of(command.output().expect("taskset is there"))
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

/// Goal: means, variation and ratios stand by host in every format, and on a page.
#[test]
fn hosts_stand_side_by_side() {
    if let Some(why) = missing() {
        println!("skipped: {why}");
        return;
    }
    let workspace = Workspace::with_pair("memory", &[]);
    let one_cpu = run_on(&workspace, "0");
    assert_eq!(one_cpu.code, 0, "{}{}", one_cpu.out, one_cpu.err);
    let mut ids: Vec<String> = fs::read_dir(workspace.path("results/pair"))
        .expect("two experiments")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("ASCII"))
        .collect();
    ids.sort();
    let [first, second] = &ids[..] else { panic!("{ids:?}") };
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
    let workspace = Workspace::with_pair("memory", &[]);
    let one = workspace.assay(&["compare", "pair", "--across", "hosts"]);
    assert_eq!(one.code, 1);
    assert!(one.err.contains("of one host"), "{}", one.err);
    let two = workspace.assay(&["report", "pair", "pair"]);
    assert!(two.code == 1 && two.err.contains("a report is of one experiment"), "{}", two.err);
}
