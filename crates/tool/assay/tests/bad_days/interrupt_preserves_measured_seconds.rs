//! Ctrl-C preserves measured seconds; a second one stops at once.

use std::process::{Child, Output};
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use model::RunEnd;
use rustix::process::Signal;

use crate::sandbox::{NAME, Sandbox, now, output_text, send, wait_until};

/// Longest time from Ctrl-C to the end.
const SOON: Duration = Duration::from_secs(5);
/// Longest time from the second Ctrl-C to the end.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Longest time for anything here to begin.
const LONG: Duration = Duration::from_secs(30);

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

/// Waits for the end, at most `limit`.
fn end(mut child: Child, limit: Duration) -> Output {
    let begun = now();
    let has_ended = wait_until(limit, || matches!(child.try_wait(), Ok(Some(_))));
    if !has_ended {
        child.kill().expect("own child");
    }
    let output = child.wait_with_output().expect("own child");
    assert!(has_ended, "it took more than {:?}\n{}", begun.elapsed(), output_text(&output));
    output
}

/// Goal: one signal ends the current run, stores its seconds, and leaves the rest to `--resume`.
fn stops_soon_and_resumes(signal: Signal) {
    let benchmark = "steps = [\"filluniquerandom\", { step = \"readrandom\", duration = \"3s\" }]\n\
                     rows = \"2k\"\n[factors]\nrepetitions = 2";
    let sandbox = Sandbox::of(benchmark, &[("only", "memory", "")]);
    let child = start(&sandbox, "only.c1.r1", 1);
    send(child.id(), signal);
    let output = end(child, SOON);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(output_text(&output).contains("0 of 2 runs are complete"), "{}", output_text(&output));
    assert!(output_text(&output).contains("assay run --resume"), "{}", output_text(&output));
    let records = sandbox.records();
    assert_eq!(records.len(), 1, "no further run was begun");
    let interrupted = &records["only.c1.r1"];
    assert_eq!(interrupted.end, RunEnd::Interrupted { step: "readrandom".to_owned() });
    assert_eq!(interrupted.steps.len(), 1, "the interrupted step is not stored as complete");
    let read: u64 = sandbox
        .intervals("only.c1.r1")
        .iter()
        .filter(|interval| interval.step_index == 1)
        .flat_map(|interval| interval.clients.values().map(|summary| summary.counts.done))
        .sum();
    assert!(read > 0);
    assert!(sandbox.result_of(&["list", NAME]).contains("interrupted in readrandom"));
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    sandbox.resume().assert().success();
    assert!(sandbox.records().values().all(|record| record.end.is_complete()));
    let dir = sandbox.experiment().expect("it was begun");
    let stored = archive::read_record(&dir.path().join("attempts/only.c1.r1.1"));
    assert_eq!(stored.ok().as_ref(), Some(interrupted));
}

#[test]
fn sigint_preserves_measured_seconds_and_resume_completes() {
    stops_soon_and_resumes(Signal::INT);
}

#[test]
fn sigterm_acts_like_sigint() {
    stops_soon_and_resumes(Signal::TERM);
}

/// Goal: an engine that ignores the first signal is ended by the second.
/// Method: it hangs, so the run cannot stop after the current operations.
#[test]
fn second_sigint_ends_a_hung_run_at_once() {
    let sandbox = Sandbox::reading("2s", &[("stuck", "faulty", "hang at 100k")]);
    let cell = "stuck.c1.r1";
    let child = sandbox.run(&[]).spawn().expect("it runs");
    let has_filled = || sandbox.records().get(cell).is_some_and(|record| !record.steps.is_empty());
    assert!(wait_until(LONG, has_filled));
    send(child.id(), Signal::INT);
    let begun = now();
    let is_soon = wait_until(Duration::from_millis(500), || begun.elapsed().as_millis() > 400);
    assert!(is_soon, "the two signals are distinct");
    send(child.id(), Signal::INT);
    let output = end(child, AT_ONCE);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let record = &sandbox.records()[cell];
    assert_eq!(record.end, RunEnd::Interrupted { step: "readrandom".to_owned() });
    assert_eq!(record.steps.len(), 1);
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}
