//! Results that cannot be kept are not measured, and those kept before stay.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use archive::Results;
use model::RunEnd;

use crate::sandbox::{NAME, Sandbox, as_nobody, on_disk_of, said, sentence};

fn check(sandbox: &Sandbox, output: &Output) {
    let told = sentence(output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot write results"), "{told}");
    assert!(told.contains("choose another place with --results"), "{told}");
    assert!(told.contains("nothing was run"), "{told}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

#[test]
fn a_file_in_place_of_the_results_is_an_error_before_anything_is_run() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    fs::write(sandbox.path("results"), "notes").expect("our own directory");
    check(&sandbox, &sandbox.run(&[]).output().expect("it runs"));
    let text = fs::read_to_string(sandbox.path("results"));
    assert_eq!(text.ok().as_deref(), Some("notes"));
}

#[test]
fn results_without_the_right_to_write_are_an_error_before_anything_is_run() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    let results = sandbox.path("results");
    fs::create_dir(&results).expect("our own directory");
    let Some(mut run) = as_nobody(&sandbox, &sandbox.run(&[])) else { return };
    fs::set_permissions(&results, fs::Permissions::from_mode(0o555)).expect("our own directory");
    check(&sandbox, &run.output().expect("it runs"));
}

/// Goal: when there is no more room for results, the run in hand ends and no earlier one is lost.
/// Method: the results lie on a file system with room for about two of the four runs.
#[test]
fn results_without_room_end_the_runs_and_lose_none() {
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"2k\"\n\
                     duration = \"100ms\"\n[factors]\nrepetitions = 4";
    let sandbox = Sandbox::of(benchmark, &[("only", "memory", "")]);
    let run = sandbox.run(&[]);
    let Some(output) = on_disk_of("100k", "results", &run, "cp -r results kept") else { return };
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let told = sentence(&output);
    assert!(told.contains("No space left on device"), "{told}");
    assert!(told.contains("assay run --resume"), "{told}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    let dir = Results::at(&sandbox.path("kept")).find(NAME).expect("it was begun");
    let manifest = dir.manifest().expect("the manifest is readable");
    let runs = dir.runs(&manifest).expect("records are readable");
    let complete = runs.iter().filter(|run| run.end.is_complete()).count();
    assert!((1..4).contains(&complete), "{complete} of {} runs", runs.len());
    assert!(runs.iter().all(|run| matches!(run.end, RunEnd::Complete | RunEnd::Running)));
    for cell in &manifest.plan.cells {
        dir.intervals(&cell.id).expect("intervals are readable");
    }
}
