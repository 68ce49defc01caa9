//! Storage is measured with fio, as an experiment or by `assay device`.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::journey::check_journey;
use crate::workspace::{ProgramOutput, Workspace};

/// A small file in `storage`.
const SMALL: [&str; 7] =
    ["device", "--path", "storage", "--size", "16MiB", "--disk-floor", "16MiB"];

/// Type of the file system ext4. Source: statfs(2).
const EXT4: rustix::fs::FsWord = 0xef53;

/// Returns why fio cannot be run here, after printing it.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn is_skipped() -> bool {
    let is_there = Command::new("fio").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: no fio (scripts/setup.sh device)");
    }
    !is_there
}

/// Measures two tests for a second each, of a small file in `storage`.
fn measure(workspace: &Workspace, more: &[&str]) -> ProgramOutput {
    let fixed = ["--jobs", "1", "--repetitions", "1", "--minutes", "0.06", "--access", "buffered"];
    let tests = ["--test", "randread-4k", "--test", "fdatasync-4k"];
    workspace.assay(&[&SMALL[..], &fixed, &tests, more].concat())
}

#[test]
fn invalid_devices_and_amounts_are_rejected_before_anything_is_written() {
    let workspace = Workspace::new();
    workspace.write("plain", "");
    for (arguments, expected) in [
        (&["device"][..], "no storage to measure"),
        (&["device", "--path", ".", "--test", "read"], "`read` is not a test"),
        (&["device", "--path", ".", "--jobs", "0"], "0 is not in 1..=256"),
        (&["device", "--path", ".", "--until-steady"], "--write-limit"),
        (&["device", "--raw", "/dev/a", "--destroy", "/dev/b"], "not the device of --raw"),
        (&["device", "--path", ".", "--until-steady", "--write-limit", "1GiB"], "wears the drive"),
        (&["device", "show"], "no profile is stored"),
    ] {
        let output = workspace.assay(arguments);
        assert_ne!(output.code, 0);
        assert!(output.err.contains(expected), "{arguments:?}: {}", output.err);
    }
    if is_skipped() {
        return;
    }
    for (arguments, expected) in [
        (&["device", "--path", ".", "--minutes", "1"][..], "do not fit into 1 min"),
        (&["device", "--path", ".", "--access", "raw"], "the options leave no test to run"),
        (&["device", "--path", ".", "--size", "9000TiB"], "--disk-floor"),
        (&["device", "--raw", "plain"], "not a block device"),
    ] {
        let output = workspace.assay(arguments);
        assert_ne!(output.code, 0);
        assert!(output.err.contains(expected), "{arguments:?}: {}", output.err);
    }
    assert!(!workspace.path("results").exists());
}

/// Goal: a profile is stored, and compared with the one before; the file is removed.
/// Method: runs of a second on a small file, twice.
#[test]
fn profiles_are_stored_and_compared() {
    if is_skipped() {
        return;
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("storage")).unwrap();
    let first = measure(&workspace, &["--format", "csv"]);
    assert_eq!(first.code, 0, "{}", first.err);
    assert_eq!(first.out.lines().count(), 3, "{}", first.out);
    assert!(first.out.contains("\nbuffered,randread-4k,1,1,"), "{}", first.out);
    let second = measure(&workspace, &["--page", "storage.html"]);
    for text in ["fio-", "File, page cache", "fdatasync-4k", "ratios compare throughput", "ratio"] {
        assert!(second.out.contains(text), "{text}: {}", second.out);
    }
    assert!(!second.out.contains("BOGUS"), "{}", second.out);
    assert!(fs::read_to_string(workspace.path("storage.html")).unwrap().contains("rw=randread"));
    assert!(fs::read_dir(workspace.path("storage")).unwrap().next().is_none());
    let list = workspace.assay(&["device", "list"]);
    assert_eq!(list.out.matches("storage").count(), 3, "heading and profiles: {}", list.out);
}

/// An experiment on storage: reads of two sizes, a second each, of a small file.
const EXPERIMENT: &str = r#"
[experiment]
name = "sizes"
question = "Which requests reach the device?"
base = "direct"
control = true
answer = ["device_read_size_kib"]
[device]
tests = ["randread-4k", "randread-16k"]
access = ["raw", "direct", "buffered"]
file_size = "16MiB"
duration = "1s"
[factors]
clients = [1]
repetitions = 2
[size.long]
duration = "2s"
[[published]]
source = "nobody"
setup = "none"
[[published.finding]]
claim = "A file is as fast as the device"
variant = "raw"
step = "randread-4k"
expect = "same"
"#;

