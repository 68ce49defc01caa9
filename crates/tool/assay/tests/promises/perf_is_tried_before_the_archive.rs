//! A `perf` that cannot sample is reported before anything is stored.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

const STEPS: [&str; 7] =
    ["readrandom", "--engine", "lmdb", "--rows", "1k", "--duration=100ms", "--profile"];

/// Returns a search path whose only programs are a `perf` of this text and mode, and a shell.
fn search_path(workspace: &Workspace, text: &str, mode: u32) -> String {
    let dir = workspace.path("bin");
    fs::create_dir_all(&dir).expect("a directory");
    workspace.write("bin/perf", text);
    fs::set_permissions(dir.join("perf"), Permissions::from_mode(mode)).expect("a mode");
    dir.to_string_lossy().into_owned()
}

/// Runs a verb with that `perf`.
fn with_perf(workspace: &Workspace, verb: &str, path: &str) -> ProgramOutput {
    let mut command = workspace.program(&[&[verb], &STEPS[..]].concat());
    ProgramOutput::of(command.env("PATH", path).output().expect("assay starts"))
}

/// Goal: a perf that fails leaves no experiment without runs behind. Method: the message and exit
/// code of the wrapper of a distribution, for a kernel that it has no perf for.
#[test]
fn a_perf_that_fails_is_quoted_and_leaves_nothing_behind() {
    let workspace = Workspace::new();
    let text = "#!/bin/sh\necho 'WARNING: perf not found for kernel 6.1' >&2\nexit 2\n";
    let path = search_path(&workspace, text, 0o755);
    let run = with_perf(&workspace, "run", &path);
    assert_eq!(run.code, 1, "{}", run.out);
    let error = unwrapped(&run.err);
    assert!(error.contains("perf not found for kernel 6.1"), "{error}");
    assert!(error.contains("nothing was run"), "{error}");
    assert!(!workspace.path("results/quick-readrandom").exists());
}

#[test]
fn a_perf_that_may_not_be_executed_is_missing_for_plan_and_run() {
    let workspace = Workspace::new();
    let path = search_path(&workspace, "no program", 0o644);
    let missing = "the search path has none that may be executed";
    let run = with_perf(&workspace, "run", &path);
    assert!(run.code == 1 && unwrapped(&run.err).contains(missing), "{}", run.err);
    assert!(!workspace.path("results").exists());
    let plan = with_perf(&workspace, "plan", &path);
    assert_eq!(plan.code, 0, "{}", plan.err);
    let warning = "warning   `run` refuses this plan on this host: CPU profiles need";
    assert!(plan.out.contains(warning) && plan.out.contains(missing), "{}", plan.out);
    assert!(plan.out.contains("profiles  perf samples the CPU time of the measured steps"));
}
