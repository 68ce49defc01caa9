//! A rate-limited writer next to readers makes rate times time calls.

use model::OpKind;

use crate::host::take_turn;
use crate::measured::{Run, measures};
use crate::sandbox::{Sandbox, note};

/// Calls per second at the limit: a row has 20 bytes of key and 400 of value.
const CALLS_PER_S: u64 = 100;
const ROW_BYTES: u64 = 420;
const SECONDS: u64 = 2;

/// Goal: the writer does neither a burst at the start nor a call more at the end, whatever the
/// readers do, and what it did is in no figure of theirs.
#[test]
fn limited_writer_calls_rate_times_time() {
    let _turn = take_turn();
    let benchmark = format!(
        "steps = [\"filluniquerandom\", \"readwhilewriting\"]\nrows = \"2k\"\nkey_bytes = 20\n\
         value_bytes = 400\nduration = \"{SECONDS}s\"\nwarmup = \"0s\""
    );
    let sandbox = Sandbox::of(&benchmark, &[("map", "memory", "")]);
    let limit = format!("{}B/s", CALLS_PER_S * ROW_BYTES);
    if !measures(&mut sandbox.run(&["--writer-rate", &limit, "--clients", "2"])) {
        return;
    }
    let run = Run::of(&sandbox, "map.c2.r1");
    let step = &run.record.steps[1];
    let (done, expected) = (step.writers[&OpKind::Put].counts.done, CALLS_PER_S * SECONDS);
    // One call may be in service when the step ends.
    let is_exact = done.abs_diff(expected) <= 1;
    let reached = step.writer_bytes_per_s.expect("the rate it reached");
    let target = (CALLS_PER_S * ROW_BYTES) as f64;
    // A busy host ends the step late too.
    if let Some(reason) = run.disturbance().filter(|_| !is_exact) {
        return note(&format!("skipped in part: {reason}: {done} of {expected} calls"));
    }
    assert!(is_exact, "{done} of {expected} calls");
    assert!((reached / target - 1.0).abs() < 0.01, "{reached} of {target} bytes/s");
    assert_eq!(step.clients.keys().collect::<Vec<_>>(), [&OpKind::Get]);
}
