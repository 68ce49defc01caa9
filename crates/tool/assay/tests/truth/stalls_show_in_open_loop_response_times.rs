//! A stall is charged to the response time of every late arrival.

use model::Nanos;

use crate::host::take_turn;
use crate::measured::{Run, measures};
use crate::sandbox::Sandbox;

/// The engine stalls for a second during the reads that follow 2,000 puts.
const STALL: &[(&str, &str, &str)] = &[("stalls", "faulty", "stall 1s at 17k")];

/// Shortest maximum response time, with a margin for the clock.
const ALMOST_A_SECOND: u64 = 990_000_000;

fn read(duration: &str, more: &[&str]) -> Option<Run> {
    let _turn = take_turn();
    let sandbox = Sandbox::reading(duration, STALL);
    let is_measured = measures(sandbox.run(&["--clients", "2"]).args(more));
    is_measured.then(|| Run::of(&sandbox, "stalls.c2.r1"))
}

/// Goal: a stall of 1 s at 10,000/s is in the response time of every delayed arrival.
/// Method: a third of the arrivals of three seconds is due during the stall. A host's pause may
/// fall into one run or two, but a stall that is charged to the client would be so in all three.
#[test]
fn open_loop_stall_is_in_p999_and_max_response_time() {
    let is_blamed = |run: &Run| !run.causes().is_empty() || run.is_client_bound();
    let measured = || read("3s", &["--rate", "10k/s"]);
    let again = |run: Option<Run>| match run {
        Some(run) if is_blamed(&run) => measured(),
        run => run,
    };
    let Some(run) = again(again(measured())) else { return };
    let (reads, diagnosis) = (run.reads(), run.diagnosis());
    assert!(reads.response.max_ns >= ALMOST_A_SECOND, "{diagnosis}");
    assert!(reads.response.p999_ns > ALMOST_A_SECOND * 9 / 10, "{diagnosis}");
    assert!(reads.response.p90_ns > ALMOST_A_SECOND / 10, "{diagnosis}");
    // Two operations were in the stall; every other one was served at once.
    assert!(reads.service.max_ns >= ALMOST_A_SECOND, "{diagnosis}");
    assert!(reads.service.p50_ns < 1_000_000, "{diagnosis}");
    assert!(reads.service.p999_ns < reads.response.p999_ns / 4, "{diagnosis}");
    // The stall is not charged to the client.
    assert!(!is_blamed(&run) || run.is_disturbed(), "{diagnosis}");
}

/// Goal: the same stall is nearly invisible in a closed loop, which sends nothing meanwhile.
#[test]
fn closed_loop_misses_the_stall() {
    let Some(run) = read("2s", &[]) else { return };
    let (reads, diagnosis) = (run.reads(), run.diagnosis());
    assert!(reads.response.max_ns >= ALMOST_A_SECOND, "{diagnosis}");
    assert!(reads.response.p999_ns < Nanos::from_millis(100).0, "{diagnosis}");
    assert_eq!(reads.response, reads.service, "{diagnosis}");
    assert!(run.step().arrivals.is_none() && run.step().load_status.is_none(), "{diagnosis}");
}
