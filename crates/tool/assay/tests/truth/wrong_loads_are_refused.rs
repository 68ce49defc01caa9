//! Loads that this host cannot offer are refused before machine time is spent.
//!
//! Those that no host can offer or judge are refused by their words alone: see `promises`.

use std::process::Output;

use crate::host::{Group, alone};
use crate::sandbox::{Sandbox, said, say, sentence};

/// Threads that a run of one client needs, and a sweep exceeds.
const FEW_THREADS: u32 = 12;

fn sandbox() -> Sandbox {
    Sandbox::reading("1s", &[("map", "memory", "")])
}

/// Checks that what was said is a refusal: nothing was run and nothing is left behind.
fn refusal(sandbox: &Sandbox, output: &Output) -> String {
    let told = sentence(output);
    assert_eq!(output.status.code(), Some(1), "{}", said(output));
    assert!(told.contains("nothing was run") && !told.contains("panicked"), "{told}");
    assert!(sandbox.experiment().is_none(), "an experiment was begun: {told}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    told
}

/// Goal: a rate that no client of this host can offer is refused with what it can.
#[test]
fn a_rate_above_the_client_s_ceiling_is_refused_with_the_ceiling() {
    let _turn = alone();
    let sandbox = sandbox();
    let output = sandbox.run(&["--rate", "500M/s"]).output().expect("it runs");
    let told = refusal(&sandbox, &output);
    assert!(told.contains("ceiling") && told.contains("500,000,000/s"), "{told}");
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
    let told = refusal(&sandbox, &child.wait_with_output().expect("own child"));
    assert!(told.contains("threads") && told.contains("64"), "{told}");
    assert!(told.contains(&FEW_THREADS.to_string()), "{told}");
}
