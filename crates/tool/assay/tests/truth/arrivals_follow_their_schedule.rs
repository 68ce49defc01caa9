//! Arrivals depend on rate, time and seed only.
//!
//! Both kinds of schedule are tested in `load`, on a simulated clock; constant arrivals have their
//! number in `sweeps_and_searches_are_reported` too.

use model::Nanos;

use crate::disturbance::on_quiet_host;
use crate::host::take_turn;
use crate::measured::{Run, measure};
use crate::sandbox::Sandbox;

/// One engine that takes no time, and one with which two clients can do 1,000/s at most.
const VARIANTS: &[(&str, &str, &str)] =
    &[("fast", "memory", ""), ("slow", "faulty", "slow 2ms from 2001")];
const MILLIS: u64 = 500;
const OPS_PER_S: u64 = 3_000;

/// Checks that every arrival is accounted for; returns the number offered.
fn offered(fast: &Run, slow: &Run) -> f64 {
    assert_eq!(fast.arrivals().offered, slow.arrivals().offered, "the same seed and time");
    for run in [fast, slow] {
        let (arrivals, counts) = (run.arrivals(), run.reads().counts);
        assert_eq!(counts.done + arrivals.censored, arrivals.offered, "{}", run.diagnosis());
        assert_eq!(counts.failed, 0);
    }
    // The slow one could serve a third. The rest is censored: its ages count as response times.
    let late = slow.arrivals();
    let half = Nanos::from_millis(MILLIS / 2);
    assert!(late.censored > late.offered / 2, "{}", slow.diagnosis());
    assert!(late.backlog_ns > half, "{}", slow.diagnosis());
    assert_eq!(slow.reads().response.count, late.offered);
    assert!(slow.reads().response.p99_ns > half.0, "{}", slow.diagnosis());
    assert!(slow.reads().service.p50_ns < Nanos::from_millis(20).0, "{}", slow.diagnosis());
    assert!(!fast.is_overloaded(), "{}", fast.diagnosis());
    assert!(slow.is_overloaded(), "{}", slow.diagnosis());
    late.offered as f64
}

/// Goal: a fast and a slow engine are offered the same arrivals, and each is served or censored.
/// Method: half a second of one schedule for both.
#[test]
fn poisson_arrivals_match_rate_times_time_within_four_sigma() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let sandbox = Sandbox::reading(&format!("{MILLIS}ms"), VARIANTS);
        let rate = format!("{OPS_PER_S}/s");
        let mut run = sandbox.run(&["--clients", "2", "--rate", &rate, "--seed", "2"]);
        // A warm-up would leave arrivals of its own to be served in the measured span.
        measure(run.args(["--arrivals", "poisson", "--warmup", "0s"]));
        let [fast, slow] = ["fast.c2.r1", "slow.c2.r1"].map(|cell| Run::on(host, &sandbox, cell));
        let (found, expected) = (offered(&fast, &slow), (OPS_PER_S * MILLIS) as f64 / 1e3);
        // Four standard deviations: one of 16,000 correct schedules is outside, and the seed is
        // fixed.
        assert!((found - expected).abs() <= 4.0 * expected.sqrt(), "{found} of {expected}");
    });
}
