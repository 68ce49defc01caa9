//! Delays of the client are never charged to the engine.

use std::process::{Child, Stdio};
use std::time::Duration;

use model::validity::{InvalidCause, LoadStatus};
use rustix::process::Signal;

use crate::host::{CpuHogs, Group, take_turn};
use crate::measured::{BUSY, Run, STEP, measures};
use crate::sandbox::{Sandbox, joined_text, note, now, send, wait_until};

/// An engine that is never the bottleneck.
const MEMORY_ENGINE: &[(&str, &str, &str)] = &[("memory", "memory", "")];
const CELL: &str = "memory.c1.r1";
/// Longest wait for anything to begin or to end.
const LONG: Duration = Duration::from_secs(60);
/// Time the client is stopped.
const STOPPED: Duration = Duration::from_millis(1_200);
/// Hogs per CPU: the client gets a fifth.
const HOGS: usize = 4;
/// Attempts to find a quiet host.
const TRIES: usize = 2;

/// Checks that the client, not the engine, is reported as late.
fn assert_client_is_charged(run: &Run, sandbox: &Sandbox) {
    let diagnosis = run.diagnosis();
    let is_reported =
        !run.causes().is_empty() || run.record.invalid.is_some() || run.is_client_bound();
    assert!(is_reported, "the client is reported as on time: {diagnosis}");
    assert!(!run.is_overloaded(), "the engine is charged: {diagnosis}");
    // Invalid seconds are recorded one by one, and shown to users.
    let invalid = run.measured().filter(|interval| interval.invalid.is_some()).count();
    let counted = run
        .step()
        .invalid_intervals
        .as_ref()
        .map_or(0, |invalid_intervals| invalid_intervals.intervals as usize);
    assert_eq!(invalid, counted, "{diagnosis}");
    let message = sandbox.result_of(&["show", crate::sandbox::NAME]).to_lowercase();
    let phrases = ["do not count", "invalid", "client-bound"];
    assert!(phrases.iter().any(|phrase| message.contains(phrase)), "{message}\n{diagnosis}");
}

/// Waits for the end; returns the run, or none when the host was too busy for its load.
fn finish(mut child: Child, sandbox: &Sandbox) -> Option<Run> {
    assert!(wait_until(LONG, || matches!(child.try_wait(), Ok(Some(_)))), "it does not end");
    let output = child.wait_with_output().expect("own child");
    let text = joined_text(&output);
    if text.contains(BUSY) {
        note(&format!("skipped: {text}"));
        return None;
    }
    assert!(sandbox.experiment().is_some(), "{text}");
    Some(Run::of(sandbox, CELL))
}

#[test]
fn cpu_hog_is_not_charged_to_the_engine() {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("2s", MEMORY_ENGINE);
    let hogs = CpuHogs::on_each_cpu(HOGS);
    let child = sandbox.run(&["--rate", "5k/s"]).spawn().expect("it runs");
    let Some(run) = finish(child, &sandbox) else { return };
    drop(hogs);
    assert_client_is_charged(&run, &sandbox);
    // A worker that gets a tenth of a CPU may appear stopped in some of its seconds.
    assert!(
        run.causes().contains(&InvalidCause::Neighbours),
        "the hogs were not detected: {}",
        run.diagnosis()
    );
}

/// Goal: a CPU cap, as of containers, is detected and named.
/// Method: Assay as a whole is in the group; a client that spins uses up any quota.
#[test]
fn cpu_cap_is_not_charged_to_the_engine() {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("2s", MEMORY_ENGINE);
    let group = match Group::of_cpu(0.4) {
        Ok(group) => group,
        Err(reason) => return note(&format!("skipped: {reason}")),
    };
    let child = group.start(&sandbox.run(&["--rate", "2k/s", "--pacing", "spin"]));
    let Some(run) = finish(child, &sandbox) else { return };
    assert_client_is_charged(&run, &sandbox);
    let is_named = run.causes().contains(&InvalidCause::Throttled);
    assert!(is_named || run.record.invalid.is_some(), "the cap is not named: {}", run.diagnosis());
}

/// Goal: a stopped client is detected, and the seconds around it still count.
#[test]
fn stopped_client_is_not_charged_to_the_engine() {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("5s", MEMORY_ENGINE);
    let mut run = sandbox.run(&["--rate", "5k/s"]);
    run.stdout(Stdio::null()).stderr(Stdio::null());
    let child = run.spawn().expect("it runs");
    assert!(wait_until(LONG, || {
        let intervals = sandbox.experiment().and_then(|dir| dir.intervals(CELL).ok());
        let is_measured = |interval: &&model::IntervalRecord| interval.step == STEP;
        intervals.is_some_and(|all| all.iter().filter(is_measured).count() >= 2)
    }));
    let workers = sandbox.workers();
    assert_eq!(workers.len(), 1);
    send(workers[0], Signal::STOP);
    let begun = now();
    assert!(wait_until(LONG, || begun.elapsed() >= STOPPED));
    send(workers[0], Signal::CONT);
    let Some(run) = finish(child, &sandbox) else { return };
    let diagnosis = run.diagnosis();
    assert_client_is_charged(&run, &sandbox);
    // The time it was stopped and its recovery do not count.
    let still = run.measured().filter(|interval| {
        let pause_us = interval.readings.get("pause_us").copied().unwrap_or_default();
        pause_us > interval.length_ns.as_secs_f64() * 1e6 / 2.0
    });
    let counts: Vec<_> = still.map(|interval| interval.invalid.is_some()).collect();
    assert!(!counts.is_empty() && counts.iter().all(|is_invalid| *is_invalid), "{diagnosis}");
    let stopped_ns = u64::try_from(STOPPED.as_nanos()).expect("a short span");
    assert!(run.reads().response.max_ns > stopped_ns * 9 / 10, "{diagnosis}");
    let invalid_intervals = run.step().invalid_intervals.as_ref().expect("invalid intervals");
    let valid = invalid_intervals.valid.get(&model::OpKind::Get).copied().unwrap_or_default();
    assert!(valid.response.max_ns < stopped_ns / 4, "{diagnosis}");
    assert!(valid.counts.done < run.reads().counts.done, "{diagnosis}");
    if run.disturbance().is_none() {
        // On a quiet host the remaining intervals are valid.
        assert!(run.causes().contains(&InvalidCause::Paused), "{diagnosis}");
        assert!(invalid_intervals.intervals < invalid_intervals.of_intervals, "{diagnosis}");
    }
}

/// Goal: on a quiet host no interval is invalid.
/// Method: the host's load is measured; on a busy host the test is repeated, then skipped.
#[test]
fn quiet_host_has_no_invalid_interval() {
    let _turn = take_turn();
    let mut reasons = Vec::new();
    for _ in 0..TRIES {
        let sandbox = Sandbox::reading("2s", MEMORY_ENGINE);
        if !measures(&mut sandbox.run(&["--rate", "10k/s"])) {
            return;
        }
        let run = Run::of(&sandbox, CELL);
        if let Some(reason) = run.disturbance() {
            reasons.push(reason);
            continue;
        }
        let diagnosis = run.diagnosis();
        assert_eq!(run.causes(), [], "{diagnosis}");
        assert_eq!(run.record.invalid, None, "{diagnosis}");
        assert_eq!(run.step().load_status, Some(LoadStatus::Sustained), "{diagnosis}");
        return;
    }
    note(&format!("skipped: {}", reasons.join("; ")));
}
