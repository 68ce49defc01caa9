//! Ctrl-C preserves measured seconds; a second one stops at once.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::{Child, Output};
use std::time::Duration;

use model::RunEnd;
use rustix::process::Signal;

use crate::sandbox::{NAME, Sandbox, joined_text, output_text, ran, send, wait_until};

/// Longest time for anything here, on a busy host; what is interrupted would take longer.
const LONG: Duration = Duration::from_secs(300);
/// Length of the interrupted step that is resumed.
const SHORT: &str = "3s";
/// Length of one that is not.
const ENDLESS: &str = "10m";
/// Attempts to interrupt a short step before it ends.
const TRIES: usize = 5;
const CELL: &str = "only.c1.r1";

/// Starts the experiment and waits until `seconds` of `cell`'s second step are in the archive.
fn start(sandbox: &Sandbox, cell: &str, seconds: usize) -> Child {
    let child = sandbox.run(&[]).spawn().expect("it runs");
    assert!(wait_until(LONG, || {
        let intervals = sandbox.experiment().and_then(|dir| dir.intervals(cell).ok());
        let of_step = |interval: &&model::IntervalRecord| interval.step_index == 1;
        intervals.is_some_and(|all| all.iter().filter(of_step).count() >= seconds)
    }));
    child
}

/// Waits for the end.
fn end(mut child: Child) -> Output {
    let has_ended = wait_until(LONG, || matches!(child.try_wait(), Ok(Some(_))));
    if !has_ended {
        child.kill().expect("own child");
    }
    let output = child.wait_with_output().expect("own child");
    assert!(has_ended, "it did not end\n{}", output_text(&output));
    output
}

/// Returns an experiment of two runs that were interrupted in the first, with what was printed.
///
/// On a busy host the signal may come after a short step: then it is repeated.
fn interrupted(signal: Signal, length: &str) -> (Sandbox, Output) {
    let benchmark = format!(
        "steps = [\"filluniquerandom\", {{ step = \"readrandom\", duration = \"{length}\" }}]\n\
         rows = \"2k\"\nwarmup = \"100ms\"\n[factors]\nrepetitions = 2"
    );
    for _ in 0..TRIES {
        let sandbox = Sandbox::of(&benchmark, &[("only", "faulty", "slow 1ms from 2001")]);
        let child = start(&sandbox, CELL, 1);
        send(child.id(), signal);
        let output = end(child);
        if !sandbox.records()[CELL].end.is_complete() {
            return (sandbox, output);
        }
    }
    panic!("in {TRIES} attempts each step of {length} ended before the signal");
}

/// Goal: one signal ends the current run, stores its seconds, and leaves the rest to `--resume`.
fn interrupted_by(signal: Signal, length: &str) -> Sandbox {
    let (sandbox, output) = interrupted(signal, length);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(output_text(&output).contains("0 of 2 runs are complete"), "{}", output_text(&output));
    assert!(output_text(&output).contains("assay run --resume"), "{}", output_text(&output));
    let records = sandbox.records();
    assert_eq!(records.len(), 1, "no further run was begun");
    let interrupted = &records[CELL];
    assert_eq!(interrupted.end, RunEnd::Interrupted { step: "readrandom".to_owned() });
    assert_eq!(interrupted.steps.len(), 1, "the interrupted step is not stored as complete");
    let read: u64 = sandbox
        .intervals(CELL)
        .iter()
        .filter(|interval| interval.step_index == 1)
        .flat_map(|interval| interval.clients.values().map(|summary| summary.counts.done))
        .sum();
    assert!(read > 0);
    assert!(sandbox.result_of(&["list", NAME]).contains("interrupted in readrandom"));
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    sandbox
}

#[test]
fn sigint_preserves_measured_seconds_and_resume_completes() {
    let sandbox = interrupted_by(Signal::INT, SHORT);
    let interrupted = sandbox.records().remove(CELL);
    ran(&mut sandbox.resume());
    assert!(sandbox.records().values().all(|record| record.end.is_complete()));
    let dir = sandbox.experiment().expect("it was begun");
    let stored = archive::read_record(&dir.path().join("attempts/only.c1.r1.1"));
    assert_eq!(stored.ok(), interrupted);
}

#[test]
fn sigterm_acts_like_sigint() {
    interrupted_by(Signal::TERM, ENDLESS);
}

