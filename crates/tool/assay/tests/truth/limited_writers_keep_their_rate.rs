//! A rate-limited writer next to readers makes rate times time calls.

use model::OpKind;

use crate::disturbance::on_quiet_host;
use crate::host::take_turn;
use crate::measured::{Run, measure};
use crate::sandbox::Sandbox;

/// Calls per second at the limit: a row has 20 bytes of key and 400 of value.
const CALLS_PER_S: u64 = 100;
const ROW_BYTES: u64 = 420;

/// Goal: the writer does neither a burst at the start nor a call more at the end, whatever the
/// readers do, and what it did is in no figure of theirs.
/// Method: one second; the rate it reached is compared with its calls and the recorded time.
#[test]
fn limited_writer_calls_rate_times_time() {
    let _turn = take_turn();
    let benchmark = "steps = [\"filluniquerandom\", \"readwhilewriting\"]\nrows = \"2k\"\n\
                     key_bytes = 20\nvalue_bytes = 400\nduration = \"1s\"\nwarmup = \"0s\"";
    on_quiet_host(|host| {
        let sandbox = Sandbox::of(benchmark, &[("map", "memory", "")]);
        let limit = format!("{}B/s", CALLS_PER_S * ROW_BYTES);
        measure(&mut sandbox.run(&["--writer-rate", &limit, "--clients", "2"]));
        let run = Run::on(host, &sandbox, "map.c2.r1");
        let step = &run.record.steps[1];
        let done = step.writers[&OpKind::Put].counts.done;
        let reached = step.writer_bytes_per_s.expect("the rate it reached");
        let recorded = (done * ROW_BYTES) as f64 / step.duration_ns.as_secs_f64();
        assert!((reached / recorded - 1.0).abs() < 1e-6, "{reached}, and {recorded} bytes/s");
        assert_eq!(step.clients.keys().collect::<Vec<_>>(), [&OpKind::Get]);
        // One call may be in service when the step ends.
        assert!(done.abs_diff(CALLS_PER_S) <= 1, "{done} of {CALLS_PER_S} calls");
        let target = (CALLS_PER_S * ROW_BYTES) as f64;
        assert!((reached / target - 1.0).abs() < 0.02, "{reached} of {target} bytes/s");
    });
}
