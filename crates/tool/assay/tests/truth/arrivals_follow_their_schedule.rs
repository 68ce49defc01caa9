//! Arrivals depend on rate, time and seed only.

use model::Nanos;

use crate::host::take_turn;
use crate::measured::{Run, measures};
use crate::sandbox::Sandbox;

/// One engine that takes no time, and one with which two clients can do 1,000/s at most.
const VARIANTS: &[(&str, &str, &str)] =
    &[("fast", "memory", ""), ("slow", "faulty", "slow 2ms from 2001")];
const SECONDS: u32 = 1;
const RATE: u32 = 3_000;

/// Offers the rate to both, and returns their runs.
fn offer(arrivals: &str, seed: &str) -> Option<[Run; 2]> {
    let _turn = take_turn();
    let sandbox = Sandbox::reading(&format!("{SECONDS}s"), VARIANTS);
    let rate = format!("{RATE}/s");
    let mut run = sandbox.run(&["--clients", "2", "--rate", &rate, "--seed", seed]);
    // A warm-up would leave arrivals of its own to be served in the measured span.
    let is_measured = measures(run.args(["--arrivals", arrivals, "--warmup", "0s"]));
    is_measured.then(|| ["fast.c2.r1", "slow.c2.r1"].map(|cell| Run::of(&sandbox, cell)))
}

/// Checks that every arrival is accounted for; returns the number offered.
fn offered(runs: &[Run; 2]) -> f64 {
    let [fast, slow] = runs;
    assert_eq!(fast.arrivals().offered, slow.arrivals().offered, "the same seed and time");
    for run in runs {
        let (arrivals, counts) = (run.arrivals(), run.reads().counts);
        assert_eq!(counts.done + arrivals.censored, arrivals.offered, "{}", run.diagnosis());
        assert_eq!(counts.failed, 0);
    }
    // The slow one could serve a third. The rest is censored: its ages count as response times.
    let late = slow.arrivals();
    let half = Nanos::from_millis(500 * u64::from(SECONDS));
    assert!(late.censored > late.offered / 2, "{}", slow.diagnosis());
    assert!(late.backlog_ns > half, "{}", slow.diagnosis());
    assert_eq!(slow.reads().response.count, late.offered);
    assert!(slow.reads().response.p99_ns > half.0, "{}", slow.diagnosis());
    assert!(slow.reads().service.p50_ns < Nanos::from_millis(20).0, "{}", slow.diagnosis());
    assert!(!fast.is_overloaded(), "{}", fast.diagnosis());
    if !slow.is_disturbed() {
        assert!(slow.is_overloaded(), "{}", slow.diagnosis());
    }
    late.offered as f64
}

#[test]
fn constant_arrivals_match_rate_times_time_within_a_thousandth() {
    let expected = f64::from(RATE * SECONDS);
    let Some(runs) = offer("constant", "1") else { return };
    let found = offered(&runs);
    assert!((found - expected).abs() <= expected / 1e3, "{found} of {expected}");
}

#[test]
fn poisson_arrivals_match_rate_times_time_within_four_sigma() {
    let expected = f64::from(RATE * SECONDS);
    let Some(runs) = offer("poisson", "2") else { return };
    let found = offered(&runs);
    // Four standard deviations: one of 16,000 correct schedules is outside, and the seed is fixed.
    assert!((found - expected).abs() <= 4.0 * expected.sqrt(), "{found} of {expected}");
}
