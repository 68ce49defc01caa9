//! Methodology as code: what closed and open loop see of a stall, and that a rate is met.

use model::record::OpSummary;
use model::{Load, Nanos, Op, OpKind, Outcome, StopRule};

use super::{StepTotals, run_step};
use crate::clock::{ManualClock, SteadyClock};
use crate::testing::{Scripted, constant, step};

/// Runs 10 s on a simulated engine with 50 us of service time, and one operation of `stall`.
fn simulate(load: Load, stall: Nanos) -> StepTotals {
    let clock = ManualClock::new(Nanos(1));
    let engine = Scripted::new(|number, _: &Op<'_>| {
        clock.advance(if number == 20_000 { stall } else { Nanos(50_000) });
        Ok(Outcome::Done)
    });
    let mut step = step(&engine, 1, StopRule::Duration(Nanos::from_secs(10)));
    step.clients.load = load;
    step.interval = Nanos::from_secs(60);
    run_step(&clock, &mut step, &mut |_| {}).expect("a step that makes sense")
}

fn summary(totals: &StepTotals) -> OpSummary {
    totals.clients[&OpKind::Get].summary()
}

/// Returns whether a time is what was scripted, within the histogram's resolution.
fn is(found_ns: u64, scripted_ns: u64) -> bool {
    found_ns.abs_diff(scripted_ns) * 1000 <= scripted_ns
}

#[test]
fn open_loop_sees_a_stall() {
    // Goal: a stall of 1 s at 10 k/s is in the response times of all who were due meanwhile.
    // Method: the 10,000 late operations, and those due while the backlog of them is worked off
    // (half as fast again as they come), are a fifth of all 100,000.
    let open = summary(&simulate(constant(10_000.0), Nanos::SECOND));
    assert_eq!(open.counts.done, 100_000);
    assert!(is(open.response.max_ns, 1_000_000_000), "{open:?}");
    assert!(open.response.p90_ns > 300_000_000, "{open:?}");
    assert!(is(open.response.p50_ns, 50_000), "{open:?}");
    // The engine was slow once.
    assert!(is(open.service.p50_ns, 50_000) && is(open.service.p9999_ns, 50_000), "{open:?}");
    assert!(is(open.service.max_ns, 1_000_000_000), "{open:?}");
}

#[test]
fn closed_loop_misses_all_but_one_operation_of_a_stall() {
    let closed = summary(&simulate(Load::Closed, Nanos::SECOND));
    assert_eq!(closed.counts.done, 180_001);
    assert_eq!(closed.response, closed.service);
    assert!(is(closed.response.p9999_ns, 50_000), "{closed:?}");
    assert!(is(closed.service.max_ns, 1_000_000_000), "{closed:?}");
}

#[test]
fn an_offered_rate_is_met_or_the_response_time_says_so() {
    for ops_per_s in [1.0, 333.3, 12_345.6] {
        let met = summary(&simulate(constant(ops_per_s), Nanos(50_000)));
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let rate = met.counts.done as f64 / 10.0;
        assert!((rate - ops_per_s).abs() <= 0.1, "{rate} of {ops_per_s}");
        assert!(is(met.response.max_ns, 50_000), "{met:?}");
    }
    // 30 k/s are asked of an engine that can do 20 k/s: it does what it can, ever later.
    let not_met = summary(&simulate(constant(30_000.0), Nanos(50_000)));
    assert_eq!(not_met.counts.done, 200_000);
    assert!(is(not_met.service.max_ns, 50_000), "{not_met:?}");
    assert!(not_met.response.max_ns > 3_000_000_000, "{not_met:?}");
}

#[test]
fn on_the_real_clock_a_rate_is_met_or_the_response_time_says_so() {
    // Goal: no operation due is forgotten, however busy the host is.
    // Method: what was not done by the end had been due since its intended time; the last
    // operation done was due just before that, so its response time is at least the shortfall.
    let (clock, ops_per_s) = (SteadyClock::calibrate(), 20_000.0);
    let engine = Scripted::new(|_, _: &Op<'_>| Ok(Outcome::Done));
    let mut step = step(&engine, 2, StopRule::Duration(Nanos::from_millis(500)));
    step.clients.load = constant(ops_per_s);
    let totals = run_step(&clock, &mut step, &mut |_| {}).unwrap();
    let found = summary(&totals);
    #[expect(clippy::cast_precision_loss, reason = "a small count and span")]
    let (missing, response_max) =
        (10_000.0 - found.counts.done as f64, found.response.max_ns as f64 / 1e9);
    assert!(missing > -10.0, "{found:?}");
    // Two clients: each may lack its half, and the worse off of them shows it.
    assert!(missing / ops_per_s <= response_max * 1.001 + 10.0 / ops_per_s, "{found:?}");
    println!("{missing} of 10,000 operations were not done in time");
}
