//! Only a closed pipe is quiet: any other error of the output ends in a failure.

use std::fs::File;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;

use assert_cmd::cargo::cargo_bin;

use crate::workspace::Workspace;

/// A pair of variants, run once for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::with_pair("memory", &[]);
    workspace.write("nightly.csv", "time,ops\na,1\nb,2\nc,1\nd,2\ne,1\nf,2\n");
    workspace
});

/// A call of every command that prints, and its exit code when all is well.
const CALLS: &[(&str, i32)] = &[
    ("plan pair.toml", 0),
    ("list", 0),
    ("list pair", 0),
    ("show pair", 0),
    ("compare pair", 0),
    ("compare pair --format markdown", 0),
    ("compare pair --format csv", 0),
    ("compare pair --format json", 0),
    ("compare pair --metric throughput_ops_per_s", 0),
    ("explain one two --in pair", 0),
    ("lint --rules", 0),
    ("lint --explain A003", 0),
    ("history --import nightly.csv --higher-is-better ops", 0),
    ("report pair", 0),
    ("workload", 0),
    ("engine list", 0),
    ("engine show memory", 0),
    ("completions bash", 0),
    ("--help", 0),
    ("help compare", 0),
    ("--version", 0),
];

/// Runs a call with this standard output; returns how it ended and its standard error.
fn called(call: &str, out: impl Into<Stdio>) -> (ExitStatus, String) {
    let mut command = Command::new(cargo_bin("assay"));
    command.current_dir(RUN.path("")).args(call.split(' '));
    command.env("XDG_CACHE_HOME", RUN.path("cache"));
    let output = command.stdout(out).stderr(Stdio::piped()).spawn();
    let output = output.and_then(std::process::Child::wait_with_output).expect("it starts");
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!err.contains("panicked"), "{call}: {err}");
    (output.status, err)
}

#[test]
fn a_full_disk_fails_every_command_that_prints() {
    for (call, _) in CALLS {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let (status, err) = called(call, full);
        assert!(!status.success(), "{call} reports success");
        assert!(err.contains("cannot write the standard output: No space left"), "{call}: {err}");
    }
    // Findings exit with 1: a failed check is another code.
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    assert_eq!(called("lint pair", full).0.code(), Some(2));
}

#[test]
fn a_run_whose_answer_is_not_printed_fails_and_stays_complete() {
    let workspace = Workspace::with_pair("memory", &[]);
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = Command::new(cargo_bin("assay"));
    command.current_dir(workspace.path("")).args(["run", "pair.toml"]).stdout(full);
    let output = command.stderr(Stdio::piped()).spawn().and_then(|run| run.wait_with_output());
    assert_eq!(output.expect("it starts").status.code(), Some(1));
    let listed = workspace.assay(&["list"]).out;
    assert_eq!(listed.matches("4 of 4 runs complete").count(), 2, "{listed}");
}

#[test]
fn a_closed_pipe_is_quiet() {
    for (call, code) in CALLS {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(called(call, writer), (called(call, Stdio::null()).0, String::new()), "{call}");
        assert_eq!(called(call, Stdio::null()).0.code(), Some(*code), "{call}");
    }
}

/// Goal: with standard output closed nothing is written elsewhere in its place.
/// Method: the descriptor that a file of the program would get is the one that was closed.
#[test]
fn a_closed_standard_output_is_discarded() {
    for (call, code) in CALLS {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(cargo_bin("assay"));
        command.current_dir(RUN.path("")).args(call.split(' '));
        let output = command.env("XDG_CACHE_HOME", RUN.path("cache")).output().expect("it starts");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*err), (Some(*code), ""), "{call}");
    }
    let page = std::fs::read_to_string(RUN.path(&report())).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
}

/// Returns the path of the page.
fn report() -> String {
    RUN.assay(&["report", "pair"]).out.trim().to_owned()
}

#[test]
fn files_that_cannot_be_written_fail() {
    for call in [
        "report pair --output /dev/full",
        "report pair --output pair.toml/page.html",
        "report pair --markdown pair.toml/post",
        "history --import nightly.csv --higher-is-better ops --plot /dev/full",
    ] {
        let (status, err) = called(call, Stdio::null());
        assert_eq!(status.code(), Some(1), "{call}: {err}");
        assert!(err.contains("cannot write") || err.contains("cannot create"), "{call}: {err}");
    }
}
