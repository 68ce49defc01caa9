//! Engine faults are recorded outcomes; the plan continues.

use assert_cmd::assert::OutputAssertExt;
use model::{RunEnd, RunRecord};

use crate::sandbox::{NAME, Sandbox, joined_text, note};

/// With 2,000 rows, operation 3,000 is in the reading step.
const BAD: &[(&str, &str, &str)] = &[
    ("good", "memory", ""),
    ("segv", "faulty", "die segv at 3000"),
    ("abort", "faulty", "die abort at 3000"),
    ("kill", "faulty", "die kill at 3000"),
    ("hang", "faulty", "hang at 3000"),
    ("fatal", "faulty", "fail fatal at 3000"),
    ("lie", "faulty", "lie from 3000"),
];

const STEP: &str = "readrandom";

/// Returns the expected outcome phrase of a variant, or its beginning.
fn expected(variant: &str) -> &'static str {
    match variant {
        "good" => "complete",
        "segv" => "crashed in readrandom: signal 11 (SEGV)",
        "abort" => "crashed in readrandom: signal 6 (ABRT)",
        "kill" => "crashed in readrandom: signal 9 (KILL)",
        "hang" => "hung in readrandom: no operation ended for",
        "fatal" => "failed in readrandom: client 0: faulty: injected failure",
        "lie" => "failed a check in readrandom: client 0: ",
        other => panic!("no variant is named {other}"),
    }
}

/// Goal: every kind of engine failure is distinguished, stored, and excluded from averages.
/// Method: one experiment in which each variant but one has its own fault.
#[test]
fn every_engine_fault_is_recorded_and_the_plan_continues() {
    let sandbox = Sandbox::reading("100ms", BAD);
    let output = sandbox.run(&["--watchdog", "3s"]).assert().code(4).get_output().clone();
    assert!(joined_text(&output).contains("1 of 7 runs is complete"), "{}", joined_text(&output));
    let records = sandbox.records();
    assert_eq!(records.len(), BAD.len(), "every run was made");
    records.values().for_each(|record| check_record(&sandbox, record));
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    check_reported_outcomes(&sandbox);
}

/// Checks the outcome of a run, and that its earlier measurements are stored.
fn check_record(sandbox: &Sandbox, record: &RunRecord) {
    let name = record.cell.variant.as_str();
    let phrase = record.end.phrase();
    assert!(phrase.starts_with(expected(name)), "{name}: {phrase}");
    let is_of_its_class = match &record.end {
        RunEnd::Complete => name == "good",
        RunEnd::Crashed { .. } => ["segv", "abort", "kill"].contains(&name),
        RunEnd::Hung { waited_ns, .. } => name == "hang" && waited_ns.as_secs_f64() > 2.9,
        RunEnd::Failed { .. } => name == "fatal",
        RunEnd::FailedCheck { reason, .. } => name == "lie" && reason.contains("wrong"),
        RunEnd::Running
        | RunEnd::Interrupted { .. }
        | RunEnd::LostHost { .. }
        | RunEnd::OutOfMemory { .. }
        | RunEnd::DiskFloor { .. } => false,
    };
    assert!(is_of_its_class, "{name}: {phrase}");
    let finished: Vec<_> = record.steps.iter().map(|step| step.step.name.as_str()).collect();
    let count = if name == "good" { 2 } else { 1 };
    assert_eq!(finished, ["filluniquerandom", STEP][..count], "{name}");
    assert!(record.ended_at.is_some(), "{name}");
    assert!(!sandbox.intervals(&record.cell.id).is_empty(), "{name}");
}

/// Checks that lists and comparisons show the outcome of failed runs.
fn check_reported_outcomes(sandbox: &Sandbox) {
    let list = sandbox.result_of(&["list", NAME]);
    let compared = sandbox.result_of(&["compare", NAME]);
    assert!(sandbox.result_of(&["list"]).contains("1 of 7 runs is complete"));
    for (name, ..) in BAD {
        assert!(list.contains(expected(name)), "{name} in\n{list}");
        let is_incomplete = compared.contains(&format!("{name}.c1.r1 {}", expected(name)));
        assert_eq!(is_incomplete, *name != "good", "{name} in\n{compared}");
    }
    let csv = sandbox.result_of(&["compare", NAME, "--format", "csv"]);
    let mut measured: Vec<_> = csv.lines().filter_map(|line| variant_of(line, STEP)).collect();
    measured.dedup();
    match &sandbox.records()["good.c1.r1"].invalid {
        None => assert_eq!(measured, ["good"], "{csv}"),
        Some(reason) => {
            assert_eq!(measured, [""; 0], "{csv}");
            note(&format!("skipped in part: host too busy ({reason:?})"));
        }
    }
}

#[test]
fn crash_in_the_only_step_that_counts_leaves_nothing_measured() {
    let sandbox = Sandbox::reading("100ms", &[("segv", "faulty", "die segv at 3000")]);
    let output = sandbox.run(&[]).assert().code(1).get_output().clone();
    let nothing = "Verdict: NOTHING MEASURED.";
    assert!(joined_text(&output).contains(nothing), "{}", joined_text(&output));
    let compared = sandbox.assay(&["compare", NAME]).assert().code(3).get_output().clone();
    assert!(joined_text(&compared).contains(nothing), "{}", joined_text(&compared));
    sandbox.assay(&["lint", NAME]).assert().code(3);
}

/// Returns the variant of a line of CSV that holds a metric of `step`.
fn variant_of<'a>(line: &'a str, step: &str) -> Option<&'a str> {
    let fields: Vec<_> = line.split(',').collect();
    match fields.as_slice() {
        ["step", _, _, name, _, variant, ..] if *name == step => Some(variant),
        _ => None,
    }
}

#[test]
fn engine_that_fails_to_open_is_rejected_before_the_run() {
    let variants = [("good", "memory", ""), ("shut", "faulty", "refuse open")];
    let sandbox = Sandbox::reading("100ms", &variants);
    let output = sandbox.run(&[]).assert().failure().get_output().clone();
    let message = joined_text(&output);
    assert!(message.contains("fault `refuse open`") && message.contains("shut"), "{message}");
    assert!(sandbox.experiment().is_none(), "nothing was begun");
}

#[test]
fn resume_repeats_only_incomplete_runs() {
    // The fault is in the plan, so the resumed run fails again.
    let variants = [("good", "memory", ""), ("abort", "faulty", "die abort at 3000")];
    let sandbox = Sandbox::reading("100ms", &variants);
    sandbox.run(&[]).assert().failure();
    let before = sandbox.records();
    sandbox.resume().assert().failure();
    let after = sandbox.records();
    assert_eq!(before["good.c1.r1"], after["good.c1.r1"]);
    assert!(before["abort.c1.r1"].started_at < after["abort.c1.r1"].started_at);
    let dir = sandbox.experiment().expect("it was begun");
    let stored = archive::read_record(&dir.path().join("attempts/abort.c1.r1.1"));
    assert_eq!(stored.ok().as_ref(), Some(&before["abort.c1.r1"]));
}
