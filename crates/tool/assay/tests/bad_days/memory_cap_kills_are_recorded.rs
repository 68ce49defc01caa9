//! Memory caps: kills are recorded, unusable caps rejected.

use std::io::Write;

use assert_cmd::assert::OutputAssertExt;
use model::{Bytes, RunEnd};
use rustix::fs::{Access, access};
use sampler::{CapError, MemoryCap};

use crate::sandbox::{NAME, Sandbox, as_unprivileged, joined_text, note, output_text, wrapped};

const LIMIT: Bytes = Bytes(256 << 20);

const VARIANTS: &[(&str, &str, &str)] =
    &[("greedy", "faulty", "eat 1GiB at 3000"), ("modest", "memory", "")];

/// Creates a memory cap; prints why not where this user has no rights to control groups.
fn cap() -> Option<MemoryCap> {
    let is_writable = access("/sys/fs/cgroup/memory", Access::WRITE_OK).is_ok();
    match MemoryCap::create(LIMIT) {
        Ok(cap) => Some(cap),
        Err(error @ (CapError::NoController(_) | CapError::NoRights(..))) if !is_writable => {
            note(&format!("skipped: {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Checks that the greedy engine ran out of memory and the other completed.
fn check_ends(sandbox: &Sandbox) {
    let records = sandbox.records();
    let RunEnd::OutOfMemory { step, reason } = &records["greedy.c1.r1"].end else {
        panic!("{:?}", records["greedy.c1.r1"].end)
    };
    assert_eq!(step, "readrandom");
    assert!(reason.starts_with("`oom_kill` of /sys/fs/cgroup/"), "{reason}");
    assert!(reason.contains(" is 1, and ") && reason.ends_with("allows 256 MiB"), "{reason}");
    assert_eq!(records["modest.c1.r1"].end, RunEnd::Complete);
    assert!(sandbox.result_of(&["list", NAME]).contains("killed for memory in readrandom"));
}

#[test]
fn worker_above_its_cap_is_recorded_as_out_of_memory() {
    let Some(_rights) = cap() else { return };
    let sandbox = Sandbox::reading("100ms", VARIANTS);
    sandbox.run(&["--memory", "256MiB"]).assert().failure();
    check_ends(&sandbox);
}

/// Goal: an out-of-memory kill is recognised without a cap of the run's own, as in a container.
/// Method: Assay itself runs in a cgroup that is too small for the greedy worker.
#[test]
fn worker_killed_by_an_enclosing_cap_is_recorded_as_out_of_memory() {
    let Some(cap) = cap() else { return };
    let sandbox = Sandbox::reading("100ms", VARIANTS);
    let mut shell = wrapped(&["sh", "-c", "read line; exec \"$@\"", "sh"], &sandbox.run(&[]));
    let mut child = shell.spawn().expect("a shell");
    cap.add_pid(child.id()).expect("own child, own group");
    writeln!(child.stdin.take().expect("piped"), "go").expect("the shell reads");
    let output = child.wait_with_output().expect("own child");
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    check_ends(&sandbox);
}

#[test]
fn cap_without_permission_is_rejected_before_the_run() {
    let sandbox = Sandbox::reading("100ms", VARIANTS);
    let Some(mut run) = as_unprivileged(&sandbox, &sandbox.run(&["--memory", "256MiB"])) else {
        return;
    };
    let output = run.output().expect("it runs");
    if output.status.success() {
        // Another user than root may have control groups of its own, user 65534 has none.
        assert!(!rustix::process::geteuid().is_root(), "{}", output_text(&output));
        note("skipped: an unprivileged user may cap memory here");
        return;
    }
    let message = joined_text(&output);
    assert!(message.contains("cgroup") && message.contains("nothing was run"), "{message}");
    assert!(sandbox.experiment().is_none());
}
