//! Results that could not be kept are not measured.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::sandbox::{Sandbox, as_nobody, sentence};

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
