//! Loads that cannot be offered or judged are refused before machine time is spent.

use std::process::Command;

use crate::host::{Group, alone};
use crate::sandbox::{Sandbox, said, say, sentence};

/// Threads that a run of one client needs, and a sweep exceeds.
const FEW_THREADS: u32 = 12;

fn sandbox() -> Sandbox {
    Sandbox::reading("1s", &[("map", "memory", "")])
}

/// Runs what must be refused, and returns the refusal.
fn refusal(more: &[&str]) -> String {
    let sandbox = sandbox();
    refused(&sandbox, &mut sandbox.run(more))
}

/// Checks that a command is a refusal: nothing was run and nothing is left behind.
fn refused(sandbox: &Sandbox, command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let told = sentence(&output);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(told.contains("nothing was run"), "{told}");
    assert!(!told.contains("panicked"), "{told}");
    assert!(sandbox.experiment().is_none(), "an experiment was begun: {told}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    told
}

/// Checks that a refusal holds each of these words.
#[track_caller]
fn assert_tells(more: &[&str], words: &[&str]) {
    let told = refusal(more);
    for word in words {
        assert!(told.contains(word), "`{word}` is not told: {told}");
    }
}

#[test]
fn a_rate_of_nothing_or_less_is_refused() {
    assert_tells(&["--rate", "0/s"], &["zero"]);
    assert_tells(&["--rate=-5k/s"], &["negative"]);
    assert_tells(&["--rate", "fast"], &["`fast`", "50k/s"]);
}

/// Goal: a rate that no client of this host can offer is refused with what it can.
#[test]
fn a_rate_above_the_client_s_ceiling_is_refused_with_the_ceiling() {
    let _turn = alone();
    assert_tells(&["--rate", "500M/s"], &["ceiling", "500,000,000/s"]);
}

#[test]
fn a_limit_without_a_unit_or_a_percentile_is_refused() {
    assert_tells(&["--sla", "p99 < 2"], &["no unit", "2ms"]);
    assert_tells(&["--sla", "2ms"], &["p99.9 < 2ms"]);
    assert_tells(&["--sla", "p100 < 2ms"], &["below p100"]);
}

#[test]
fn a_percentile_that_the_window_cannot_estimate_is_refused_with_what_it_needs() {
    let load = ["--rate", "1k/s", "--sla", "p99.9 < 2ms"];
    assert_tells(&load, &["p99.9", "100,000", "1,000", "100 s"]);
}

#[test]
fn words_that_do_not_go_together_are_refused() {
    assert_tells(&["--clients", "swep"], &["`swep`", "sweep"]);
    assert_tells(&["--clients", "adaptive", "--rate", "1k/s"], &["closed loop", "rate"]);
    assert_tells(&["--arrivals", "poisson"], &["rate"]);
    assert_tells(&["--rate", "1k/s", "--arrivals", "poison"], &["`poison`", "poisson"]);
}

/// Goal: a sweep that would fail at its last level is refused before its first.
/// Method: Assay is in a group that may have few threads.
#[test]
fn a_sweep_beyond_the_threads_that_may_be_made_is_refused() {
    let _turn = alone();
    let group = match Group::of_threads(FEW_THREADS) {
        Ok(group) => group,
        Err(lack) => return say(&format!("skipped: {lack}")),
    };
    let sandbox = sandbox();
    let child = group.start(&sandbox.run(&["--clients", "1,64"]));
    let output = child.wait_with_output().expect("own child");
    let told = sentence(&output);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(told.contains("threads") && told.contains("nothing was run"), "{told}");
    assert!(told.contains(&FEW_THREADS.to_string()) && told.contains("64"), "{told}");
    assert!(sandbox.experiment().is_none(), "{told}");
}
