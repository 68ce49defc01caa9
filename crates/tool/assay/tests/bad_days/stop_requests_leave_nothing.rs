//! Signals, limits and locks: what was not finished is removed, and nothing waits in silence.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use crate::sandbox::{
    NAME, Sandbox, joined_text, on_disk_of, output_text, ran, send, wait_until, wrapped,
};

/// Longest time for anything here, on a busy host.
const LONG: Duration = Duration::from_secs(300);
/// Moments at which a reading verb is stopped.
const MOMENTS: u32 = 16;

/// Returns a sandbox with one experiment, also in the file `one.assay`.
fn exported() -> Sandbox {
    let sandbox = Sandbox::reading("1s", &[("only", "memory", "")]);
    ran(&mut sandbox.run(&[]));
    sandbox.result_of(&["export", NAME, "-o", "one.assay"]);
    sandbox
}

/// Returns the entries of a directory.
fn left(sandbox: &Sandbox, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path(dir)).expect("it exists").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits until the worker of a run works.
fn wait_for_worker(sandbox: &Sandbox) -> u32 {
    assert!(wait_until(LONG, || !sandbox.workers().is_empty()), "no worker");
    sandbox.workers()[0]
}

/// Goal: a bundle that is read in place is unpacked for no longer than the verb lives.
/// Method: the verb is stopped at many moments; after a kill, the next one removes what is left.
#[test]
fn a_bundle_that_is_read_leaves_nothing_after_a_stop() {
    let sandbox = exported();
    fs::create_dir(sandbox.path("tmp")).expect("the sandbox");
    let read = || {
        let mut command = sandbox.assay(&["show", "one.assay"]);
        command.env("TMPDIR", sandbox.path("tmp"));
        command
    };
    let stopped = |signal: Signal, moment: u32| -> Child {
        let mut child = read().spawn().expect("it runs");
        wait_until(LONG, || {
            !left(&sandbox, "tmp").is_empty() || matches!(child.try_wait(), Ok(Some(_)))
        });
        thread::park_timeout(Duration::from_micros(u64::from(moment) * 200));
        send(child.id(), signal);
        child
    };
    for moment in 0..MOMENTS {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let output = stopped(signal, moment).wait_with_output().expect("own child");
            let ended_by = output.status.signal();
            let text = output_text(&output);
            assert!([None, Some(signal.as_raw())].contains(&ended_by), "{ended_by:?} {text}");
            // A line names what a busy host needs long for.
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_quiet = printed.lines().all(|line| line.contains("stored files to be read"));
            assert!(ended_by.is_none() || is_quiet, "{text}");
            assert_eq!(left(&sandbox, "tmp"), [""; 0], "{signal:?} {moment}");
        }
        stopped(Signal::KILL, moment).wait().expect("own child");
        assert!(left(&sandbox, "tmp").len() <= 1);
        ran(&mut read());
    }
    assert_eq!(left(&sandbox, "tmp"), [""; 0]);
}

/// Goal: `nohup assay run` goes on when its terminal is closed.
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let sandbox = Sandbox::reading("2s", &[("only", "memory", "")]);
    let ignoring = ["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"];
    let child = wrapped(&ignoring, &sandbox.run(&[])).spawn().expect("it runs");
    wait_for_worker(&sandbox);
    send(child.id(), Signal::HUP);
    send(child.id(), Signal::INT);
    let output = child.wait_with_output().expect("own child");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", output_text(&output));
    assert!(sandbox.records()["only.c1.r1"].end.is_complete());
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_leaves_nothing() {
    let sandbox = exported();
    fs::create_dir(sandbox.path("out")).expect("the sandbox");
    let limited = ["bash", "-c", "ulimit -f 1; exec \"$@\"", "bash"];
    for arguments in [["export", NAME, "-o", "out/x.assay"], ["report", NAME, "-o", "out/x.html"]] {
        let output = wrapped(&limited, &sandbox.assay(&arguments)).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        assert!(joined_text(&output).contains("File too large"), "{}", output_text(&output));
        assert_eq!(left(&sandbox, "out"), [""; 0]);
    }
}

/// Goal: who holds the lock of a data directory is named, and waiting for it can be ended.
#[test]
fn a_data_directory_that_is_held_is_waited_for_in_public() {
    let sandbox = exported();
    let marker = sandbox.path("data/.assay-data");
    assert_eq!(fs::metadata(&marker).expect("a marker").mode() & 0o777, 0o600);
    let held = File::open(&marker).expect("a marker");
    flock(&held, FlockOperation::LockExclusive).expect("a lock");
    let mut child = sandbox.run(&[]).spawn().expect("it runs");
    assert!(!wait_until(Duration::from_secs(3), || matches!(child.try_wait(), Ok(Some(_)))));
    send(child.id(), Signal::INT);
    let output = child.wait_with_output().expect("own child");
    assert_eq!(output.status.signal(), Some(Signal::INT.as_raw()));
    let text = joined_text(&output);
    assert!(text.contains("waits for") && text.contains("holds the data directory data"), "{text}");
}

#[test]
fn an_experiment_that_cannot_be_begun_leaves_no_directory() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    let then = "find results -mindepth 1 > left";
    let Some(output) = on_disk_of("4k", "results", &sandbox.run(&[]), then) else { return };
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(joined_text(&output).contains("No space left on device"), "{}", output_text(&output));
    assert_eq!(fs::read_to_string(sandbox.path("left")).expect("a list"), "");
}

#[test]
fn a_crashing_worker_writes_no_core_file() {
    let sandbox = Sandbox::reading("5s", &[("only", "memory", "")]);
    let unlimited = ["sh", "-c", "ulimit -c \"$(ulimit -H -c)\"; exec \"$@\"", "sh"];
    let mut child = wrapped(&unlimited, &sandbox.run(&[])).spawn().expect("it runs");
    let worker = wait_for_worker(&sandbox);
    let is_closed = || {
        let limits = fs::read_to_string(format!("/proc/{worker}/limits")).unwrap_or_default();
        let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size"));
        core.is_some_and(|core| core.split_ascii_whitespace().next() == Some("0"))
    };
    assert!(wait_until(LONG, is_closed));
    send(child.id(), Signal::INT);
    child.wait().expect("own child");
}

/// Goal: no file that the user names is read beyond its limit: a sparse one may claim terabytes.
#[test]
fn an_experiment_file_of_gigabytes_is_refused_unread() {
    let sandbox = Sandbox::reading("1s", &[("only", "memory", "")]);
    let big = File::create(sandbox.path("big.toml")).expect("the sandbox");
    big.set_len(3 << 30).expect("a sparse file");
    for verb in ["plan", "run", "lint"] {
        let output = sandbox.assay(&[verb, "big.toml"]).output().expect("it runs");
        let text = joined_text(&output);
        assert!(text.contains("big.toml: the file is larger than 128 KiB"), "{text}");
    }
}