/// Goal: a file that measures storage is planned, run, resumed, shown, compared and linted as any.
/// Method: runs of a second; one of them is removed, and resumed.
#[test]
fn experiments_on_storage_are_run_as_any_other() {
    if is_skipped() {
        return;
    }
    let workspace = Workspace::new();
    workspace.write("sizes.toml", EXPERIMENT);
    let plan = workspace.assay(&["plan", "sizes.toml"]);
    for text in ["file      16.0 MiB, filled first", "left out: name the device", "--size long"] {
        assert!(plan.out.contains(text), "{text}: {}{}", plan.out, plan.err);
    }
    let run = workspace.assay(&["run", "sizes.toml", "--disk-floor", "1MiB"]);
    // Two runs on a busy host may decide nothing.
    assert!([0, 3].contains(&run.code), "{}{}", run.out, run.err);
    let of_name = workspace.path("results/sizes");
    let dir = fs::read_dir(of_name).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(dir.join("runs/direct.c1.r2")).unwrap();
    let resumed = workspace.assay(&["run", "--resume", "sizes", "--disk-floor", "1MiB"]);
    assert!([0, 3].contains(&resumed.code), "{}{}", resumed.out, resumed.err);
    check_journey(&workspace, "sizes");
    for (arguments, expected) in [
        (&["list"][..], "6 of 6 runs are complete"),
        (&["show", "sizes"], "randread-16k"),
        (&["show", "sizes"], "not measured"),
        (&["compare", "sizes"], "device read size"),
        (&["lint", "sizes"], "too few repetitions"),
        (&["report", "sizes"], "report.html"),
        (&["device", "show"], "File, page cache"),
        (&["verify"], "mismatches: 0"),
    ] {
        let output = workspace.assay(arguments);
        assert!(output.out.contains(expected), "{arguments:?}: {}{}", output.out, output.err);
    }
    let typed = workspace.assay(&["run", "sizes.toml", "--cache", "1GiB"]);
    assert!(typed.err.contains("--cache does not apply to storage"), "{}", typed.err);
    let raw = workspace.assay(&["run", "sizes.toml", "--raw", "sizes.toml"]);
    assert!(raw.err.contains("not a block device"), "{}", raw.err);
}

#[test]
fn sparse_files_are_bogus() {
    if is_skipped() {
        return;
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("storage")).unwrap();
    let sparse = measure(&workspace, &["--no-fill", "--test", "randread-16k"]);
    assert_eq!(sparse.code, 0, "{}", sparse.err);
    // Not every file system reports extents; ext4 does.
    if sparse.out.contains("never written  unknown") {
        let kind = rustix::fs::statfs(workspace.path("storage")).unwrap().f_type;
        assert_ne!(kind, EXT4, "{}", sparse.out);
        println!("skipped in part: the file system {kind:#x} reports no extents");
    } else {
        assert!(sparse.out.contains("storage was never written"), "{}", sparse.out);
        assert!(sparse.out.contains("randread-4k BOGUS"), "{}", sparse.out);
    }
    let shown = workspace.assay(&["device", "show"]);
    assert_eq!(shown.out, sparse.out);
    // The short form is an experiment too.
    if sparse.out.contains("BOGUS") {
        let linted = workspace.assay(&["lint", "storage"]);
        assert!(linted.out.contains("A062 never-written storage"), "{}{}", linted.out, linted.err);
    }
}

/// Goal: Ctrl-C stores what was measured, removes the file and ends with an error.
/// Method: a signal once the first repetition is stored, of thirty.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test watches a process in real time")]
fn an_interrupt_stores_what_was_measured_and_removes_the_file() {
    if is_skipped() {
        return;
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("storage")).unwrap();
    let endless = ["--repetitions", "30", "--minutes", "0.5", "--jobs", "1"];
    let tests = ["--test", "randread-4k", "--access", "buffered"];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("assay"))
        .current_dir(workspace.path("."))
        .args([&SMALL[..], &endless, &tests].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let has_profile = || workspace.path("results/.devices").is_dir();
    while !has_profile() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Incomplete: the measurement was interrupted"), "{text}");
    assert!(text.contains("randread-4k"), "{text}");
    assert!(fs::read_dir(workspace.path("storage")).unwrap().next().is_none());
    assert!(workspace.assay(&["device", "list"]).out.contains("(incomplete)"));
}

/// Goal: no option of the writes until steady is without effect, or starts another measurement.
#[test]
fn options_of_the_writes_until_steady_need_and_exclude_others() {
    let workspace = Workspace::new();
    let steady = ["device", "--path", ".", "--until-steady", "--write-limit", "1GiB"];
    for (typed, expected) in [
        (vec!["device", "--path", ".", "--yes"], "--until-steady"),
        ([&steady[..], &["--minutes", "1"]].concat(), "--minutes"),
        ([&steady[..], &["--test", "randread-4k"]].concat(), "--test"),
    ] {
        let output = workspace.assay(&typed);
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(expected), "{}", output.err);
    }
}

/// Goal: a limit that leaves nothing to measure is an error with the limit that is needed.
#[test]
fn write_limit_below_the_first_fill_measures_nothing() {
    if is_skipped() {
        return;
    }
    let workspace = Workspace::new();
    let output = workspace.assay(&[
        "device",
        "--path",
        ".",
        "--until-steady",
        "--write-limit",
        "1MiB",
        "--yes",
    ]);
    assert_eq!(output.code, 3, "{}", output.err);
    let is_full = output.err.contains("no fill level is left to measure");
    assert!(is_full || output.err.contains("give a --write-limit above "), "{}", output.err);
    assert_eq!(output.out, "");
    assert!(!workspace.path("results/.devices").exists(), "nothing was written");
}
