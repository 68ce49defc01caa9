//! Results must be writable before a run; earlier records survive.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use archive::Results;
use model::RunEnd;

use crate::sandbox::{NAME, Sandbox, as_unprivileged, joined_text, on_disk_of, output_text};

fn check(sandbox: &Sandbox, output: &Output, reason: &str) {
    let message = joined_text(output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(reason) && message.contains("with --results"), "{message}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

#[test]
fn file_at_the_results_path_is_rejected_before_the_run() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    fs::write(sandbox.path("results"), "notes").expect("the sandbox");
    let output = sandbox.run(&[]).output().expect("it runs");
    check(&sandbox, &output, "results is not a directory");
    let text = fs::read_to_string(sandbox.path("results"));
    assert_eq!(text.ok().as_deref(), Some("notes"));
}

#[test]
fn unwritable_results_are_rejected_before_the_run() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    let results = sandbox.path("results");
    fs::create_dir(&results).expect("the sandbox");
    let Some(mut run) = as_unprivileged(&sandbox, &sandbox.run(&[])) else { return };
    fs::set_permissions(&results, fs::Permissions::from_mode(0o555)).expect("the sandbox");
    let reason = format!("cannot write {}: Permission denied", results.display());
    check(&sandbox, &run.output().expect("it runs"), &reason);
}

/// Goal: when the results disk is full, the current run ends and no earlier one is lost.
/// Method: the results are on a file system with space for two to four of the eight runs; on a busy
/// host records are longer.
#[test]
fn full_results_disk_ends_the_run_and_loses_no_record() {
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"2k\"\n\
                     duration = \"100ms\"\n[factors]\nrepetitions = 8";
    let sandbox = Sandbox::of(benchmark, &[("only", "memory", "")]);
    let run = sandbox.run(&[]);
    let Some(output) = on_disk_of("140k", "results", &run, "cp -r results saved") else { return };
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let message = joined_text(&output);
    assert!(message.contains("No space left on device"), "{message}");
    assert!(message.contains("assay run --resume"), "{message}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    let dir = Results::at(&sandbox.path("saved")).find(NAME).expect("it was begun");
    let manifest = dir.manifest().expect("the manifest is readable");
    let runs = dir.runs(&manifest).expect("records are readable");
    let complete = runs.iter().filter(|run| run.end.is_complete()).count();
    assert!((1..8).contains(&complete), "{complete} of {} runs", runs.len());
    assert!(runs.iter().all(|run| matches!(run.end, RunEnd::Complete | RunEnd::Running)));
    for cell in &manifest.plan.cells {
        dir.intervals(&cell.id).expect("intervals are readable");
    }
}
