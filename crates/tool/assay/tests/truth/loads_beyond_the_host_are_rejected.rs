//! Loads beyond this host are rejected before the run.
//!
//! Loads that are invalid on any host are tested in `tests/promises`.

use std::process::Output;

use crate::group::Group;
use crate::host::take_turn;
use crate::sandbox::{Sandbox, joined_text, note, output_text};

/// Threads that a run of one client needs, and a sweep exceeds.
const FEW_THREADS: u32 = 12;

fn sandbox() -> Sandbox {
    Sandbox::reading("1s", &[("map", "memory", "")])
}

/// Checks that nothing was run or left behind; returns the message.
fn refusal(sandbox: &Sandbox, output: &Output) -> String {
    let message = joined_text(output);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(output));
    assert!(message.contains("nothing was run") && !message.contains("panicked"), "{message}");
    assert!(sandbox.experiment().is_none(), "an experiment was begun: {message}");
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
    message
}

/// Goal: a rate that no client of this host can offer is rejected with the ceiling.
#[test]
fn rate_above_the_client_ceiling_is_rejected() {
    let _turn = take_turn();
    let sandbox = sandbox();
    let output = sandbox.run(&["--rate", "500M/s"]).output().expect("it runs");
    let message = refusal(&sandbox, &output);
    assert!(message.contains("ceiling") && message.contains("500,000,000/s"), "{message}");
}

/// Goal: a sweep that would fail at its last level is rejected before its first.
/// Method: Assay runs in a cgroup with few threads.
#[test]
fn sweep_beyond_the_thread_limit_is_rejected() {
    let _turn = take_turn();
    let group = match Group::of_threads(FEW_THREADS) {
        Ok(group) => group,
        Err(reason) => return note(&format!("skipped: {reason}")),
    };
    let sandbox = sandbox();
    let child = group.start(&sandbox.run(&["--clients", "1,64"]));
    let message = refusal(&sandbox, &child.wait_with_output().expect("own child"));
    assert!(message.contains("threads") && message.contains("64"), "{message}");
    assert!(message.contains(&FEW_THREADS.to_string()), "{message}");
}
