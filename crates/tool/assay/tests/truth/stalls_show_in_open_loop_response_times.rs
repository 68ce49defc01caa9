//! A stall of the engine is in the response times of all who waited, and not in the service times.

use assert_cmd::assert::OutputAssertExt;
use model::Nanos;

use crate::host::take_turn;
use crate::measured::Run;
use crate::sandbox::Sandbox;

/// The engine stands still for a second, some time into the reads that follow 2,000 puts.
const STALL: &[(&str, &str, &str)] = &[("stalls", "faulty", "stall 1s at 17k")];

/// The least that the longest waiting can have been, with a margin for a clock's start.
const ALMOST_A_SECOND: u64 = 990_000_000;

/// Reads for four seconds.
fn read(more: &[&str]) -> Run {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("4s", STALL);
    sandbox.run(&["--clients", "2"]).args(more).assert().success();
    Run::of(&sandbox, "stalls.c2.r1")
}

/// Goal: a stall of 1 s at 10,000/s is told as what it was to whoever wanted an answer.
/// Method: a quarter of the arrivals of four seconds are due while it stands still.
#[test]
fn open_loop_stall_is_in_p999_and_max_response_time() {
    let run = read(&["--rate", "10k/s"]);
    let (reads, diagnosis) = (run.reads(), run.diagnosis());
    assert!(reads.response.max_ns >= ALMOST_A_SECOND, "{diagnosis}");
    assert!(reads.response.p999_ns > ALMOST_A_SECOND * 9 / 10, "{diagnosis}");
    assert!(reads.response.p90_ns > ALMOST_A_SECOND / 10, "{diagnosis}");
    // Two clients were in it; every other operation was served at once.
    assert!(reads.service.max_ns >= ALMOST_A_SECOND, "{diagnosis}");
    assert!(reads.service.p50_ns < 1_000_000, "{diagnosis}");
    assert!(reads.service.p999_ns < reads.response.p999_ns / 4, "{diagnosis}");
    // The client is not blamed for what the engine did.
    let is_blamed = !run.causes().is_empty() || run.is_client_bound();
    assert!(!is_blamed || run.is_disturbed(), "{diagnosis}");
}

/// Goal: the same stall is all but invisible in a closed loop, which does not ask meanwhile.
#[test]
fn closed_loop_misses_the_stall() {
    let run = read(&[]);
    let (reads, diagnosis) = (run.reads(), run.diagnosis());
    assert!(reads.response.max_ns >= ALMOST_A_SECOND, "{diagnosis}");
    assert!(reads.response.p999_ns < Nanos::from_millis(100).0, "{diagnosis}");
    assert_eq!(reads.response, reads.service, "{diagnosis}");
    assert!(run.step().arrivals.is_none() && run.step().load_status.is_none(), "{diagnosis}");
}
