//! Run data stays in a directory of its own, and is removed.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use rustix::process::Signal;

use crate::sandbox::{Sandbox, joined_text, ran, send, wait_until};

/// Longest wait for a run to begin: it only guards against hanging for ever.
const LONG: Duration = Duration::from_secs(300);

#[test]
fn foreign_directory_is_rejected_and_untouched() {
    let sandbox = Sandbox::reading("100ms", &[("only", "lmdb", "")]);
    fs::create_dir(sandbox.path("data")).expect("the sandbox");
    fs::write(sandbox.path("data/thesis.tex"), "years of work").expect("the sandbox");
    let output = sandbox.run(&[]).assert().failure().get_output().clone();
    let message = joined_text(&output);
    assert!(
        message.contains("was not made by assay") && message.contains("--data-dir"),
        "{message}"
    );
    assert!(message.contains("nothing was run"), "{message}");
    assert_eq!(sandbox.data_left(), ["thesis.tex"]);
    let text = fs::read_to_string(sandbox.path("data/thesis.tex"));
    assert_eq!(text.ok().as_deref(), Some("years of work"));
    assert!(!sandbox.path("data/.assay-data").exists());
    assert!(sandbox.experiment().is_none());
}

#[test]
fn data_is_removed_after_a_run_and_after_a_crash() {
    let variants = [("good", "lmdb", ""), ("abort", "faulty", "die abort at 3000")];
    let sandbox = Sandbox::reading("100ms", &variants);
    sandbox.run(&[]).assert().failure();
    assert_eq!(sandbox.records().len(), 2);
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

/// Goal: leftovers of a killed Assay are removed by the next run there; other files stay.
#[test]
fn leftover_data_of_a_killed_assay_is_removed() {
    let sandbox = Sandbox::reading("100ms", &[("only", "lmdb", "")]);
    let mut command = sandbox.run(&["--duration", "30s"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let has_begun = || sandbox.records().values().any(|record| !record.steps.is_empty());
    assert!(wait_until(LONG, has_begun));
    send(parent.id(), Signal::KILL);
    parent.wait().expect("own child");
    let left = sandbox.data_left();
    assert!(left.len() == 1 && left[0].ends_with("only.c1.r1"), "{left:?}");
    fs::write(sandbox.path("data/mine.txt"), "put here since").expect("the sandbox");
    ran(&mut sandbox.run(&[]));
    assert_eq!(sandbox.data_left(), ["mine.txt"]);
}
