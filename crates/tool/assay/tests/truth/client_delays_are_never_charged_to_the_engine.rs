//! Delays of the client are never charged to the engine.

use std::process::{Child, Stdio};
use std::time::Duration;

use model::validity::{InvalidCause, LoadStatus};
use model::{IntervalRecord, metric};
use rustix::process::Signal;

use crate::disturbance::on_quiet_host;
use crate::group::Group;
use crate::host::take_turn;
use crate::measured::{Run, STEP, assert_ran, measure};
use crate::runs_without_a_result_are_labelled::{
    assert_all_probes_are_invalid, nothing_measured, sandbox_of_search,
};
use crate::sandbox::{Sandbox, note, now, send, wait_until};

/// An engine that is never the bottleneck.
const MEMORY_ENGINE: &[(&str, &str, &str)] = &[("memory", "memory", "")];
const CELL: &str = "memory.c1.r1";
/// Longest wait for anything to begin or to end: it only guards against hanging for ever.
const LONG: Duration = Duration::from_secs(300);
/// Time the client is stopped.
const STOPPED: Duration = Duration::from_millis(1_200);
/// Hogs per CPU: the client gets a fifth.
const HOGS: usize = 4;

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

/// Waits for the end; returns the run.
fn finish(mut child: Child, sandbox: &Sandbox) -> Run {
    assert!(wait_until(LONG, || matches!(child.try_wait(), Ok(Some(_)))), "it does not end");
    assert_ran(&child.wait_with_output().expect("own child"));
    Run::of(sandbox, CELL)
}

/// Returns whether others used half of a CPU or more in an interval.
fn is_next_to_hogs(interval: &IntervalRecord) -> bool {
    let others_us = interval.readings.value(metric::OTHERS_CPU_US).unwrap_or_default();
    others_us >= interval.length_ns.as_micros_f64() / 2.0
}

/// Goal: CPU hogs are detected and named; a run whose intervals are all invalid has no figure, and
/// neither has a search whose probes are.
/// Method: an open loop and a search next to hogs, at the same time. A worker that gets a tenth of
/// a CPU may appear stopped in some of its seconds, or in all of them next to further load.
#[test]
fn cpu_hogs_are_not_charged_to_the_engine_and_leave_no_figures() {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("2s", MEMORY_ENGINE);
    let searched = sandbox_of_search();
    let open: &[&str] = &["--rate", "5k/s", "--warmup", "0s"];
    let search: &[&str] = &["--sla", "p99 < 1ms"];
    let runs = [(&sandbox, open), (&searched, search)];
    let texts = nothing_measured(&runs, Some(HOGS));
    assert_all_probes_are_invalid(&searched, &texts[1]);
    let run = Run::of(&sandbox, CELL);
    let diagnosis = run.diagnosis();
    assert_client_is_charged(&run, &sandbox);
    assert!(run.record.invalid.is_some(), "{diagnosis}");
    let measured: Vec<_> = run.measured().collect();
    assert!(!measured.is_empty(), "{diagnosis}");
    assert!(measured.iter().all(|interval| interval.invalid.is_some()), "{diagnosis}");
    if run.causes().contains(&InvalidCause::Neighbours) {
        assert!(texts[0].contains("other processes took the CPU"), "{}", texts[0]);
    } else {
        assert!(run.causes().contains(&InvalidCause::Paused), "{diagnosis}");
        assert!(measured.iter().any(|interval| is_next_to_hogs(interval)), "{diagnosis}");
        note("skipped in part: host too busy (next to further load the client appears stopped)");
    }
}