/// Returns whether a process has a signal that it has not taken: another would be the same.
///
/// Source: proc(5), `/proc/PID/status`, `SigPnd` and `ShdPnd`.
fn is_pending(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("own child");
    let pending = status.lines().filter_map(|line| line.split_once("Pnd:"));
    let sets: Vec<&str> = pending.map(|(_, set)| set.trim()).collect();
    assert_eq!(sets.len(), 2, "{status}");
    sets.iter().any(|set| set.bytes().any(|digit| digit != b'0'))
}

/// Goal: an engine that ignores the first signal is ended by the second.
/// Method: it hangs, so the run cannot stop after the current operations.
#[test]
fn second_sigint_ends_a_hung_run_at_once() {
    let sandbox = Sandbox::reading("2s", &[("stuck", "faulty", "hang at 3000")]);
    let cell = "stuck.c1.r1";
    let child = sandbox.run(&[]).spawn().expect("it runs");
    let has_filled = || sandbox.records().get(cell).is_some_and(|record| !record.steps.is_empty());
    assert!(wait_until(LONG, has_filled));
    send(child.id(), Signal::INT);
    assert!(wait_until(LONG, || !is_pending(child.id())), "the first signal is not taken");
    send(child.id(), Signal::INT);
    is_interrupted(&sandbox, &end(child), "at once");
}

/// Checks that a hung run was interrupted, as a line stated at once.
fn is_interrupted(sandbox: &Sandbox, output: &Output, ends: &str) {
    let (cell, text) = ("stuck.c1.r1", joined_text(output));
    assert_eq!(output.status.code(), Some(1), "{text}");
    // The first step is measured, and may be ending.
    let line = format!("({cell}) ends {ends}");
    assert!(text.contains("stops the wait for ") && text.contains(&line), "{text}");
    let record = &sandbox.records()[cell];
    let RunEnd::Interrupted { step } = &record.end else { panic!("{:?}", record.end) };
    assert!(["filluniquerandom", "readrandom"].contains(&step.as_str()), "{step}");
    assert_eq!(record.steps.len(), 1);
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

/// Goal: one signal ends a run whose operations never end, long before the watchdog does.
#[test]
fn one_sigterm_ends_a_hung_run_within_seconds() {
    let sandbox = Sandbox::reading("2s", &[("stuck", "faulty", "hang at 3000")]);
    let child = sandbox.run(&["--watchdog", "1h"]).spawn().expect("it runs");
    let has_filled = || {
        let records = sandbox.records();
        records.get("stuck.c1.r1").is_some_and(|record| !record.steps.is_empty())
    };
    assert!(wait_until(LONG, has_filled));
    send(child.id(), Signal::TERM);
    let ends = "within seconds. What was measured is stored, and processes that Assay started are \
                ended; a second Ctrl-C ends Assay at once";
    is_interrupted(&sandbox, &end(child), ends);
}

/// Goal: a phase that prints nothing is named, and one signal ends it.
/// Method: a server that takes connections and never answers.
#[test]
fn a_silent_server_is_waited_for_in_public_and_one_signal_ends_the_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it listens").port();
    let sandbox = Sandbox::reading("1s", &[("mine", "memory", "")]);
    let address = format!("postgres://me@127.0.0.1:{port}/d?connect_timeout=600");
    let file = sandbox.path("experiment.toml");
    let text = fs::read_to_string(&file).expect("the sandbox");
    let server = format!("engine = \"postgres\"\ndsn = \"{address}\"\n");
    let text = text.replace("engine = \"memory\"\noptions = {  }\n", &server);
    fs::write(&file, text).expect("the sandbox");
    let printed = sandbox.path("printed");
    let mut command = sandbox.run(&["--watchdog", "1h"]);
    command.stderr(File::create(&printed).expect("the sandbox"));
    let child = command.spawn().expect("it runs");
    let has_printed = |line: &str| fs::read_to_string(&printed).is_ok_and(|it| it.contains(line));
    let waits = "\nwaits     for `mine` to be opened and closed once, at most 1m00s\n";
    let is_named = wait_until(LONG, || has_printed(waits));
    send(child.id(), Signal::INT);
    let output = end(child);
    assert!(is_named && has_printed("\nstops     the wait for `mine` to be opened"));
    assert!(has_printed("interrupted before the first run") && has_printed("nothing was run"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}
