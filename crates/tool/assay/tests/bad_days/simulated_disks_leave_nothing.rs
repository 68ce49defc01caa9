//! Whatever ends a run on a simulated disk, no mount, process or directory is left.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::sandbox::{Sandbox, joined_text, send, wait_until};

/// Longest time for anything here, on a busy host.
const LONG: Duration = Duration::from_secs(120);

/// Returns the mounts that a process sees below the sandbox.
fn mounts(sandbox: &Sandbox, process: &str) -> Vec<String> {
    let root = fs::canonicalize(sandbox.path("")).expect("the sandbox").display().to_string();
    let mounts = fs::read_to_string(format!("/proc/{process}/mounts")).unwrap_or_default();
    mounts.lines().filter(|line| line.contains(&root)).map(str::to_owned).collect()
}

/// Goal: a kill of Assay leaves nothing of the disk, and others never have its mount.
/// Method: a run is killed while its worker has the disk; the next run removes the directory.
#[test]
fn a_killed_run_leaves_no_mount() {
    let events = r#"{ at = "1s", do = "fsync_fails" }, { at = "2s", do = "reopen" }"#;
    let benchmark = format!(
        "rows = \"2k\"\ndurability = \"sync\"\nsteps = [\"fillseq\", {{ step = \"overwrite\", \
         duration = \"30s\", events = [{events}] }}]"
    );
    let sandbox = Sandbox::of(&benchmark, &[("only", "sqlite", "")]);
    let mut child = sandbox.run(&[]).spawn().expect("it runs");
    let pid = child.id();
    let mut has_ended = false;
    let is_mounted = || {
        has_ended = child.try_wait().expect("own child").is_some();
        has_ended
            || sandbox.workers().iter().any(|it| !mounts(&sandbox, &it.to_string()).is_empty())
    };
    assert!(wait_until(LONG, is_mounted), "no disk is mounted");
    if has_ended {
        let text = joined_text(&child.wait_with_output().expect("own child"));
        assert!(text.contains("need a simulated disk"), "{text}");
        return println!("skipped: {text}");
    }
    assert_eq!(mounts(&sandbox, "self"), [""; 0], "it is in another namespace");
    send(pid, Signal::KILL);
    child.wait_with_output().expect("own child");
    assert!(wait_until(LONG, || sandbox.workers().is_empty()), "the worker ends");
    assert_eq!(mounts(&sandbox, "self"), [""; 0]);
    let next = ["durability", "--engine", "memory", "--level", "process", "--cut", "0"];
    let output = sandbox.assay(&next).output().expect("it runs");
    assert!(output.status.success(), "{}", joined_text(&output));
    assert_eq!(sandbox.data_left(), [""; 0]);
}