/// Goal: a CPU cap, as of containers, is detected and named.
/// Method: Assay as a whole is in the group; a client that spins uses up any quota.
#[test]
fn cpu_cap_is_not_charged_to_the_engine() {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("1s", MEMORY_ENGINE);
    let group = match Group::of_cpu(0.4) {
        Ok(group) => group,
        Err(reason) => return note(&format!("skipped: {reason}")),
    };
    on_quiet_host(|_| {
        let child = group.start(&sandbox.run(&["--rate", "2k/s", "--pacing", "spin"]));
        let run = finish(child, &sandbox);
        assert_client_is_charged(&run, &sandbox);
        let is_named = run.causes().contains(&InvalidCause::Throttled);
        assert!(is_named, "the cap is not named: {}", run.diagnosis());
    });
}

/// Goal: a stopped client is detected, and the seconds around it still count.
/// Method: four seconds; the client is stopped after the first of them.
#[test]
fn stopped_client_is_not_charged_to_the_engine() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let sandbox = Sandbox::reading("4s", MEMORY_ENGINE);
        let mut run = sandbox.run(&["--rate", "5k/s", "--warmup", "0s"]);
        run.stdout(Stdio::null()).stderr(Stdio::null());
        let child = run.spawn().expect("it runs");
        stop_worker(&sandbox);
        finish(child, &sandbox);
        check_stopped(&Run::on(host, &sandbox, CELL), &sandbox);
    });
}

/// Stops the worker for a while, after its first second.
fn stop_worker(sandbox: &Sandbox) {
    assert!(wait_until(LONG, || {
        let intervals = sandbox.experiment().and_then(|dir| dir.intervals(CELL).ok());
        let is_measured = |interval: &IntervalRecord| interval.step == STEP;
        intervals.is_some_and(|all| all.iter().any(is_measured))
    }));
    let workers = sandbox.workers();
    assert_eq!(workers.len(), 1);
    send(workers[0], Signal::STOP);
    let begun = now();
    assert!(wait_until(LONG, || begun.elapsed() >= STOPPED));
    send(workers[0], Signal::CONT);
}

/// Checks that the time it was stopped and its recovery do not count, and other seconds do.
fn check_stopped(run: &Run, sandbox: &Sandbox) {
    let diagnosis = run.diagnosis();
    assert_client_is_charged(run, sandbox);
    let still = run.measured().filter(|interval| {
        let pause_us = interval.readings.value(metric::PAUSE_US).unwrap_or_default();
        pause_us > interval.length_ns.as_micros_f64() / 2.0
    });
    let counts: Vec<_> = still.map(|interval| interval.invalid.is_some()).collect();
    assert!(!counts.is_empty() && counts.iter().all(|is_invalid| *is_invalid), "{diagnosis}");
    let stopped_ns = u64::try_from(STOPPED.as_nanos()).expect("a short span");
    assert!(run.reads().response.max_ns > stopped_ns * 9 / 10, "{diagnosis}");
    assert!(run.causes().contains(&InvalidCause::Paused), "{diagnosis}");
    let invalid_intervals = run.step().invalid_intervals.as_ref().expect("invalid intervals");
    assert!(invalid_intervals.intervals < invalid_intervals.of_intervals, "{diagnosis}");
    let valid = invalid_intervals.valid.get(&model::OpKind::Get).copied().unwrap_or_default();
    assert!(valid.response.max_ns < stopped_ns / 4, "{diagnosis}");
    assert!(valid.counts.done < run.reads().counts.done, "{diagnosis}");
}

/// Goal: on a quiet host no interval is invalid, that of the warm-up included.
#[test]
fn quiet_host_has_no_invalid_interval() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let sandbox = Sandbox::reading("1s", MEMORY_ENGINE);
        measure(&mut sandbox.run(&["--rate", "10k/s"]));
        let run = Run::on(host, &sandbox, CELL);
        let diagnosis = run.diagnosis();
        assert!(run.measured().count() > 0, "{diagnosis}");
        assert_eq!(run.causes(), [], "{diagnosis}");
        assert_eq!(run.record.invalid, None, "{diagnosis}");
        assert_eq!(run.step().load_status, Some(LoadStatus::Sustained), "{diagnosis}");
    });
}
